"""The fields suite from Python: several answers at once, pages in notebooks, and arguments that cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import ConfigError
from goldgate.rewards import field_reward

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEMA = {"type": "object", "properties": {"vendor": {"type": "string"}, "total": {"type": "number"}}}
GOLD = {"id": "1", "text": "Harbor, 12", "value": {"vendor": "Harbor", "total": 12}}


def files(folder: Path) -> tuple[Path, Path]:
    (folder / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
    (folder / "answers.jsonl").write_text(json.dumps({"id": "1", "response": '{"total": 12}'}) + "\n")
    return folder / "gold.jsonl", folder / "answers.jsonl"


def test_several_answers_are_scored_beside_their_gold() -> None:
    scorer = goldgate.load_scorer(SCHEMA)
    scores = scorer.score_many(['{"vendor": "Harbor", "total": 12}', '{"total": 13}'], [GOLD, GOLD])
    assert [score["field_f1"] for score in scores] == [1.0, 0.0]
    with pytest.raises(ValueError, match="1 responses, 2 golds"):
        scorer.score_many(["{}"], [GOLD, GOLD])
    with pytest.raises(TypeError, match="response 2: gold is a record such as"):
        scorer.score_many(["{}", "{}"], [GOLD, 5])


def test_a_score_has_a_page_in_notebooks() -> None:
    page = goldgate.load_scorer(SCHEMA).score('{"vendor": "Harbor", "total": 13}', GOLD)._repr_html_()
    assert "field_f1 0.5" in page
    for title in ("Errors", "Source text", "Values", "Answer"):
        assert f">{title}</h" in page, title


def test_arguments_that_cannot_be_are_refused_with_what_they_should_be(tmp_path: Path) -> None:
    gold, answers = files(tmp_path)
    score = goldgate.load_scorer(SCHEMA).score
    cases: list[tuple[str, Callable[[], Any]]] = [
        ("id_field is the name of a field", lambda: goldgate.evaluate_files(gold, answers, id_field=3)),  # type: ignore[arg-type]
        ("id_field is the name of a field", lambda: goldgate.evaluate([], [], id_field=3)),  # type: ignore[arg-type]
        ("id_field is the name of a field", lambda: goldgate.evaluate_fields(gold, answers, id_field=3)),  # type: ignore[arg-type]
        ("value_field is the name", lambda: goldgate.evaluate_fields(gold, answers, value_field=3)),  # type: ignore[arg-type]
        ("a schema is a path", lambda: goldgate.evaluate_fields(gold, answers, schema=5)),  # type: ignore[arg-type]
        ("workers is how many", lambda: goldgate.evaluate_fields(gold, answers, workers="x")),  # type: ignore[arg-type]
        ("workers is how many", lambda: goldgate.evaluate_fields(gold, answers, workers=0)),
        ("a schema is a path", lambda: field_reward(5)),  # type: ignore[arg-type]
        ("a schema is a path", lambda: field_reward([1])),  # type: ignore[arg-type]
        ("a schema is a path", lambda: field_reward(b"x")),  # type: ignore[arg-type]
        ("a schema is a path", lambda: goldgate.load_scorer(5, suite="fields")),
        ("gold is a record such as", lambda: score("{}", 5)),
        ("an answer is text, chat messages, decoded JSON or None, not int", lambda: score(5, GOLD)),
        ("a comparator is a function", lambda: goldgate.load_scorer(SCHEMA, comparators={"total": 5})),
        ("comparators is a mapping", lambda: goldgate.load_scorer(SCHEMA, comparators=5)),
    ]
    for words, call in cases:
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_an_event_schema_is_not_a_json_schema() -> None:
    gold, answers = EXAMPLES / "fields" / "gold.jsonl", EXAMPLES / "fields" / "model-a.jsonl"
    events: Any = EXAMPLES / "extraction" / "schema.json"
    with pytest.raises(ConfigError, match="this is an event schema, not a JSON Schema") as refused:
        goldgate.evaluate_fields(gold, answers, events)
    assert (refused.value.code, refused.value.place.file) == ("schema.wrong_value", str(events))
    with pytest.raises(ConfigError, match="not a JSON Schema"):
        goldgate.load_scorer({"total": "number"}, suite="fields")
