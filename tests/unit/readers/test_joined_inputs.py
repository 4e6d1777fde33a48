"""Looking up the lines that a record was made from."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import InputError
from goldgate.readers.joined_suite import open_joined, open_joined_inputs


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


GOLD = [{"id": "a", "text": "Ä"}, {"text": "second", "id": 7}, {"id": "鱼", "text": "third"}]
PREDICTIONS = [{"id": "7", "response": "yes"}, {"id": "a", "response": "no"}]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[str]]:
    (tmp_path / "gold.json").write_text(json.dumps(GOLD), encoding="utf-8")
    (tmp_path / "predictions.jsonl.gz").write_bytes(gzip.compress(lines(*PREDICTIONS)))
    return {"gold": [str(tmp_path / "gold.json")], "predictions": [str(tmp_path / "predictions.jsonl.gz")]}


def test_a_record_leads_to_its_lines_in_any_form_and_order(files: dict[str, list[str]]) -> None:
    with open_joined_inputs(files) as given:
        assert given.for_unit({"id": "a"}) == {"gold": GOLD[0], "predictions": PREDICTIONS[1]}
        assert given.for_unit({"id": "7"}) == {"gold": GOLD[1], "predictions": PREDICTIONS[0]}
        assert given.for_unit({"id": "鱼"}) == {"gold": GOLD[2]}
        assert given.for_unit({"id": "b"}) == {}


def test_an_input_that_is_not_named_is_left_out(files: dict[str, list[str]]) -> None:
    with open_joined_inputs({"predictions": files["predictions"], "gold": []}) as given:
        assert given.for_unit({"id": "a"}) == {"predictions": PREDICTIONS[1]}


def test_a_file_that_is_not_there_is_an_error(files: dict[str, list[str]]) -> None:
    with pytest.raises(InputError), open_joined_inputs({"gold": ["nowhere.jsonl"]}):
        pass


def test_nothing_is_shown_of_a_file_that_changes_meanwhile(files: dict[str, list[str]]) -> None:
    with open_joined_inputs(files) as given:
        Path(files["gold"][0]).write_text(json.dumps(GOLD).replace("second", "Second"), encoding="utf-8")
        assert given.for_unit({"id": "7"}) == {"predictions": PREDICTIONS[0]}


def test_what_came_through_standard_input_can_be_looked_up_while_it_is_open(
    files: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines(*PREDICTIONS))))
    with open_joined(files["gold"], ["-"]) as joined:
        assert joined.lookup().for_unit({"id": "a"}) == {"gold": GOLD[0], "predictions": PREDICTIONS[1]}
