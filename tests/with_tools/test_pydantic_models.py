"""A Pydantic model class says what shape answers have, as its JSON Schema would."""

from __future__ import annotations

from datetime import date
from typing import Literal

import pydantic
import pytest

import goldgate
from goldgate.rewards import field_reward


class Line(pydantic.BaseModel):  # type: ignore[misc]  # its types are too large for every check
    sku: str
    price: float | None = None


class Invoice(pydantic.BaseModel):  # type: ignore[misc]
    vendor: str
    issued: date
    status: Literal["open", "paid"] = "open"
    lines: list[Line] = []


GOLD = {
    "id": "1",
    "value": {
        "vendor": "Harbor Paper",
        "issued": "2026-02-03",
        "status": "open",
        "lines": [{"sku": "A-1", "price": 24.5}, {"sku": "A-2", "price": 9.8}],
    },
}
# The date is written otherwise, the lines are in another order, one price is wrong: 6 of 7 leaves.
ANSWER = (
    '{"vendor": "harbor paper", "issued": "3 February 2026", "status": "open", '
    '"lines": [{"sku": "A-2", "price": "9.80"}, {"sku": "A-1", "price": 25}]}'
)


def test_a_model_class_is_a_schema_of_the_scorer() -> None:
    score = goldgate.load_scorer(Invoice).score(ANSWER, GOLD)
    assert (score["field_precision"], score["field_recall"]) == (6 / 7, 6 / 7)
    assert score["schema_compliance_rate"] == 0.0  # "9.80" is a text
    assert score["absent_accuracy"] is None  # gold has every scalar path
    same = goldgate.load_scorer(Invoice.model_json_schema()).score(ANSWER, GOLD)
    assert same.record == score.record


def test_a_model_class_is_a_schema_of_the_reward() -> None:
    rewards = field_reward(Invoice)(completions=[ANSWER, "no JSON"], value=[GOLD["value"]] * 2)
    assert rewards == [pytest.approx(12 / 14), 0.0]


def test_an_answer_of_the_model_class_is_valid_by_it() -> None:
    text = Invoice.model_validate(GOLD["value"]).model_dump_json()
    score = goldgate.load_scorer(Invoice).score(text, GOLD)
    assert (score["field_f1"], score["schema_compliance_rate"], score["document_exact_rate"]) == (1.0, 1.0, 1.0)


def test_a_class_that_is_not_a_model_is_refused() -> None:
    with pytest.raises(TypeError, match="a Pydantic model, not the class int"):
        goldgate.load_scorer(int, suite="fields")
