"""Small files that unpack to much: every command names the record, its size and the limit, and memory stays bounded."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.readers.id_index import index_files
from goldgate.readers.layouts import tables
from goldgate.readers.layouts.layout import FieldPaths
from goldgate.readers.records import LIMIT_VARIABLE, iterate_records, open_records
from goldgate.suites.research.imports import import_runs

UNPACKED = 32  # megabytes of a packed file
ROWS = 200  # with a text of 900,000 characters each
# Megabytes of memory, before and after pyarrow is imported; without a limit it was 130 and more, and 250 and more.
MOST_MEMORY = 80
MOST_MEMORY_WITH_PYARROW = 160
GOLD = b'{"id": "1", "text": "Apple buys.", "events": []}'
ANSWER = b'{"id": "1", "response": "[]"}'
RUN = b'{"id": "r1", "run_type": "chain", "inputs": {"question": "Why?"}, "outputs": {"claims": []}}'

# Runs commands in one process; prints for each its exit status, its output, and the largest memory so far.
CHILD = """
import json, re, sys
from click.testing import CliRunner
from goldgate.cli.main import goldgate as commands
for arguments in json.load(sys.stdin):
    done = CliRunner().invoke(commands, arguments)
    peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) // 1024
    print(json.dumps([done.exit_code, done.output + repr(done.exception), peak]))
"""


def bomb(path: Path, before: bytes, repeated: bytes, after: bytes) -> str:
    """A packed file with a million times `repeated` for each megabyte: members of gzip follow each other."""
    member = gzip.compress(repeated * 1_000_000, 1)
    path.write_bytes(gzip.compress(before) + member * UNPACKED + gzip.compress(after))
    return str(path)


def table(path: Path, encoding: str) -> str:
    """Rows with one long text, which a page repeats; as lists, one row with many."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    text = "a" * 900_000
    columns: dict[str, list[Any]] = {"id": [str(row) for row in range(ROWS)], "response": [text] * ROWS}
    if encoding == "lists":
        columns = {"id": ["1"], "events": [[{"event_type": text}] * ROWS]}
    settings: dict[str, dict[str, Any]] = {
        "dictionary": {},
        "lists": {},
        "plain": {"use_dictionary": False},
        "delta": {"use_dictionary": False, "column_encoding": {"response": "DELTA_BYTE_ARRAY"}},
    }
    write_table(pyarrow.table(columns), path, compression="zstd", **settings[encoding])
    return str(path)


def commands(folder: Path, everything: bool) -> Iterator[list[str]]:
    """Each command on a file of some kilobytes; without everything, two kinds of files and no Parquet."""
    gold, schema = folder / "gold.jsonl", folder / "schema.json"
    gold.write_bytes(GOLD)
    schema.write_text('{"event_types": {"Buy": {"roles": ["buyer"]}}}')
    predictions = [
        bomb(folder / "blank.jsonl.gz", ANSWER + b"\n", b" ", b"\n"),
        bomb(folder / "text.jsonl.gz", b'{"id": "1", "response": "', b"a", b'"}'),
        bomb(folder / "array.json.gz", b'[\n{"id": "1", "response": "', b"a", b'"}\n]'),
        bomb(folder / "blank-array.json.gz", b"[", b" ", ANSWER + b"]"),
        bomb(folder / "row.csv.gz", b"id,response\n1,", b"a", b"\n"),
        bomb(folder / "log.json.gz", b'{"version": 2, "status": "success", "eval": {}, "samples": ["', b"a", b'"]}'),
    ]
    judge = ["extraction", "--gold", str(gold), "--schema", str(schema), "--predictions"]
    yield from ([*judge, path] for path in (predictions if everything else predictions[1:3]))
    yield ["read", predictions[1]]
    large = bomb(folder / "gold.jsonl.gz", GOLD + b"\n", b" ", b"\n")
    yield ["extraction", "--gold", large, "--predictions", str(gold), "--schema", str(schema)]
    yield ["check", large]
    yield ["convert", large, "--out", str(folder / "converted.jsonl")]
    yield ["schema", "--from", large, "--out", str(folder / "derived.json")]
    yield [
        "generate",
        "--gold",
        large,
        "--schema",
        str(schema),
        "--model",
        "m",
        "--base-url",
        "http://127.0.0.1:1",
        "--dry-run",
    ]
    if not everything:
        return
    for name, before in (("lines", b""), ("object", b'{"runs":\n"'), ("printed", b'{\n"x": "')):
        path = bomb(folder / f"{name}.json.gz", before, b"a", b'"\n}')
        yield ["import-runs", path, "--out", str(folder / "runs")]
    for encoding in ("plain", "lists", "dictionary", "delta"):
        yield [*judge, table(folder / f"{encoding}.parquet", encoding)]


