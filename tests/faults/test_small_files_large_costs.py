"""Small files made to cost much: what they take grows with their size, not with its square."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from goldgate.errors import ConfigError
from goldgate.files.parsing import parse_json
from goldgate.readers.id_index import index_files
from goldgate.suites.research.golden import GoldenError, load_golden
from goldgate.suites.research.run import evidence as evidence_module
from goldgate.suites.research.run.evidence import EvidenceDemands, Sources, check_evidence
from tests.research.judged import broken, judged
from tests.research.trees import chunk, claim, evidence, output, write_golden, write_run

MANY = 500


@contextmanager
def calls_of(name: str) -> Iterator[Callable[[], int]]:
    """How often a built-in method of that name is called."""
    number = 0

    def note(_: FrameType, event: str, method: object) -> None:
        nonlocal number
        number += event == "c_call" and getattr(method, "__name__", "") == name

    sys.setprofile(note)
    try:
        yield lambda: number
    finally:
        sys.setprofile(None)


def repeated_keys() -> str:
    keys = [*range(MANY), *range(MANY)]
    return "{" + ", ".join(f'"k{key}": 1' for key in keys) + "}"


def test_repeated_keys_of_golden_queries_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text(repeated_keys())
    with calls_of("count") as counted, pytest.raises(GoldenError) as caught:
        load_golden(tmp_path / "golden.json")
    assert counted() < 10
    assert sum("twice" in problem.found for problem in caught.value.problems) == MANY


def test_a_repeated_key_of_a_settings_file_is_looked_for_once() -> None:
    unique = ", ".join(f'"k{key}": 1' for key in range(MANY))
    with calls_of("count") as counted, pytest.raises(ConfigError) as caught:
        parse_json(f'{{{unique}, "z": 1, "z": 2}}', "schema.json", "schema")
    assert counted() < 10
    assert caught.value.place.field == "z"


def test_conflicting_runs_name_a_few_of_the_others(tmp_path: Path) -> None:
    write_golden(tmp_path)
    for number in range(40):
        write_run(tmp_path / "outputs", f"run{number:02}", output(claims=[claim(f"k{number}")]))
    evaluation = judged(tmp_path)
    assert set(broken(evaluation).values()) == {"conflicting_run_id"}
    message = next(f["message"] for f in evaluation.report["findings"] if f["code"] == "conflicting_run_id")
    assert message == "the run_id r1 is also that of run01, run02, run03 and 36 more, with other content"


@pytest.mark.parametrize("text", ["x" * 4_000_000, '\\"' * 2_000_000])
def test_a_long_string_in_an_array_takes_no_more_than_some_copies_of_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gold.json"
    path.write_text('[{"id": "1", "text": "' + text + '", "events": []}]')
    tracemalloc.start()
    try:
        assert len(index_files([path], "gold")) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(text)


@pytest.mark.parametrize("field", ["source_id", "artifact_id", "chunk_id"])
def test_a_long_id_is_looked_at_once_however_many_records_name_it(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    looked_at = 0

    def counting(work: Callable[[object], object]) -> Callable[[object], object]:
        def counted(value: object) -> object:
            nonlocal looked_at
            looked_at += len(str(value))
            return work(value)

        return counted

    for name in ("is_meaningful_id", "sha256_of"):
        monkeypatch.setattr(evidence_module, name, counting(getattr(evidence_module, name)))
    long = "a" * 20_000
    other = chunk("c2", **{field: long})
    sources = Sources({other["chunk_id"]: other, "c1": chunk("c1")})  # type: ignore[dict-item]
    provenance = {"source_id": "b", "artifact_id": "b"}
    if field == "artifact_id":
        provenance["source_id"] = "annals"
    for number in range(MANY):
        record = evidence(f"e{number}", "c2", "Ships waited", provenance=provenance)
        if field == "chunk_id":  # the quote is in the chunk with the long name
            record = {**record, "chunk_id": "c1"}
        checked = check_evidence(record, sources, EvidenceDemands())
        assert checked.failure in ("misattributed", "span_shifted")
        assert len(checked.message) < 400
    assert looked_at < 5 * len(long) + MANY * 200
