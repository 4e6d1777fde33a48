"""Limits of an answer: what lies beyond is predicted and wrong by its number, and no part of a record lists it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import orjson
import pytest

import goldgate
from goldgate.core.metric import Rate
from goldgate.report import render
from goldgate.suites.extraction.explain import sample_summary
from goldgate.suites.extraction.page import extraction_rates
from goldgate.suites.extraction.scorer import error_weight
from tests.cases import cases

from ..helpers import Json, event, gold, judge, score

SCHEMA: Json = {"event_types": {"Buy": {"roles": ["buyer", "seller", "date"]}}}
TEXT = "Zeta bought Yotta."
GOLD = gold(event("Buy", ("buyer", "Zeta"), ("seller", "Yotta")), text=TEXT)


def pairs(result: Any, *names: str) -> list[tuple[int, int]]:
    rates = [result.metrics[name] for name in names]
    assert all(isinstance(rate, Rate) for rate in rates)
    return [(rate.numerator, rate.denominator) for rate in rates]


def names(count: int, prefix: str = "n") -> list[str]:
    return [f"{prefix}{number:05}" for number in range(count)]


def listed(count: int) -> list[str]:
    """Values of one role: gold's, and before it in canonical order as many others."""
    return [*names(count - 1), "Zeta"]


# Events; then the hits and the number of predicted units and types, which count all, and how many values and types are
# beyond a limit.
EXCESS: list[Any] = [
    pytest.param([event("Buy", ("buyer", listed(2_000)))], (1, 2_000), (1, 1), (0, 0), id="values-of-a-role-that-fit"),
    pytest.param([event("Buy", ("buyer", listed(2_500)))], (1, 2_500), (1, 1), (500, 0), id="values-of-a-role"),
    pytest.param(
        [event("Buy", ("buyer", names(1_500))), event("Buy", ("buyer", listed(2_500)))],
        (1, 2_500), (1, 1), (500, 0), id="in-two-events",
    ),
    pytest.param(
        [event(name, ("r", "x"), ("s", "x")) for name in names(1_003)],
        (0, 2_006), (0, 1_003), (1_006, 3), id="types-of-which-each-has-two-roles",
    ),  # three types have 6 values; of the 2,000 roles of the others 1,000 are beyond
    pytest.param([event(name) for name in names(1_010)], (0, 0), (0, 1_010), (0, 10), id="types-without-values"),
    pytest.param(
        [event("Buy", ("buyer", "Zeta"), *((name, "x") for name in names(1_200)))],
        (1, 1_201), (1, 1), (200, 0), id="roles",
    ),
    pytest.param(
        [event("Buy", ("buyer", "Zeta")), *(event("Buy", (name, names(100, name))) for name in names(250))],
        (1, 25_001), (1, 1), (5_001, 0), id="values-of-all-roles",
    ),
]  # fmt: skip


@cases(("events", "units", "types", "beyond"), EXCESS)
def test_what_lies_beyond_a_limit_is_predicted_and_wrong(
    events: list[Json], units: tuple[int, int], types: tuple[int, int], beyond: tuple[int, int]
) -> None:
    result = score(events, GOLD, SCHEMA)
    assert pairs(result, "strict_precision", "type_precision") == [units, types]
    assert (result.metrics["schema_compliance_rate"].value == 0) == (beyond != (0, 0))
    record, facts = result.record, result.facts
    left_out = record.get("beyond_limits", {"values": 0, "event_types": 0})
    assert (left_out["values"], left_out["event_types"]) == beyond
    assert record["hallucination"]["checked"] == units[1]
    tally = result.tally
    wrong = sum(count for name, count in tally.counts.items() if name.endswith(".predicted"))
    assert wrong == units[1] - units[0]  # every false positive has a name
    assert pairs(result, "hallucination_entity_rate") == ([(units[1] - units[0], units[1])] if units[1] else [(0, 0)])
    assert sample_summary(orjson.loads(orjson.dumps(record))).weight == error_weight(facts)


