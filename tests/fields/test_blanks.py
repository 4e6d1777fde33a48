"""Blanks in leaves: removed, which a warning counts, or kept as the protocol says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import goldgate
from goldgate.core.value_text import Blanks
from tests.cases import cases

from .helpers import TEXT, counts, obj, score


@cases(
    ("compare", "gold", "answer", "hits"),
    [
        ("text", "now here", "nowhere", 0),
        ("text", "now here", "Now  Here", 1),
        ("text", "20 %", "20%", 1),
        ("text", "张 三", "张三", 1),
        ("enum", "in stock", "instock", 0),
        ("date", "3 May 2024", "3May2024", 1),
        ("date", "no date", "nodate", 0),
        ("number", "none yet", "noneyet", 0),
        ("number", "1 240.50", "1240.5", 1),
        ("number", "$ 1 240 000", "1240000 USD", 1),
        ("number", "1 12", "11 2", 0),
        ("number", "112", "1 12", 0),
        ("contains", "now here", "nowhere", 0),
        ("contains", "right now here", "now here", 1),
        ("fuzzy", "a now here b", "a nowhere b", 1),
        ("exact", "now here", "now  here", 0),
    ],
)
def test_values_that_differ_in_blanks(compare: str, gold: str, answer: str, hits: int) -> None:
    schema = obj(v={**TEXT, "x-goldgate": {"compare": compare}})
    facts = score({"v": gold}, {"v": answer}, schema, blanks="keep")
    assert counts(facts) == (hits, 1, 1)


@cases(("blanks", "hits"), [("remove", 1), ("keep", 0)])
def test_keys_of_maps_and_paths_without_a_schema_follow_the_setting(blanks: Blanks, hits: int) -> None:
    schema = {"type": "object", "additionalProperties": TEXT}
    assert counts(score({"new york": "a"}, {"newyork": "a"}, schema, blanks=blanks))[0] == hits
    counted = score({"k": "a b"}, {"k": "ab"}, {"type": "object"}, outside_schema="count", blanks=blanks)
    assert counts(counted)[0] == hits


def test_the_text_is_searched_for_values_with_their_blanks() -> None:
    facts = score({"v": "now here"}, {"v": "nowhere", "w": "now here"}, text="now\nhere", blanks="keep")
    assert [leaf.value for leaf in facts.predicted.leaves if id(leaf) in facts.unsupported] == ["nowhere"]


def _report(folder: Path, answer: Any, blanks: Blanks = "remove") -> Any:
    gold = {"id": "1", "value": {"a": "now here", "b": "1 12", "c": "New York", "d": "12", "e": "20 %"}}
    for name, record in (("gold.jsonl", gold), ("answers.jsonl", {"id": "1", "value": answer})):
        (folder / name).write_text(json.dumps(record), encoding="utf-8")
    protocol = {"fields": {"blanks": blanks}}
    return goldgate.evaluate_fields(folder / "gold.jsonl", folder / "answers.jsonl", protocol=protocol).report


def test_hits_without_blanks_are_a_warning_with_examples(tmp_path: Path) -> None:
    answer = {"a": "nowhere", "b": "11 2", "c": "new  york", "d": 12, "e": "20%"}
    report = _report(tmp_path, answer)
    messages = {each["code"]: each["message"] for each in report["stands_out"]}
    assert messages["blanks_only"] == (
        "2 hits rest on removed blanks, such as “11 2” for “1 12”, “nowhere” for “now here”; "
        "to count them as wrong, write in the protocol: fields: {blanks: keep}"
    )
    kept = _report(tmp_path, answer, "keep")
    assert kept["metrics"]["main"]["field_f1"]["numerator"] == 6
    assert "blanks_only" not in [each["code"] for each in kept["stands_out"]]
    assert "|blanks:keep|" in kept["signature"]
