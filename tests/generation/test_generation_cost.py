"""What it cost, what made it slow, what is missing: said at the end, and the same everywhere."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from goldgate.generation.limits import EndpointLimits
from goldgate.generation.run import dry_run
from tests.generation.conftest import Ask, Data, MakeData, Serve
from tests.generation.test_generation_commands import run, stored

PRICES = "generation: {currency: EUR, prices: {m: {input: 1.5, output: 3.25}}}\n"


def priced(data: Data) -> str:
    protocol = data.folder / "protocol.yaml"
    protocol.write_text(PRICES)
    return str(protocol)


def test_the_last_line_the_report_and_the_summary_agree_on_the_cost(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(broken=0.4))  # what breaks may have been charged too
    done = run(data, server.url, "--protocol", priced(data), "--attempts", "50")
    assert done.returncode == 0, done.stderr
    summary = stored(data, "generation.json")
    tokens = summary["seeds"][0]["tokens"]
    assert tokens["without_answer"]["requests"] > 0
    # 1.5 and 3.25 for a million tokens of input and output
    cost = (tokens["input"] * Decimal("1.5") + tokens["output"] * Decimal("3.25")) / 1_000_000
    assert Decimal(summary["cost"]) == Decimal(summary["seeds"][0]["cost"]) == cost
    assert done.stderr.splitlines()[-1].endswith(f" tokens (36 of them reasoning), {summary['cost']} EUR")
    assert f"cost: {summary['cost']} EUR" in (data.out / "report.md").read_text()
    assert stored(data, "report.json")["generation"]["cost"] == {"amount": summary["cost"], "currency": "EUR"}
    assert re.search(rf"^  cost +{summary['cost']} +EUR$", done.stdout, re.MULTILINE)
    asked = run(data, server.url, "--protocol", priced(data), program="generate")
    assert asked.stdout.splitlines()[-1].endswith(f"{summary['cost']} EUR")


def test_without_a_price_the_cost_is_unknown_and_not_nothing(data: Data, serve: Serve) -> None:
    done = run(data, serve(data.behaviour()).url)
    assert done.stderr.splitlines()[-1].endswith("cost unknown: no price")
    assert stored(data, "generation.json")["cost"] is None
    assert "Cost" not in (data.out / "report.md").read_text()


def test_of_several_seeds_the_summary_is_printed_and_not_every_report(data: Data, serve: Serve) -> None:
    server, with_price = serve(data.behaviour()), ("--protocol", priced(data), "--seeds", "1,2")
    done = run(data, server.url, *with_price)
    assert done.returncode == 0
    assert done.stdout.startswith("goldgate seeds: 1, 2\n")
    assert "Scores" not in done.stdout
    *_, head, first, second, cost = done.stderr.splitlines()
    assert head == "Reports by seed:"
    assert (first, second) == tuple(f"  seed {seed}  NO_GATES  {data.out / f'seed-{seed}'}" for seed in (1, 2))
    summary = stored(data, "generation.json")
    assert Decimal(summary["cost"]) == sum(Decimal(seed["cost"]) for seed in summary["seeds"])
    assert cost.startswith("24 of 24 answered, ")
    assert cost.endswith(f", {summary['cost']} EUR")
    for seed in summary["seeds"]:
        assert f"cost: {seed['cost']} EUR" in (data.out / f"seed-{seed['seed']}" / "report.md").read_text()
    as_json = run(data, server.url, *with_price, "--format", "json")
    assert json.loads(as_json.stdout) == stored(data, "seeds.json")
    assert run(data, server.url, *with_price, "--format", "markdown").stdout.startswith("# goldgate seeds\n")
    quiet = run(data, server.url, *with_price, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", 2 * "NO_GATES  no gates set; scores only\n")


def test_a_seed_with_missing_answers_is_named_with_its_folder(data: Data, serve: Serve) -> None:
    done = run(data, serve(data.behaviour(refuse_text="Town 3 ")).url, "--seeds", "1,2")
    assert done.returncode == 2
    assert not (data.out / "seeds.json").exists()
    assert f"  seed 2  SYSTEM_ERROR  {data.out / 'seed-2'}" in done.stderr.splitlines()


SLOWED = r"slowed down: for \d+\.\d of \d+\.\d s requests waited for "


def test_a_rate_limit_that_slows_asking_down_is_named(ask: Ask) -> None:
    # the second and the third request each wait for the next second
    assert re.fullmatch(f"{SLOWED}--rpm 60", ask(3, limits=EndpointLimits(requests_per_minute=60)).said[-1])


def test_a_cap_that_slows_asking_down_is_named(ask: Ask) -> None:
    asked = ask(4, latency=0.4, max_total_tokens=110_000, parameters={"max_tokens": 100_000})
    assert asked.summary.answered == 4
    assert asked.server.seen.most_at_once == 1  # each may use nearly all of it, until its answer tells how little
    assert re.fullmatch(f"{SLOWED}--max-total-tokens 110,000", asked.said[-1])


def test_nothing_is_said_about_limits_that_cost_no_time(ask: Ask) -> None:
    limits = EndpointLimits(requests_per_minute=1_000_000, tokens_per_minute=1_000_000_000)
    assert not any("slowed down" in line for line in ask(limits=limits, max_total_tokens=1_000_000_000).said)


def test_a_question_that_a_cap_keeps_from_its_next_attempt_keeps_its_cause(make_data: MakeData, serve: Serve) -> None:
    data = make_data(1)
    server = serve(data.behaviour(status=500))
    parameters = {"max_tokens": 100}
    prepared = data.prepare(server.url, parameters=parameters)
    most = dry_run(prepared).usage.total
    prepared.task.close()
    # the first attempt fits; it is charged for its input, and the second does not fit any more
    outcome, _ = data.generate(server.url, parameters=parameters, max_total_tokens=most + 10)
    assert (server.seen.requests, outcome.ending.reason) == (1, "budget")
    assert outcome.summaries[0].missing == {"http_500": 1}


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