@cases(("events", "units", "types", "beyond"), EXCESS)
def test_order_of_an_answer_beyond_the_limits_changes_nothing(
    events: list[Json], units: object, types: object, beyond: object
) -> None:
    shuffled = json.loads(json.dumps(events))
    order = random.Random(7)
    order.shuffle(shuffled)
    for each in shuffled:
        for argument in each["arguments"]:
            if isinstance(argument["argument"], list):
                order.shuffle(argument["argument"])
        order.shuffle(each["arguments"])
    one, other = score(events, GOLD, SCHEMA), score(shuffled, GOLD, SCHEMA)
    assert one.tally == other.tally
    for part in ("units", "parts"):
        assert one.record[part] == other.record[part]


def test_all_values_together_have_a_limit_of_characters() -> None:
    # 4 + 5 of gold's, then in canonical order 100,003 (`a`, `c`, `d`) or 300,003 (`b`) characters within 500,000.
    long = [*(f"a{n:02}" + "x" * 100_000 for n in range(3)), "b00" + "x" * 300_000, "c00" + "x" * 100_000]
    values = [*long, "Zeta", "d00" + "x" * 100_000]
    for shuffled in (values, values[::-1]):
        result = score([event("Buy", ("buyer", shuffled), ("seller", "Yotta"))], GOLD, SCHEMA)
        assert pairs(result, "strict_precision", "hallucination_entity_rate") == [(2, 8), (6, 8)]
        assert result.record["beyond_limits"]["values"] == 3
        assert len(orjson.dumps(result.record)) < 2_000_000


@cases("profile", [pytest.param("duee-fin", id="duee-fin"), pytest.param("doc2edag", id="doc2edag")])
def test_a_record_is_not_right_because_its_wrong_value_is_beyond_a_limit(profile: str) -> None:
    events = [event("Buy", ("buyer", ["Zeta", "zzz"]), ("seller", "Yotta"))]
    crowd = [event("Buy", ("buyer", names(2_500)))]
    metric = f"{profile.replace('-', '_')}_record_f1"
    scorer = goldgate.load_scorer(SCHEMA, {"metrics": {"profile": profile}})
    assert [scorer.score(answer, GOLD)[metric] for answer in (events, events + crowd)] == [0, 0]


def test_a_role_may_have_twice_as_many_values_as_gold_has() -> None:
    record = gold(event("Buy", ("buyer", names(1_500))))
    assert "beyond_limits" not in score([event("Buy", ("buyer", names(3_000)))], record, SCHEMA).record
    assert score([event("Buy", ("buyer", names(3_001)))], record, SCHEMA).record["beyond_limits"]["values"] == 1


def test_types_and_roles_of_the_schema_have_no_limit() -> None:
    many = {"event_types": {name: {"roles": names(3)} for name in names(1_100)}}
    events = [event(name, *((role, "x") for role in names(3))) for name in names(1_100)]
    assert "beyond_limits" not in score(events, gold(), many).record


@cases(
    ("arguments", "violation"),
    [
        pytest.param([1] * 5_000, "argument_not_object", id="numbers"),
        pytest.param([{}] * 5_000, "role_invalid", id="empty-objects"),
        pytest.param([{"role": "buyer", "argument": [None] * 5_000}], "value_invalid", id="nulls-in-a-list"),
        pytest.param([{"role": "buyer", "argument": None}] * 5_000, "value_null", id="nulls"),
        pytest.param([{"role": "other", "argument": "x"}] * 5_000, "unknown_role", id="one-role"),
    ],
)
def test_parts_without_a_unit_are_counted_and_the_first_hundred_listed(arguments: list[Any], violation: str) -> None:
    result = judge(
        [GOLD],
        [{"id": "1", "events": [{"event_type": "Buy", "arguments": arguments}]}],
        SCHEMA,
        schema_mode="schema_strict",
    )
    assert result.report["reading"]["violations"][violation] == {"samples": 1, "occurrences": 5_000}
    record = score([{"event_type": "Buy", "arguments": arguments}], GOLD, SCHEMA, schema_mode="schema_strict").record
    places = [entry["path"] for entry in record["violations"] if entry["violation"] == violation]
    assert len(places) == len(set(places)) == 100
    assert record["violation_counts"][violation] == 5_000