@pytest.mark.parametrize("everything", [False, pytest.param(True, marks=pytest.mark.slow)])  # more kinds of files
def test_every_command_names_the_limit_and_keeps_memory_bounded(tmp_path: Path, everything: bool) -> None:
    tried = list(commands(tmp_path, everything))
    done = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(tried),
        env={**os.environ, LIMIT_VARIABLE: "1", "COLUMNS": "1000"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for arguments, line in zip(tried, done.stdout.splitlines(), strict=True):
        status, output, peak = json.loads(line)
        assert status == (1 if arguments[0] == "check" else 2), (arguments, output)
        code = LIMIT_VARIABLE
        if arguments[-1].endswith(("dictionary.parquet", "delta.parquet")):  # each row is under the limit
            code = "predictions.unknown_id"
        assert code in output, (arguments, output)
        assert peak < (MOST_MEMORY_WITH_PYARROW if "parquet" in arguments[-1] else MOST_MEMORY), (arguments, peak)


def test_tables_are_the_same_however_they_are_encoded(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    rows = [
        {
            "id": str(number),
            "response": None if number % 7 == 0 else "x" * number,
            "events": None if number % 5 == 0 else [{"event_type": f"T{number % 3}", "roles": ["é"] * (number % 4)}],
        }
        for number in range(500)
    ]
    for settings in (
        {},
        {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
        {"use_dictionary": False, "column_encoding": "PLAIN", "row_group_size": 50},
        {"data_page_version": "2.0", "dictionary_pagesize_limit": 200, "data_page_size": 300},
        {"compression": "gzip", "version": "1.0", "write_page_index": True},
    ):
        write_table(pyarrow.Table.from_pylist(rows), tmp_path / "rows.parquet", **settings)
        file = open_records(tmp_path / "rows.parquet", "predictions")
        answers = [answer.content for _, answer in tables.parquet_answers(file, FieldPaths()) if answer is not None]
        assert answers == [{"response": row["response"], "events": row["events"]} for row in rows], settings
        file.close()


def test_the_error_says_the_file_the_line_the_size_and_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    long = GOLD.replace(b"Apple", b"A" * 1_000_000)
    for name, data, line, found in (
        ("lines", GOLD + b"\n\n" + long + b"\n" + GOLD, 3, f"a line of {len(long):,} bytes"),
        ("last", GOLD + b"\n" + long, 2, f"a line of {len(long):,} bytes"),
        ("array", b"[" + GOLD + b",\n" + long + b"]", 1, f"an element of at least {len(long) + 1:,} bytes"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        for read in (lambda: list(iterate_records(open_records(path, "gold"))), lambda: index_files([path], "gold")):  # noqa: B023
            with pytest.raises(InputError) as caught:
                read()
            error = caught.value
            assert (error.code, error.place.file, error.place.line) == ("gold.too_large", str(path), line), name
            assert (error.found, error.expected) == (found, "at most 1,000,000 bytes"), name
            assert LIMIT_VARIABLE in str(error.advice), name
    monkeypatch.setenv(LIMIT_VARIABLE, "2")
    assert len(index_files([tmp_path / "last"], "gold")) == 2


def test_a_record_of_many_tiny_values_is_refused_and_a_text_of_brackets_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "2")
    brackets = b"[]," * 600_000
    answers = {
        True: b'{"id": "1", "response": "\\"' + brackets + b'"}',
        False: b'{"id": "1", "events": [' + brackets + b"[]]}",
    }
    for is_text, record in answers.items():
        for name, data in {"lines": ANSWER + b"\n" + record, "array": b"[" + ANSWER + b",\n" + record + b"]"}.items():
            path = tmp_path / name
            path.write_bytes(data)
            for read in (
                lambda path=path: list(iterate_records(open_records(path, "gold"))),
                lambda path=path: index_files([path], "gold"),
            ):
                if is_text:
                    assert len(read()) == 2, name
                    continue
                with pytest.raises(InputError) as caught:
                    read()
                assert caught.value.expected == "at most 125,000 values", name
                assert caught.value.found == "a record of 1,200,002 values" or "1,200,00" in str(caught.value.found), (
                    name
                )


def test_a_limit_that_is_not_a_number_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("0", "-1", "64MB", "1e3", "٣", "9" * 20):
        monkeypatch.setenv(LIMIT_VARIABLE, text)
        with pytest.raises(ConfigError, match=LIMIT_VARIABLE):
            open_records(os.devnull, "gold")


def test_a_trace_that_is_too_large_to_build_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    large = RUN.replace(b"Why?", b"y" * 500_000).replace(b'"id"', b'"trace_id": "large", "id"')
    spans = [large.replace(b"r1", f"s{number}".encode()) for number in range(9)]
    (tmp_path / "traces.jsonl").write_bytes(b"\n".join([RUN, *spans]))
    result = import_runs([str(tmp_path / "traces.jsonl")], str(tmp_path / "runs"))
    assert (result.runs, result.flaws, result.passed) == (1, 1, False)
    assert [finding.file for finding in result.findings if finding.code == "unread"] == ["run_large"]
