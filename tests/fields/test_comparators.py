"""When two values are alike, comparator by comparator."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from goldgate.errors import ConfigError
from goldgate.suites.fields.comparators import FunctionComparator
from goldgate.suites.fields.spellings import read_number
from tests.cases import cases

from .helpers import counts, obj, score

# compare, settings, gold, predicted, alike
CASES: list[tuple[str, dict[str, Any], Any, Any, bool]] = [
    ("text", {}, "Acme  Inc.", "acme inc.", True),
    ("text", {}, "ＡＣＭＥ", "acme", True),
    ("text", {}, 5, "5", True),
    ("text", {}, 5.0, "5", True),
    ("text", {}, True, "true", True),
    ("text", {}, "5.0", 5, False),
    ("exact", {}, "SK-001", "SK-001", True),
    ("exact", {}, "SK-001", "sk-001", False),
    ("number", {}, 1240, "1,240.00", True),
    ("number", {}, 12, "$ 12", True),
    ("number", {}, -45, "(45.00)", True),
    ("number", {}, 1240, "1,240", False),
    ("number", {}, 1240, "$1,240", False),
    ("number", {"decimal": "."}, 1240, "1,240", True),
    ("number", {"decimal": ","}, 1240, "1.240", True),
    ("number", {"decimal": ","}, Decimal("1.24"), "1,240", True),
    ("number", {}, 1240.5, "1'240.50 CHF", True),
    ("number", {}, 2, "2 . 0 0", True),
    ("number", {}, 12, "12 %", True),
    ("number", {}, 0.12, "12 %", False),
    ("number", {}, "12 EUR", "12 USD", False),
    ("number", {}, "12 EUR", "€ 12.00", True),
    ("number", {}, "12 USD", "$12", True),  # a symbol, and a code that it may stand for
    ("number", {}, "12 CAD", "$12", True),
    ("number", {}, "12 CAD", "US$ 12", False),
    ("number", {}, "12 JPY", "¥12", True),
    ("number", {}, "12 CNY", "￥１２", True),
    ("number", {}, "12 EUR", "¥12", False),
    ("number", {}, "12 kr", "NOK 12", True),
    ("number", {}, "$12", "12 %", False),
    ("number", {}, "12 %", "12 pct", True),
    ("number", {}, "12 ‰", "12 %", False),
    ("number", {}, 12, "12 USD", True),  # one side names none
    ("number", {}, "12 USD", 12, True),
    ("number", {}, "5 mg", "5 g", False),
    ("number", {}, "5 mg", "5", True),
    ("number", {"abs": 1}, "12 USD", "12.5 EUR", False),
    ("number", {"abs": 1}, "12 USD", "$12.5", True),
    ("number", {"abs": 1}, 12, "$12.5", True),
    ("number", {"rel": 0.1}, "$12", "12 %", False),
    ("number", {}, -5, "-$-5", False),
    ("number", {}, -45, "-(45)", False),
    ("number", {}, -45, "($45)", True),
    ("number", {}, 1500000, "1.5 million", True),
    ("number", {}, 1500000, "$1.5m", True),
    ("number", {}, "1.5 million EUR", "1,500,000 USD", False),
    ("number", {}, 5000000, "5 m", False),  # metres or millions
    ("number", {}, 1, True, False),
    ("number", {}, 102, "10²", True),  # equal normalized texts are alike
    ("number", {}, "Spring 2010", "spring 2010", True),
    ("number", {}, "1,240", "1,240", True),
    ("number", {"abs": 0.5}, 10, 10.5, True),
    ("number", {"abs": 0.5}, 10, 10.51, False),
    ("number", {"rel": 0.01}, 100, 101, True),
    ("number", {"rel": 0.01}, 100, 102, False),
    ("number", {"rel": 0.01}, 0, 0.001, False),
    ("number", {"rel": 0.01}, 0, 0, True),
    ("date", {}, "2024-03-05", "March 5, 2024", True),
    ("date", {}, "2024-03-05", "5 Mar 2024", True),
    ("date", {}, "2024-03", "March 2024", True),
    ("date", {}, "2024-03", "2024-03-05", False),
    ("date", {}, "2024-03-05", "05/03/2024", False),
    ("date", {"formats": ["%d/%m/%Y"]}, "2024-03-05", "05/03/2024", True),
    ("date", {}, "2024-03-05", "2024-03-05T23:00:00+02:00", True),
    ("date", {}, "2024-03-05T22:00:00Z", "2024-03-06T00:00:00+02:00", True),
    ("date", {}, "2024-03-05T22:00:00Z", "2024-03-05T23:00:00Z", False),
    ("date", {}, "Spring 2010", "SPRING 2010", True),
    ("date", {}, "9 August 2024", "9 A u g u s t 2 0 2 4", True),  # equal normalized texts are alike
    ("date", {}, "2024-13-05", "2024-13-06", False),
    ("boolean", {}, True, True, True),
    ("boolean", {}, True, False, False),
    ("boolean", {}, True, "True", True),
    ("enum", {}, "Net 30", "net  30", True),
    ("fuzzy", {}, "Jonathan Smith", "Jonathon Smith", True),
    ("fuzzy", {}, "Jonathan Smith", "John Smith", False),
    ("fuzzy", {"threshold": 0.5}, "Jonathan Smith", "John Smith", True),
    ("contains", {}, "NIPS 1989", "In: NIPS 1989", True),
    ("contains", {}, "NIPS 1989", "Proceedings of the Conference NIPS 1989", False),
    ("contains", {"share": 0.1}, "NIPS 1989", "Proceedings of the Conference NIPS 1989", True),
    ("contains", {"share": 0.1}, "IPS 1989", "Proceedings of NIPS 1989", False),
]


@cases(("compare", "settings", "gold", "predicted", "expected"), CASES)
def test_every_comparator_says_what_the_table_says(
    compare: str, settings: dict[str, Any], gold: Any, predicted: Any, expected: bool
) -> None:
    gold = float(gold) if isinstance(gold, Decimal) else gold
    schema = obj(v={"x-goldgate": {"compare": compare, **settings}, "type": ["string", "number", "boolean"]})
    assert (counts(score({"v": gold}, {"v": predicted}, schema))[0] == 1) is expected


def test_ignored_paths_are_not_counted() -> None:
    schema = obj(v={"type": "string", "x-goldgate": {"compare": "ignore"}}, w={"type": "string"})
    assert counts(score({"v": "a", "w": "b"}, {"v": "c", "w": "b"}, schema)) == (1, 1, 1)


def test_the_default_comparator_is_by_type() -> None:
    schema = obj(
        n={"type": "number"}, d={"type": "string", "format": "date"}, e={"enum": ["A b", None]}, s={"type": "string"},
        o={"anyOf": [{"type": "number"}, {"type": "null"}]}, m={"type": ["string", "number"]},
    )  # fmt: skip
    gold = {"n": 5, "d": "2024-03-05", "e": "A b", "s": "1,240.00", "o": 12, "m": "12"}
    answer = {"n": "5.00", "d": "March 5, 2024", "e": "a B", "s": 1240, "o": "$ 12", "m": "12.0"}
    facts = score(gold, answer, schema)
    assert {leaf.shape.name for leaf in facts.gold.leaves if leaf.state == "hit"} == {"n", "d", "e", "o"}


def test_numbers_in_texts_have_one_reading_or_none() -> None:
    readings = {
        "1,240.00": Decimal("1240.00"), "1.240,00": Decimal("1240.00"), "1,240,500": 1240500, "12.5": Decimal("12.5"),
        "1 240": 1240, "1'240.5": Decimal("1240.5"),
        "1.5 million": 1500000, "$5k": 5000, "1.2 Mio. €": 1200000, "3万元": 30000, "1000 mg": 1000, "12 m²": 12,
        "5 m": None, "5 k": None, "5 kg": 5, "$12 EUR": None, "€ 12 %": None, "-$-5": None, "-(45)": None,
        "(-45)": None, "($5)": -5, "$(5)": -5, "−$5": -5, "+5": 5, "5-": None, "５％": 5, "1234.567": None,
        "-3": -3, "− 3": -3, "€ 7": 7, "7 EUR": 7, "(7)": -7, ".5": Decimal("0.5"),
        "1,240": None, "0.125": None, "12,34,567": None, "1.2.3": None, "1,2.3,4": None, "(7": None, "7 apples": None,
        "": None, "-": None, "1e5": None, "٣": None,
    }  # fmt: skip
    for text, number in readings.items():
        reading = read_number(text)
        assert (None if reading is None else reading.number) == number, text


def test_a_schema_setting_that_is_unknown_is_an_error_with_its_place() -> None:
    with pytest.raises(ConfigError) as caught:
        score({"v": "a"}, {}, obj(v={"type": "string", "x-goldgate": {"compair": "text"}}))
    assert caught.value.place.field == "v.x-goldgate.compair"


def test_the_protocol_wins_over_the_schema() -> None:
    schema = obj(v={"type": "string", "x-goldgate": {"compare": "exact"}})
    assert counts(score({"v": "A"}, {"v": "a"}, schema))[0] == 0
    assert counts(score({"v": "A"}, {"v": "a"}, schema, paths={"v": {"compare": "text"}}))[0] == 1


def test_functions_that_are_written_alike_are_different_comparators() -> None:
    class Alike:
        def __call__(self, gold: Any, predicted: Any) -> bool:
            return True

        def __repr__(self) -> str:
            return "alike"

    one, other = FunctionComparator("function", Alike()), FunctionComparator("function", Alike())
    assert one.identity != other.identity
