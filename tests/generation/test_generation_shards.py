"""Shards: each process asks its part, nothing is asked twice, and the merged report is that of one process."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.generation.journal import Journal, journal_in_use
from goldgate.generation.shards import DocumentShard, missing_shards, other_journals, parse_shard_folder, shard_of
from tests.cases import cases
from tests.generation.conftest import Data
from tests.generation.raw import Raw, completion, http
from tests.generation.server import Behaviour, Running
from tests.generation.test_generation_commands import ENVIRONMENT, _wait_for, command, in_process, run, stored

Serve = Callable[[Behaviour], Running]
DOCUMENTS = 40
RESULT = ("report.json", "predictions.jsonl", "samples.jsonl", "report.md", "junit.xml")


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path, DOCUMENTS)


def ask_shards(data: Data, url: str, of: int, *more: str, leave_out: int | None = None) -> None:
    for number in range(1, of + 1):
        if number != leave_out:
            done = run(data, url, "--shard", f"{number}/{of}", *more)
            assert done.returncode == 0, done.stderr


def merge(data: Data, *more: str, program: str = "evaluate_api.py") -> subprocess.CompletedProcess[str]:
    line = command(data, "URL", *more, "--merge", program=program)
    at = line.index("URL")
    line[at - 1 : at + 1] = []  # nobody is asked
    return in_process(line)


def result(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in RESULT}


def size_of(number: int, of: int) -> int:
    return sum(shard_of(f"d{place}", of) == number for place in range(DOCUMENTS))


def answers(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for path in folder.rglob("journal.jsonl") for line in path.read_bytes().splitlines()]
    return [line for line in lines if line["kind"] == "answer"]


# --- which shard


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=30), st.integers(1, 300))
def test_each_document_is_in_one_shard_and_twice_as_many_halve_it(name: str, of: int) -> None:
    number = shard_of(name, of)
    assert 1 <= number <= of
    assert [DocumentShard(place, of).holds(name) for place in range(1, of + 1)].count(True) == 1
    assert (shard_of(name, 2 * of) + 1) // 2 == number


def test_shards_are_about_equal_and_never_move() -> None:
    """The numbers were counted once: another rule would ask again what other shards have answered."""
    sizes = Counter(shard_of(f"d{number}", 8) for number in range(8_000))
    assert min(sizes.values()) > 850
    assert max(sizes.values()) < 1_150
    assert [shard_of(f"d{number}", 16) for number in range(8)] == [9, 16, 12, 3, 16, 10, 3, 16]


@cases(
    ("shard", "folder"),
    [(DocumentShard(3, 16), "03-of-16"), (DocumentShard(1, 1), "01-of-01"), (DocumentShard(7, 1_000), "0007-of-1000")],
)
def test_folders_have_the_names_of_their_shards(shard: DocumentShard, folder: str) -> None:
    assert shard.folder == folder
    assert parse_shard_folder(folder) == shard
    assert parse_shard_folder("elsewhere") is None


def test_only_journals_that_may_have_the_same_documents_are_read(tmp_path: Path) -> None:
    for folder in ("shards/01-of-02", "shards/02-of-02", "shards/01-of-04", "shards/old", "."):
        Journal(tmp_path / folder / "journal.jsonl").close()
    read = [path.parent.relative_to(tmp_path).as_posix() for path in other_journals(tmp_path, DocumentShard(1, 2))]
    assert read == ["shards/01-of-04", "shards/old", "."]
    assert len(other_journals(tmp_path, None)) == 4
    one = [tmp_path / "shards" / "02-of-03" / "journal.jsonl"]
    assert list(missing_shards(one)) == [DocumentShard(1, 3), DocumentShard(3, 3)]


# --- asking and merging


@pytest.mark.parametrize("more", [(), ("--seeds", "3407,3408")])
def test_the_merged_report_is_that_of_one_process(data: Data, serve: Serve, more: tuple[str, ...]) -> None:
    server = serve(data.behaviour())
    protocol = data.folder / "protocol.yaml"
    protocol.write_text("gates: {strict_f1: {min: 0.5}}\ngeneration: {prices: {m: {input: 1, output: 2}}}\n")
    options = ("--protocol", str(protocol), *more)
    seeds = 2 if more else 1
    ask_shards(data, server.url, 3, *options)
    assert server.seen.requests == DOCUMENTS * seeds
    assert sorted(path.name for path in data.out.iterdir()) == ["shards"]  # no report of a part
    merged = merge(data, *options)
    assert merged.returncode == 0, merged.stderr
    assert server.seen.requests == DOCUMENTS * seeds
    assert not (data.out / "journal.jsonl").exists()
    folders = ["seed-3407", "seed-3408"] if more else ["."]
    found = [result(data.out / folder) for folder in folders]
    data.out = data.folder / "one"
    assert run(data, server.url, *options).returncode == 0
    assert found == [result(data.out / folder) for folder in folders]


def test_a_merge_says_where_its_answers_are_from_and_can_be_repeated(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 2)
    assert merge(data).returncode == 0
    first = result(data.out)
    assert stored(data, "generation.json")["journals"] == {
        "shards/01-of-02/journal.jsonl": size_of(1, 2),
        "shards/02-of-02/journal.jsonl": size_of(2, 2),
        "journal.jsonl": 0,
    }
    assert stored(data, "shards/01-of-02/generation.json")["shard"] == "1/2"
    assert merge(data).returncode == 0
    assert result(data.out) == first
    generated = merge(data, program="generate")
    assert generated.returncode == 0
    assert (data.out / "predictions.jsonl").read_bytes() == first["predictions.jsonl"]


def test_missing_shards_are_counted_and_never_scored_as_complete(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 4, leave_out=3)
    missing = size_of(3, 4)
    done = merge(data)
    assert done.returncode == 2
    assert f"shard 3/4 has no journal here: {missing} answers are missing" in done.stderr
    assert f"{missing} of {DOCUMENTS} answers are missing" in done.stderr
    assert "run the same command without --merge" in " ".join(done.stderr.split())
    report = stored(data, "report.json")
    assert (report["status"], report["error"]["code"]) == ("SYSTEM_ERROR", "generation.missing_answers")
    allowed = merge(data, "--allow-missing")
    assert allowed.returncode == 0
    assert stored(data, "report.json")["generation"]["missing"] == {"not_asked": missing}
    partial = result(data.out)
    # one process that has the same answers says the same
    journals = sorted(data.out.glob("shards/*/journal.jsonl"))
    data.out = data.folder / "one"
    data.out.mkdir()
    (data.out / "journal.jsonl").write_bytes(b"".join(path.read_bytes() for path in journals))
    server.behaviour.status = 401
    one = run(data, server.url, "--allow-missing", "--max-total-tokens", "1")
    assert one.returncode == 0, one.stderr
    assert result(data.out) == partial


def test_a_shard_that_lacks_answers_is_named(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_text="Town 7 "))
    for number in (1, 2):
        run(data, server.url, "--shard", f"{number}/2", "--response-format", "text")
    done = merge(data, "--response-format", "text")
    assert done.returncode == 2
    assert f"shard {shard_of('d7', 2)}/2 is not complete: 1 answers are missing" in done.stderr
    assert "http_400 1" in " ".join(done.stderr.split())


def test_the_same_command_without_shards_asks_for_what_is_missing(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 4, leave_out=3)
    done = run(data, server.url)
    assert done.returncode == 0, done.stderr
    assert server.seen.requests == DOCUMENTS
    whole = result(data.out)
    assert merge(data).returncode == 0
    assert result(data.out) == whole


def test_shards_go_on_from_what_one_process_has_begun(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    begun = run(data, server.url, "--max-total-tokens", "4000", "--concurrency", "1")
    assert begun.returncode == 2
    assert 0 < server.seen.requests < DOCUMENTS
    ask_shards(data, server.url, 3)
    assert server.seen.requests == DOCUMENTS
    assert merge(data).returncode == 0


def test_another_number_of_shards_asks_nothing_again(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 4, leave_out=2)
    asked = server.seen.requests
    ask_shards(data, server.url, 3)
    assert server.seen.requests == DOCUMENTS > asked
    assert len({line["key"] for line in answers(data.out)}) == len(answers(data.out)) == DOCUMENTS
    done = merge(data)
    assert done.returncode == 0, done.stderr
    whole = result(data.out)
    data.out = data.folder / "one"
    assert run(data, server.url).returncode == 0
    assert whole == result(data.out)


def test_shards_may_have_endpoints_of_their_own(data: Data, serve: Serve) -> None:
    servers = [serve(data.behaviour()) for _ in range(4)]
    for number, server in enumerate(servers[:3], 1):
        assert run(data, server.url, "--shard", f"{number}/3").returncode == 0
    assert run(data, servers[3].url, "--shard", "1/3").returncode == 0  # the machine has another address now
    assert [server.seen.requests for server in servers] == [size_of(number, 3) for number in (1, 2, 3)] + [0]
    assert merge(data).returncode == 0
    assert set(stored(data, "generation.json")["seeds"][0]["endpoints"]) == {server.url for server in servers[:3]}


def test_more_shards_than_documents_leave_some_empty(tmp_path: Path, serve: Serve) -> None:
    data = Data(tmp_path, 2)
    server = serve(data.behaviour())
    ask_shards(data, server.url, 5)
    assert server.seen.requests == 2
    assert merge(data).returncode == 0


@pytest.mark.usefixtures("impatient")
def test_what_to_do_is_said_for_a_shard_too(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(key="another"))
    done = run(data, server.url, "--shard", "1/2")
    assert done.returncode == 2
    assert "check the key in the environment variable OPENAI_API_KEY" in " ".join(done.stderr.split())
    with Running(Behaviour()) as gone:
        url = gone.url
    done = run(data, url, "--shard", "1/2")
    assert f"is a server running at {url}?" in " ".join(done.stderr.split())


# --- what is refused


@pytest.mark.parametrize(
    ("other", "differs"),
    [(("--prompt", "zh"), "prompt"), (("--temperature", "1"), "parameters"), (("--model", "n"), "model")],
)
def test_shards_that_were_asked_something_else_are_refused(
    data: Data, serve: Serve, other: tuple[str, ...], differs: str
) -> None:
    server = serve(data.behaviour())
    assert run(data, server.url, "--shard", "1/2").returncode == 0
    assert run(data, server.url, "--shard", "2/2", *other).returncode == 0
    done = merge(data)
    assert done.returncode == 2
    assert "shards.other_run" in done.stderr
    assert f"other settings: {differs}" in " ".join(done.stderr.split())
    assert "02-of-02" in "".join(done.stderr.split())  # a long path is broken into lines
    assert stored(data, "report.json")["status"] == "SYSTEM_ERROR"
    assert not (data.out / "predictions.jsonl").exists()
    assert run(data, server.url, "--shard", "2/2").returncode == 0  # asked with the right ones, both lie there
    assert merge(data).returncode == 0


def test_shards_that_overlap_are_refused(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 2)
    shutil.copytree(data.out / "shards" / "01-of-02", data.out / "shards" / "copy")
    done = merge(data)
    assert done.returncode == 2
    text = " ".join(done.stderr.split())
    assert "shards.overlap" in text
    assert f"{size_of(1, 2)} questions have an answer in two journals" in text
    shutil.rmtree(data.out / "shards" / "copy")
    assert merge(data).returncode == 0


def test_other_documents_are_not_taken_for_these(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 2)
    text = data.gold.read_text()
    data.gold.write_text(text.replace("went on strike", "is on strike"))
    done = merge(data)
    assert done.returncode == 2
    assert f"{DOCUMENTS} of {DOCUMENTS} answers are missing" in done.stderr
    assert "answers to other questions" in done.stderr


def test_a_damaged_journal_of_a_shard_is_named(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 2)
    journal = data.out / "shards" / "01-of-02" / "journal.jsonl"
    with open(journal, "r+b") as file:
        file.seek(3)
        file.write(b"\0\0")
    done = merge(data)
    assert done.returncode == 2
    assert "01-of-02" in "".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_torn_last_line_of_a_shard_is_left_out_and_not_touched(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    ask_shards(data, server.url, 2)
    journal = data.out / "shards" / "01-of-02" / "journal.jsonl"
    torn = journal.read_bytes()[:-20]
    journal.write_bytes(torn)
    done = merge(data)
    assert f"1 of {DOCUMENTS} answers are missing" in done.stderr
    assert "shard 1/2 is not complete: 1 answers are missing" in done.stderr
    assert journal.read_bytes() == torn


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--shard", "0/4"], "expected I/N"),
        (["--shard", "5/4"], "expected I/N"),
        (["--shard", "1"], "expected I/N"),
        (["--shard", "1/99999"], "expected I/N"),
        (["--shard", "１/2"], "expected I/N"),
        (["--shard", "1/2", "--merge"], "leave out --shard"),
        (["--shard", "1/2", "--stop-when-decided"], "cannot be used with --shard"),
        (["--merge", "--stop-when-decided"], "cannot be used with --merge"),
        (["--merge", "--dry-run"], "asks nothing"),
        (["--merge"], "nothing to merge"),
    ],
)
def test_what_does_not_go_together_is_said(data: Data, more: list[str], told: str) -> None:
    done = run(data, "http://127.0.0.1:9/v1", *more)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


# --- caps, and two at once


def test_the_shards_keep_to_the_cap_together(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    protocol = data.folder / "protocol.yaml"
    protocol.write_text("generation: {prices: {m: {input: 1, output: 2}}}\n")
    cap = "0.006"
    options = ("--protocol", str(protocol), "--max-cost", cap, "--max-tokens", "100")
    for number in (1, 2, 3):
        done = run(data, server.url, "--shard", f"{number}/3", *options)
        assert done.returncode == 2
        assert f"(the part of shard {number}/3)" in done.stderr
    assert 0 < server.seen.requests < DOCUMENTS
    merge(data, *options, "--allow-missing")
    spent = Decimal(stored(data, "generation.json")["cost"])
    assert 0 < spent <= Decimal(cap)
    before = server.seen.requests
    run(data, server.url, *options, "--allow-missing")  # the rest of the cap, for all
    assert server.seen.requests >= before
    assert spent <= Decimal(stored(data, "generation.json")["cost"]) <= Decimal(cap)


def test_a_dry_run_counts_the_documents_of_the_shard(data: Data) -> None:
    done = run(data, "http://127.0.0.1:9/v1", "--shard", "2/3", "--dry-run")
    assert re.search(rf"requests +{size_of(2, 3)} \(0 of {size_of(2, 3)} are", done.stdout)
    assert not data.out.exists()


def test_other_journals_are_looked_for_when_everybody_sees_this_one(tmp_path: Path) -> None:
    """Of two processes with documents in common that begin at once, none may see nobody and ask."""
    own = tmp_path / "own" / "journal.jsonl"
    other = tmp_path / "other" / "journal.jsonl"

    def beside() -> list[Path]:
        assert journal_in_use(own)
        other.parent.mkdir()
        plan = {"kind": "plan", "plan": "p", "base": "b", "format": "text", "settings": {}}
        other.write_text(json.dumps(plan) + "\n")
        return [other]

    with Journal(own, beside) as journal:
        assert "p" in journal.contents.plans


def test_one_shard_is_asked_by_one_process_and_others_go_on(data: Data) -> None:
    gate = threading.Event()

    def reply(*_: object) -> bytes:
        gate.wait(60)
        return http(completion())

    with Raw(reply) as server:
        line = command(data, server.url, "--shard", "1/2", "--quiet")
        first = subprocess.Popen(line, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        _wait_for(lambda: len(server.heads) > 0)
        again = run(data, server.url, "--shard", "1/2")
        assert again.returncode == 2
        assert "journal.locked" in again.stderr
        assert f"process {first.pid}" in again.stderr
        for more in (("--shard", "1/3"), ()):  # they have documents in common with it
            refused = run(data, server.url, *more)
            assert refused.returncode == 2
            assert "shards.in_use" in refused.stderr
        interim = merge(data, "--allow-missing")
        assert interim.returncode == 0
        assert "01-of-02 is still being asked" in interim.stderr
        gate.set()
        assert run(data, server.url, "--shard", "2/2").returncode == 0
        assert first.wait(60) == 0
    assert merge(data).returncode == 0


def test_a_shard_that_is_killed_goes_on_where_it_was(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(latency=0.2))
    line = command(data, server.url, "--shard", "1/2", "--quiet", "--concurrency", "4")
    process = subprocess.Popen(line, env=ENVIRONMENT)
    _wait_for(lambda: server.seen.requests > 4)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = len(answers(data.out))
    assert 0 < before < size_of(1, 2)
    server.behaviour.latency = 0.0
    ask_shards(data, server.url, 2)
    assert len({entry["key"] for entry in answers(data.out)}) == len(answers(data.out)) == DOCUMENTS
    assert server.seen.answered.total() <= DOCUMENTS + 4  # what was in flight
    assert merge(data).returncode == 0
