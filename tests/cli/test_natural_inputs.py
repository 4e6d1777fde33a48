"""Gold and predictions in the shapes that people have them in: each is read, or the error says what to type."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import GoldgateError
from tests.cli.test_prediction_layouts import PEOPLE, SCHEMA, Json, counts, events

IDS = tuple(f"d{number}" for number in range(len(PEOPLE)))
GOLD = [{"id": name, "text": f"{who} joined.", "events": events(who)} for name, who in zip(IDS, PEOPLE, strict=True)]
ANSWERS = [{"id": name, "response": json.dumps(events(who))} for name, who in zip(IDS, PEOPLE, strict=True)]


def renamed(records: list[Json], **names: str) -> list[Json]:
    """The records with other names for some of their keys; `""` leaves a key out."""
    return [{names.get(key, key): value for key, value in record.items() if names.get(key, key)} for record in records]


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def stored(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_pretty_printed_arrays_are_read_whatever_the_id_is_called(tmp_path: Path) -> None:
    for name, ending, options in (
        ("", "json", {}),
        ("", "json.gz", {}),
        ("doc_id", "json", {"id_field": "doc_id"}),
        ("doc_id", "json.gz", {"id_field": "doc_id", "workers": 2}),
    ):
        gold = stored(tmp_path / f"g.{ending}", pretty(renamed(GOLD, id=name)))
        answers = stored(tmp_path / f"p.{ending}", pretty(renamed(ANSWERS, id=name)))
        report = goldgate.evaluate_files(gold, answers, SCHEMA, **options).report
        assert counts(report) == (3, 3, 0), (name, ending)


def test_a_broken_record_of_a_pretty_printed_array_has_its_place(tmp_path: Path) -> None:
    answers = stored(tmp_path / "p.json", pretty(renamed(ANSWERS, id="")))
    for name, text, code, line in (
        ("raw line end in a string", pretty(renamed(GOLD, id="")).replace("Bo joined", "Bo\njoined"), "not_json", 17),
        ("not an object", pretty([*renamed(GOLD, id=""), 5]), "not_an_object", 44),
        ("one with an id", pretty([*renamed(GOLD[:1], id=""), GOLD[1]]), "bad_id", 16),
    ):
        with pytest.raises(GoldgateError) as refused:
            goldgate.evaluate_files(stored(tmp_path / "g.json", text), answers, SCHEMA)
        assert (refused.value.code, refused.value.place.line) == (f"gold.{code}", line), name
