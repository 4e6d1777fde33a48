"""The commands as a person or a script uses them: exit statuses, files, kills, Ctrl-C."""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import goldgate as goldgate_package
from goldgate.cli.generate import evaluate_api_command
from goldgate.cli.main import goldgate
from tests.generation.conftest import Data, MakeData, Serve
from tests.generation.server import Behaviour, Running

ROOT = Path(__file__).parents[2]
KEY = "sk-test-abcdefghij0123456789"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OPENAI_API_KEY": KEY}


def command(data: Data, url: str, *more: str, program: str = "evaluate_api.py") -> list[str]:
    start = (
        [sys.executable, "-m", "goldgate", "generate"]
        if program == "generate"
        else [sys.executable, str(ROOT / program)]
    )
    given = ["--gold", str(data.gold), "--schema", str(data.schema), "--out", str(data.out)]
    return [*start, *given, "--model", "m", "--base-url", url, *more]


def run(
    data: Data, url: str, *more: str, program: str = "evaluate_api.py", environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """What a command does, in this process: starting another one takes longer than what most tests ask of it."""
    return in_process(command(data, url, *more, program=program), environment)


def in_process(line: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    program, words = (goldgate, line[3:]) if line[1] == "-m" else (evaluate_api_command, line[2:])
    with warnings.catch_warnings():  # as in a process of its own, where they are not errors
        warnings.simplefilter("default")
        done = CliRunner().invoke(program, words, env={"OPENAI_API_KEY": KEY, **(environment or {})})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(line, done.exit_code, done.stdout, done.stderr)


def stored(data: Data, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((data.out / name).read_bytes())
    return content


def test_generate_and_score_give_what_evaluate_api_gives(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    asked = run(data, server.url, program="generate")
    assert (asked.returncode, server.seen.requests) == (0, 12), asked.stderr
    score = ["extraction", "--gold", str(data.gold), "--schema", str(data.schema), "--format", "json"]
    scored = in_process(
        [sys.executable, "-m", "goldgate", *score, "--predictions", str(data.out / "predictions.jsonl")]
    )
    whole = run(data, server.url)
    assert whole.returncode == 0
    assert server.seen.requests == 12
    one, other = json.loads(scored.stdout), stored(data, "report.json")
    generation = other.pop("generation")
    assert generation["coverage"] == {"value": 1.0, "numerator": 12, "denominator": 12}
    assert other.pop("signature").startswith(one.pop("signature") + "|model:m|prompt:en@")
    assert one == other
    assert "answered  1.0000  12/12" in whole.stdout


def test_a_wrong_key_ends_the_run_at_once_and_reaches_no_file_and_no_output(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(key="another"))
    done = run(data, server.url, "--concurrency", "4")
    assert (done.returncode, server.seen.requests <= 8) == (2, True)
    assert "http_401" in done.stderr
    assert "OPENAI_API_KEY" in done.stderr
    texts = [done.stdout, done.stderr, *(file.read_text() for file in data.out.iterdir())]
    assert all(KEY[at : at + 8] not in text for text in texts for at in range(len(KEY) - 7))
    assert any(KEY.encode() in head for head in server.seen.headers)


THE_KEY_ITSELF = "sk-proj-this-is-the-key-itself"


@pytest.mark.parametrize(
    "wrong",
    [
        ["--api-key-env", THE_KEY_ITSELF],
        ["--api-key-env", THE_KEY_ITSELF, "--gold", "missing.jsonl"],  # beside another mistake
        ["--base-url", f"http://user:{THE_KEY_ITSELF}@127.0.0.1:9/v1"],
        ["--base-url", f"http://127.0.0.1:9/v1?api-key={THE_KEY_ITSELF}"],
        ["--base-url", f"http://127.0.0.1:9/v1?x={KEY}"],
    ],
)
@pytest.mark.usefixtures("impatient")
def test_a_key_in_the_wrong_place_is_neither_stored_nor_shown(data: Data, wrong: list[str]) -> None:
    done = run(data, "http://127.0.0.1:9/v1", *wrong)
    assert done.returncode == 2
    stored_texts = [file.read_text() for file in data.folder.rglob("*") if file.is_file()]
    assert not any(key in text for text in [done.stdout, done.stderr, *stored_texts] for key in (wrong[1][-20:], KEY))


@pytest.mark.parametrize(("variable", "sent"), [(None, KEY), ("OTHER", "another-key"), ("none", None)])
def test_the_key_that_was_named_is_sent_and_no_other(
    data: Data, serve: Serve, variable: str | None, sent: str | None
) -> None:
    server = serve(data.behaviour())
    more = () if variable is None else ("--api-key-env", variable)
    assert run(data, server.url, *more, environment={"OTHER": "another-key"}).returncode == 0
    for head in server.seen.headers:
        assert [key for key in (KEY, "another-key") if key.encode() in head] == ([] if sent is None else [sent])


@pytest.mark.usefixtures("impatient")
def test_a_dead_endpoint_is_given_up_early_with_a_clear_message(make_data: MakeData) -> None:
    data = make_data(300)
    with Running(Behaviour()) as gone:
        url = gone.url
    began = time.monotonic()
    done = run(data, url, "--concurrency", "8")
    assert time.monotonic() - began < 15
    assert done.returncode == 2
    assert "unreachable" in done.stderr
    assert "is a server running at" in done.stderr
    assert "Traceback" not in done.stderr
    assert stored(data, "report.json")["error"]["code"] == "generation.stopped"
    assert len(data.journal("failure")) < 30


def test_an_older_report_does_not_survive_a_run_that_fails(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    assert run(data, server.url, "--seeds", "1,2").returncode == 0
    server.behaviour.status = 401
    assert run(data, server.url, "--seeds", "1,2", "--prompt", "zh").returncode == 2
    assert {stored(data, f"seed-{seed}/report.json")["status"] for seed in (1, 2)} == {"SYSTEM_ERROR"}
    assert not (data.out / "seeds.json").exists()
    with open(data.gold, "a") as gold:
        gold.write("{\n")
    assert run(data, server.url, "--seeds", "1,2").returncode == 2
    assert stored(data, "seed-1/report.json")["error"]["code"] == "gold.not_json"


def test_seeds_have_a_report_each_and_a_summary(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    done = run(data, server.url, "--seeds", "3407,3408,3409")
    assert done.returncode == 0, done.stderr
    reports = [stored(data, f"seed-{seed}/report.json") for seed in (3407, 3408, 3409)]
    assert [report["signature"].rpartition("|")[2] for report in reports] == ["seed:3407", "seed:3408", "seed:3409"]
    values = [report["metrics"]["main"]["strict_f1"]["value"] for report in reports]
    summary = stored(data, "seeds.json")["metrics"]["strict_f1"]
    mean = sum(values) / 3
    assert summary["mean"] == pytest.approx(mean)
    assert summary["standard_deviation"] == pytest.approx((sum((v - mean) ** 2 for v in values) / 2) ** 0.5)
    assert "std. dev." in done.stdout
    assert summary["interval"]["low"] <= summary["mean"] <= summary["interval"]["high"]
    ends = f"[{summary['interval']['low']:.3f}, {summary['interval']['high']:.3f}]"
    assert re.search(
        rf"strict_f1 +{mean:.4f} .*\n {{14}}{re.escape(ends)}\n", done.stdout
    )  # below the mean, and no other
    assert summary["se_units"] is not None
    assert "se of seeds" in done.stdout
    found = goldgate_package.compare(data.out, f"one={data.out / 'seed-3407'}").report  # runs of one system
    assert [len(system["runs"]) for system in found["systems"]] == [3, 1]
    assert "seed:" not in found["signature"]
    asked = [run["asked"].rpartition("|")[2] for run in found["systems"][0]["runs"]]
    assert asked == ["seed:3407", "seed:3408", "seed:3409"]


def test_a_dry_run_asks_and_writes_nothing_and_gates_decide_the_exit_status(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    protocol = data.folder / "protocol.yaml"
    protocol.write_text("generation: {prices: {m: {input: 1, output: 1}}}\ngates: {strict_f1: {min: 1}}\n")
    done = run(data, server.url, "--dry-run", "--protocol", str(protocol))
    assert done.returncode == 0
    assert "Union 0 went on strike" in done.stdout
    assert re.search(r"requests +12 ", done.stdout)
    assert "USD" in done.stdout
    assert server.seen.requests == 0
    assert not data.out.exists()
    assert run(data, server.url, "--protocol", str(protocol)).returncode == 1


@pytest.mark.parametrize(
    ("module", "extra", "program"),
    [("aiohttp", "api", "generate_command"), ("aiohttp", "api", "evaluate_api_command"),
     ("torch", "local", "generate_command")],
)  # fmt: skip
def test_a_missing_extra_says_what_to_install_and_leaves_nothing(
    data: Data, module: str, extra: str, program: str
) -> None:
    checkpoint = data.folder / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "config.json").write_text("{}")
    asked = ["--model", "m", "--base-url", "http://127.0.0.1:9/v1"] if extra == "api" else ["--checkpoint", checkpoint]
    code = f"import sys; sys.modules[{module!r}] = None; from goldgate.cli.generate import {program} as it\n"
    code += f"from goldgate.cli.process import start; sys.exit(start(it, '{program}'))"
    line = [sys.executable, "-c", code, "--gold", data.gold, "--schema", data.schema, "--out", data.out, *asked]
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    assert done.returncode == 2
    assert f"in goldgate's folder: pip install -e '.[{extra}]'" in done.stderr
    assert not data.out.exists()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--seeds", "1,x"], "whole numbers"),
        (["--seeds", "1,1"], "duplicate seed"),
        (["--param", "model=x"], "no field of goldgate's own"),
        (["--max-cost", "much"], "amount"),
        (["--prompt", "nowhere.md"], "no such prompt"),
        (["--few-shot", "2"], "--train"),
        (["--api-key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        (["--prompt", "en-thought", "--response-format", "json_object"], "asks for a thought"),
    ],
)
def test_mistakes_in_options_are_exit_status_2(data: Data, more: list[str], told: str) -> None:
    done = run(data, "http://127.0.0.1:9/v1", *more)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_killed_at_random_moments_nothing_is_lost_or_asked_twice(make_data: MakeData, serve: Serve) -> None:
    data = make_data(150)
    server = serve(data.behaviour(latency=0.05, busy=0.02, reset=0.01))
    rng = random.Random(7)
    concurrency, kills = 4, 3
    journal = data.out / "journal.jsonl"
    for _ in range(kills):
        wanted = server.seen.requests + 1
        process = subprocess.Popen(command(data, server.url, "--concurrency", "4", "--quiet"), env=ENVIRONMENT)
        _wait_for(lambda: server.seen.requests >= wanted)  # noqa: B023  # waits at once
        time.sleep(rng.uniform(0.0, 0.35))
        process.send_signal(signal.SIGKILL)
        process.wait()
    lines = journal.read_bytes().splitlines(keepends=True)
    stored_answers = sum(line.startswith(b'{"kind":"answer"') and line.endswith(b"\n") for line in lines)
    assert 0 < stored_answers < 150
    server.behaviour.latency = 0.0
    done = run(data, server.url)
    assert done.returncode == 0, done.stderr
    assert f"{stored_answers} of 150 answers are in the journal" in done.stderr
    keys = [line["key"] for line in data.journal("answer")]
    assert len(keys) == len(set(keys)) == 150
    assert server.seen.answered.total() - 150 <= kills * concurrency  # only what was in flight was asked again
    killed = (data.out / "report.json").read_bytes()
    data.out.rename(data.folder / "killed")
    server.behaviour.busy = server.behaviour.reset = server.behaviour.latency = 0.0
    assert run(data, server.url).returncode == 0
    assert (data.out / "report.json").read_bytes() == killed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_finishes_what_is_in_flight_and_prints_how_to_go_on(
    make_data: MakeData, serve: Serve, number: signal.Signals
) -> None:
    data = make_data(40)
    server = serve(data.behaviour(latency=0.2))
    process = subprocess.Popen(
        command(data, server.url, "--concurrency", "4"), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # under nohup, hang-ups are ignored
    )  # fmt: skip
    _wait_for(lambda: server.seen.requests >= 6)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert len(data.journal("answer")) == server.seen.requests
    resume = re.search(r"To continue:\n  python (.*)\n", said)
    assert resume is not None, said
    server.behaviour.latency = 0.0
    again = in_process([sys.executable, *shlex.split(resume[1])])
    assert again.returncode == 0
    assert server.seen.requests == 40


def test_a_hang_up_that_is_ignored_stays_so(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(latency=0.3))
    process = subprocess.Popen(
        ["nohup", *command(data, server.url, "--concurrency", "4", "--quiet")], env=ENVIRONMENT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _wait_for(lambda: server.seen.requests >= 4)
    process.send_signal(signal.SIGHUP)
    assert process.wait(30) == 0


def test_a_run_goes_on_when_nobody_reads_what_it_says(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    process = subprocess.Popen(
        command(data, server.url), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()
    assert process.wait(60) == 0
    assert stored(data, "report.json")["generation"]["coverage"]["numerator"] == 12


def test_a_second_ctrl_c_stops_at_once(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(latency=30.0))
    known = command(data, server.url, "--response-format", "json_schema")  # all are asked at once
    process = subprocess.Popen(known, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    _wait_for(lambda: server.seen.requests == 12)
    process.send_signal(signal.SIGINT)
    _until(process, "stopping: waiting for 12 requests")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)  # the requests take 30 seconds
    assert process.returncode == 130


def _until(process: subprocess.Popen[str], words: str) -> str:
    """What a process says on stderr, up to a line with these words."""
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if words in line:
            return said
    raise AssertionError(said)


def _wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def test_a_model_is_not_asked_where_the_answers_would_overwrite_what_a_gate_compares_with(
    data: Data, serve: Serve
) -> None:
    server = serve(data.behaviour())
    assert run(data, server.url).returncode == 0
    before, asked = (data.out / "report.json").read_bytes(), server.seen.requests
    protocol = data.out.parent / "not-worse.yaml"
    protocol.write_text(f"gates: {{strict_f1: {{max_drop: 0.02, against: {data.out.name}}}}}")
    again = run(data, server.url, "--protocol", str(protocol), "--temperature", "0.5")
    assert (again.returncode, "against.overwritten" in again.stderr + again.stdout) == (2, True)
    assert ((data.out / "report.json").read_bytes(), server.seen.requests) == (before, asked)


def test_gold_in_a_dialect_that_is_named_is_asked_about_and_scored(data: Data, serve: Serve) -> None:
    records = [json.loads(line) for line in data.gold.read_text().splitlines()]
    records = [{**record, "title": "News"} for record in records]
    records[0]["events"] = None  # nothing shows that this is DuEE-Fin's form of a document without events
    data.gold.write_text("".join(json.dumps(record) + "\n" for record in records))
    server = serve(data.behaviour())
    assert run(data, server.url, "--allow-missing").returncode == 2  # as our own form, it is malformed
    done = run(data, server.url, "--dialect", "duee-fin", "--allow-missing")
    assert (done.returncode, server.seen.requests) == (0, 12), done.stderr
    assert stored(data, "report.json")["inputs"]["gold"][0]["form"] == "duee-fin"
    assert stored(data, "run.json")["inputs"]["dialect"] == ["duee-fin"]
    verified = in_process([sys.executable, "-m", "goldgate", "verify", str(data.out)])
    assert verified.returncode == 0, verified.stdout + verified.stderr
