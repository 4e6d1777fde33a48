"""The reader reads every response of the corpus as a careful person would."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldgate.response import Parsed
from goldgate.suites.extraction.events import event_list, read_events
from goldgate.suites.extraction.events.answer_form import parse_response
from tests.responses.corpus import FOLDER, Case, CorpusError, ReadEvent, load_corpus, load_manner

LEAST = 170  # cases; the corpus may only grow


def test_every_response_is_read_as_expected() -> None:
    results = [(case, _found(parse_response(case.response), case)) for case in load_corpus()]
    wrong = [case.name for case, result in results if result != _wanted(case)]
    for case, result in results:
        assert result == _wanted(case), f"{case.name} (all that are wrong: {wrong}): {case.why}\n{case.response}"


def _wanted(case: Case) -> dict[str, Any]:
    """What the case says, field by field; what it does not say is not compared."""
    expect = case.expect
    said: dict[str, Any] = {"events": expect.events, "repairs": expect.repairs}
    for field in ("status", "method", "thought", "left_out"):
        if getattr(expect, field) is not None:
            said[field] = getattr(expect, field)
    if expect.has_value:
        said["value"] = expect.value
    return said


def _found(parsed: Parsed, case: Case) -> dict[str, Any]:
    """The same fields of what was read."""
    found: dict[str, Any] = {
        "events": events_read(parsed),
        "repairs": frozenset(map(str, parsed.repairs)) & case.expect.repairs,
        "status": parsed.status,
        "method": parsed.method,
        "thought": parsed.thought_state,
        "value": parsed.value,
        "left_out": tuple(str(item.reason) for item in getattr(parsed, "left_out", ())),
    }
    return {field: found[field] for field in _wanted(case)}


def events_read(parsed: Parsed) -> tuple[ReadEvent, ...] | None:
    """The events that are scored; None where nothing in the value reads as an event and it is not empty either."""
    listed = event_list(parsed.value)
    if listed is None:
        return None
    columns = read_events(listed, parsed.source).columns
    if listed.items and not columns:
        return None
    return tuple((each[0], tuple(zip(each[1], each[2], strict=True))) for each in columns)


def test_corpus_is_large_and_its_names_are_unique() -> None:
    names = Counter(case.name for case in load_corpus())
    assert len(names) >= LEAST
    assert [name for name, count in names.items() if count > 1] == []
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_no_response_stands_twice() -> None:
    responses = Counter(case.response for case in load_corpus())
    assert [response for response, count in responses.items() if count > 1] == []


def test_no_expected_string_is_invented() -> None:
    """The oracle obeys its own law: what is expected stands in the response, its escapes aside."""
    for case in load_corpus():
        strings = [text for event, pairs in case.expect.events or () for pair in [(event,), *pairs] for text in pair]
        plain = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), case.response)
        plain = plain.replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")
        assert [text for text in strings if text not in plain and text not in case.response] == [], case.name


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("manner: m\ncases: [{name: a, why: w, response: r}]", "cases[0] (a): expect is missing"),
        ("manner: m\ncases: [{name: a, why: w, response: 1, expect: {events: null}}]", "response: expected text"),
        (
            "manner: m\ncases: [{name: a, why: w, response: r, expect: {events: [{T: [[r, 1]]}]}}]",
            "expected text, found 1",
        ),
        ("manner: m\ncases: [{name: a, why: w, response: r, expect: {events: null, status: fine}}]", "expected one of"),
        ("manner: m\ncases: [{name: a, why: w, response: r, expect: {events: [], value: 1}}]", "only for what is no"),
        ("manner: m\ncases: []\nnotes: x", "notes is no field"),
    ],
)
def test_slip_in_a_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "slip.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=re.escape(message)):
        load_manner(path)


def test_every_manner_is_documented() -> None:
    manners = [load_manner(path) for path in sorted(FOLDER.glob("*.yaml"))]
    assert [manner.name for manner in manners if len(manner.text) < 60 or not manner.cases] == []