def test_scalars_in_place_of_events_are_counted() -> None:
    record = score([event("Buy", ("buyer", "Zeta")), *range(3_000)], GOLD, SCHEMA).record
    assert record["violation_counts"] == {"event_not_object": 3_000}
    assert record["units"]["matching"] == [1, 1, 1, 2]


@cases(
    ("mode", "spell"),
    [
        pytest.param("normalized_substring", str, id="normalized"),
        pytest.param("exact_span", str, id="exact"),
    ],
)
def test_five_thousand_distinct_values_are_searched_those_of_gold_first(mode: str, spell: Callable[[str], str]) -> None:
    # 6,002 values in four roles, all but nobody's in the text: the two of gold and 4,998 others are searched.
    words = names(6_000)
    record = gold(event("Buy", ("buyer", "Zeta"), ("seller", "Yotta")), text=" ".join([TEXT, *words]))
    events = [event("Buy", ("buyer", "Zeta"), ("seller", "Yotta"))]
    events += [event("Buy", (f"r{part}", words[part * 1_500 : (part + 1) * 1_500])) for part in range(4)]
    result = score(events, record, SCHEMA, hallucination=mode)
    assert pairs(result, "hallucination_entity_rate") == [(1_002, 6_002)]
    assert result.record["violation_counts"] == {"too_many": 1_002}
    assert {error["error"] for error in result.record["errors"]} == {"spurious"}


def test_long_names_are_shortened_and_stay_different() -> None:
    names = ["T" * 4_000 + ending for ending in ("a", "b", "b")]
    record = score([event(name, ("r" * 4_000, "x")) for name in names], GOLD, SCHEMA).record
    assert len(record["predicted"]) == 2
    assert max(map(len, record["predicted"])) < 230
    assert len(orjson.dumps(record)) < 10_000
    known = {"event_types": {names[0]: {"roles": ["r"]}}}
    assert [*score([event(names[0], ("r", "x"))], GOLD, known).record["predicted"]] == [names[0]]


def test_report_lists_the_most_frequent_of_the_types_that_only_answers_have_and_counts_the_rest() -> None:
    # Two answers of 400 types each, 800 in all: 500 are listed beside gold's, those of the first with two values.
    golds = [gold(event("Buy", ("buyer", "Zeta")), identity=name) for name in ("1", "2")]
    answers = [
        {
            "id": "1",
            "events": [event("Buy", ("buyer", "Zeta")), *(event(n, ("r", ["x", "y"])) for n in names(400, "a"))],
        },
        {"id": "2", "events": [event(n, ("r", "x")) for n in names(400, "b")]},
    ]
    result = judge(golds, answers)
    breakdown = result.report["breakdown"]
    assert breakdown["left_out"] == {"event_types": 300, "roles": 300, "predicted": 300}
    listed_types = {entry["event_type"] for entry in breakdown["event_types"]}
    assert listed_types == {"Buy", *names(400, "a"), *names(100, "b")}
    assert len(breakdown["roles"]) == 501
    assert "And 300 more event types that gold does not have: samples.jsonl." in render(result.report, "markdown")
    assert extraction_rates(result.report).rates["strict_precision"] == (1, 1 + 800 + 400)


def test_breakdown_of_gold_is_always_whole() -> None:
    record = gold(*(event(name, ("r", "x")) for name in names(1_100)))
    assert "left_out" not in judge([record], [{"id": "1", "events": []}]).report["breakdown"]
