"""Which event types and roles are taken for which others."""

from __future__ import annotations

from typing import Any

import pytest

from goldgate.core.page import Matrix, Paragraph
from goldgate.suites.extraction import measures as module
from goldgate.suites.extraction.page import extraction_page

from ..helpers import Json, event, gold, judge


def report_of(*samples: tuple[list[Json], list[Json]]) -> Any:
    golds = [gold(*wanted, identity=str(number)) for number, (wanted, _) in enumerate(samples)]
    predictions: list[Json] = [{"id": str(number), "events": said} for number, (_, said) in enumerate(samples)]
    return judge(golds, predictions).report


TYPES = ([event("T", ("r", "x"))], [event("U", ("r", "x"))])
ROLES = ([event("T", ("r", "x"), ("q", "y"))], [event("T", ("s", "x"), ("q", "y"))])


def test_pairs_are_counted_once_from_gold_to_predicted() -> None:
    found = report_of(TYPES, TYPES, ROLES)["confusions"]
    assert found["event_types"]["pairs"] == [{"gold": "T", "predicted": "U", "count": 2}]
    assert found["roles"]["pairs"] == [{"event_type": "T", "gold": "r", "predicted": "s", "count": 1}]


def test_event_types_count_samples_and_roles_count_arguments() -> None:
    three = (("r", "x"), ("q", "y"), ("s", "z"))
    types = ([event("T", *three)], [event("U", *three)])  # one event: three arguments with a wrong type
    report = report_of(types, TYPES, ROLES, ROLES, ([event("T", ("r", "x"))], []))
    confusions, errors = report["confusions"], report["errors"]
    assert confusions["event_types"]["pairs"] == [{"gold": "T", "predicted": "U", "count": 2}]
    assert errors["wrong_type"]["false_positives"] == 3 + 1
    assert sum(pair["count"] for pair in confusions["roles"]["pairs"]) == errors["wrong_role"]["false_positives"] == 2
    tables = {section.title: section.blocks[0] for section in extraction_page(report).sections}
    for title, counted in (("Confused event types", "samples"), ("Confused roles", "arguments")):
        matrix = tables[title]
        assert isinstance(matrix, Matrix)
        assert matrix.as_table().columns[-1].title == counted


def test_types_without_arguments_are_confused_where_it_is_clear_with_which() -> None:
    one = ([event("T")], [event("U")])
    unclear = ([event("T")], [event("U"), event("V")])
    of_arguments = ([event("T", ("r", "x"))], [event("U")])
    found = report_of(one, one, unclear, of_arguments, ([event("T")], []), ([], [event("U")]))["confusions"]
    assert found["event_types"]["pairs"] == [{"gold": "T", "predicted": "U", "count": 2}]


def test_names_of_any_characters_stay_apart() -> None:
    odd = ['a"b', "a\\", "a.b", "鱼", "\x00", "[1]"]
    found = report_of(*(([event(name, ("r", "x"))], [event("U", ("r", "x"))]) for name in odd))["confusions"]
    assert [pair["gold"] for pair in found["event_types"]["pairs"]] == sorted(odd)


def test_the_rarest_are_left_out_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PAIRS", 1)
    other = ([event("A", ("r", "x"))], [event("B", ("r", "x"))])
    report = report_of(TYPES, TYPES, other)
    found = report["confusions"]["event_types"]
    assert found["pairs"] == [{"gold": "T", "predicted": "U", "count": 2}]
    assert found["left_out"] == {"pairs": 1, "count": 1}
    [section] = [section for section in extraction_page(report).sections if section.title == "Confused event types"]
    assert isinstance(section.blocks[0], Matrix)
    assert section.blocks[1] == Paragraph("Not listed: 1 rarer pair with 1 sample.")


def test_where_nothing_is_confused_there_is_no_section() -> None:
    titles = [section.title for section in extraction_page(report_of(([], []))).sections]
    assert not [title for title in titles if title.startswith("Confused")]
