"""Answers that are missing: no verdict, with bounds and the server's words, unless that is allowed."""

from __future__ import annotations

from tests.generation.conftest import Data, Serve
from tests.generation.test_generation_commands import run, stored


def test_missing_answers_are_exit_status_2_with_bounds_unless_allowed(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_text="Town 3 ", latency=0.01))
    done = run(data, server.url)
    assert done.returncode == 2
    assert "1 of 12 answers are missing" in done.stderr
    report = stored(data, "report.json")
    assert (report["status"], report["error"]["code"]) == ("SYSTEM_ERROR", "generation.missing_answers")
    assert "http_400 1 (this is against our policy" in report["error"]["found"]  # in the server's words
    assert "--base-url" not in report["error"]["advice"]  # others were answered there
    bounds = stored(data, "generation.json")["seeds"][0]["bounds"]
    wrong, right = (bounds[side]["strict_recall"] for side in ("all_wrong", "all_right"))
    # 24 arguments in the gold, 2 of them in the missing answer
    assert (right["denominator"], right["numerator"] - wrong["numerator"]) == (24, 2)
    allowed = run(data, server.url, "--allow-missing")
    assert allowed.returncode == 0
    assert stored(data, "report.json")["generation"]["bounds"] == bounds
    assert "all wrong" in allowed.stdout
    assert "all right" in (data.out / "report.md").read_text()


def test_an_address_that_is_no_endpoint_is_suspected(data: Data, serve: Serve) -> None:
    done = run(data, serve(data.behaviour(wrong_type=1.0)).url, "--attempts", "1")
    assert done.returncode == 2
    error = stored(data, "report.json")["error"]
    assert error["found"].startswith("not_json 12 (")
    assert error["advice"].startswith("is --base-url the part before /chat/completions?")


def test_nothing_answered_is_scored_too_if_that_is_allowed(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(slow_body=5.0))
    done = run(data, server.url, "--timeout", "0.2", "--attempts", "1", "--allow-missing")
    assert done.returncode == 0, done.stderr
    report = stored(data, "report.json")
    assert report["metrics"]["main"]["missing_predictions"]["value"] == 12
    assert report["generation"]["missing"] == {"timeout": 12}
    assert report["generation"]["bounds"]["all_right"]["strict_f1"]["value"] == 1.0
