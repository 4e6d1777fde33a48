"""The folder of a run: whose it is, what in it is touched, and what never gets into it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError
from goldgate.files.address import redact_arguments
from goldgate.generation import results
from goldgate.generation.journal import Journal, journal_in_use
from goldgate.generation.secret import Secret
from goldgate.generation.transport import find_proxy
from tests.cases import cases
from tests.generation.conftest import Data, MakeData, Serve
from tests.generation.raw import Raw, completion, http
from tests.generation.test_generation_commands import ENVIRONMENT, _until, _wait_for, command, run, stored


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_journal_is_locked_until_the_report_is_written(
    data: Data, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(data.behaviour())
    original, tried = results.score_answers, []

    def score(*given: Any) -> Any:
        with pytest.raises(ConfigError) as caught:
            Journal(data.out / "journal.jsonl")
        tried.append((caught.value.code, caught.value.found))
        return original(*given)

    monkeypatch.setattr(results, "score_answers", score)
    assert run(data, server.url).returncode == 0
    assert tried == [("journal.locked", f"process {os.getpid()}")]
    assert not journal_in_use(data.out / "journal.jsonl")


def test_a_mistake_of_a_second_process_leaves_the_first_one_alone(data: Data) -> None:
    gate = threading.Event()

    def reply(*_: object) -> bytes:
        gate.wait(60)
        return http(completion())

    with Raw(reply) as server:
        first = subprocess.Popen(command(data, server.url, "--quiet"), env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        _wait_for(lambda: len(server.heads) > 0)
        second = run(data, server.url, "--prompt", "nowhere.md")
        third = run(data, server.url)
        assert (second.returncode, third.returncode) == (2, 2)
        assert "another process is writing this journal" in third.stderr
        assert not (data.out / "report.json").exists()
        gate.set()
        assert first.wait(60) == 0
    assert stored(data, "report.json")["status"] == "NO_GATES"


def test_a_finished_report_stays_as_long_as_the_predictions_that_it_judged(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    assert run(data, server.url).returncode == 0
    report = (data.out / "report.json").read_bytes()
    server.behaviour.latency = 30.0
    changed = command(data, server.url, "--prompt", "zh", "--response-format", "json_schema")  # all are asked at once
    again = subprocess.Popen(changed, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: server.seen.requests == 24)
    assert (data.out / "report.json").read_bytes() == report
    again.send_signal(signal.SIGTERM)
    heard = _until(again, "stopping: waiting for 12 requests")
    again.send_signal(signal.SIGTERM)
    said = heard + again.communicate(timeout=20)[1]
    assert (again.returncode, "everything answered is in the journal" in said) == (128 + signal.SIGTERM, True)
    assert (data.out / "predictions.jsonl").read_bytes() == b""  # the answers to the other prompt are not there yet
    assert not (data.out / "report.json").exists()
    server.behaviour.latency = 0.0
    assert run(data, server.url).returncode == 0  # all from the journal
    assert (data.out / "report.json").read_bytes() == report


@pytest.mark.parametrize("content", [b"my notes", b'{"id": "a", "response": "b"}\n', b'{"kind":"answer","key":5}\n'])
def test_a_foreign_journal_is_left_alone_and_nothing_is_asked(data: Data, serve: Serve, content: bytes) -> None:
    server = serve(data.behaviour())
    data.out.mkdir()
    (data.out / "journal.jsonl").write_bytes(content)
    done = run(data, server.url)
    assert done.returncode == 2
    assert "not a line of a journal" in " ".join(done.stderr.split())
    assert "choose another folder" in " ".join(done.stderr.split())
    assert files(data.out) == {"journal.jsonl": content}
    assert server.seen.requests == 0


def test_predictions_of_somebody_else_are_not_overwritten(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.out.mkdir()
    (data.out / "predictions.jsonl").write_bytes(b'{"id": "d0", "response": "mine"}\n')
    with pytest.raises(ConfigError, match="overwritten"):
        data.generate(server.url)
    assert server.seen.requests == 0
    assert (data.out / "predictions.jsonl").read_bytes() == b'{"id": "d0", "response": "mine"}\n'


def test_nothing_is_written_through_a_link(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.generate(server.url)
    mine = data.folder / "mine.txt"
    mine.write_text("mine")
    for name in ("predictions.jsonl", "generation.json"):
        (data.out / name).unlink()
        (data.out / name).symlink_to(mine)
        (data.out / (name + ".unfinished")).symlink_to(mine)
    outcome, _ = data.generate(server.url)
    assert outcome.summaries[0].complete
    assert mine.read_text() == "mine"
    assert sorted(file.name for file in data.out.iterdir()) == ["generation.json", "journal.jsonl", "predictions.jsonl"]


QUERY = "code=hushABCDEFGHIJ0123&x=a%2Fb-another-hush"


@pytest.mark.parametrize("status", [None, 404, 418])
def test_the_query_of_an_address_reaches_no_file_and_no_output(data: Data, status: int | None) -> None:
    """The endpoint quotes the address in errors and in answers."""

    def reply(number: int, head: bytes, body: bytes) -> bytes:
        assert b"?code=hush" in head
        told = f"no such thing: /v1/chat/completions?{QUERY}, that is hushABCDEFGHIJ0123 and a/b-another-hush"
        if status is None:
            return http(completion(told))
        return http(json.dumps({"error": {"message": told}}).encode(), status=f"{status} No")

    with Raw(reply) as server:
        done = run(data, f"{server.url}?{QUERY}", "--allow-missing")
        asked = len(server.heads)
    assert asked > 0
    texts = [done.stdout, done.stderr, *(content.decode() for content in files(data.folder).values())]
    assert (data.out / "run.json").exists()
    assert not [text for text in texts if "hush" in text]


def test_the_command_to_go_on_has_no_query_in_it() -> None:
    given = ["x.py", "--base-url", "http://u:p@h:1/v1?code=S#f", "--base-url=h/v1?code=S", "--param", "a=http://b?c=S"]
    shown = ["x.py", "--base-url", "http://[hidden]@h:1/v1?[hidden]", "--base-url=h/v1?[hidden]"]
    assert redact_arguments(given) == [*shown, "--param", "a=http://b?[hidden]"]
    signed = ["--gold", "https:/host/a?sig=abc", "--gold=https://host/a?sig=a'b", "--gold", "https://me:pa/ss@host/a"]
    signed_shown = ["--gold", "https:/host/a?[hidden]", "--gold=https://host/a?[hidden]", "--gold", "https://[hidden]"]
    assert redact_arguments(signed) == signed_shown
    plain = ["--gold", "a.jsonl", "--base-url", "http://127.0.0.1:8000/v1", "--param", "temperature=null"]
    assert redact_arguments(plain) == plain


def test_a_query_that_is_no_secret_does_not_change_answers() -> None:
    secret = Secret(None).with_address("https://h/v1?api-version=2024-02-01&x=yes")
    assert secret.hide_whole("On 2024-02-01 they said yes.") == "On 2024-02-01 they said yes."
    assert secret.hide("api-version=2024-02-01 is not supported") == "[hidden] is not supported"


@cases("named", ["http://127.0.0.1:99999", "http://127.0.0.1:x", "http://[::1", "http://h:0", "ftp://h", "http://"])
def test_a_proxy_that_cannot_be_is_named(monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    monkeypatch.setenv("http_proxy", named)
    with pytest.raises(ConfigError) as caught:
        find_proxy("http://api.example/v1")
    assert caught.value.code == "proxy.unusable"
    assert "HTTP_PROXY" in str(caught.value)


NO_OPTIONS = [
    f"--seeds {10**20 - 1}", "--seeds " + "9" * 5000, f"--max-tokens {10**20 - 1}", "--max-total-tokens " + "9" * 30,
    "--temperature nan", "--temperature inf", "--timeout inf", "--rpm nan", "--tpm inf", "--attempts " + "9" * 30,
    "--max-cost 1e999999999", "--param x=[", f"--param top_k={10**23}", "--param stop=\udcff", "--model \udcff",
]  # fmt: skip


@cases("more", NO_OPTIONS)
def test_no_option_is_an_internal_error(data: Data, more: str) -> None:
    done = run(data, "http://127.0.0.1:9/v1", *more.split(), "--dry-run")
    assert done.returncode in (0, 2)
    for words in ("internal.error", "fault of goldgate", "Traceback"):
        assert words not in done.stderr


def test_a_file_that_may_not_grow_is_named_and_what_was_stored_stays(make_data: MakeData, serve: Serve) -> None:
    data = make_data(60)
    server = serve(data.behaviour())
    limit = 20_000
    done = subprocess.run(
        command(data, server.url, "--concurrency", "4", program="generate"),
        capture_output=True, text=True, env=ENVIRONMENT, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "internal.error" not in done.stderr
    answered = len(data.journal("answer"))
    assert answered > 10
    paid = server.seen.answered.total()
    assert paid - answered <= 4
    again = run(data, server.url, "--concurrency", "4", program="generate")
    assert again.returncode == 0, again.stderr
    assert server.seen.answered.total() == 60 + paid - answered
