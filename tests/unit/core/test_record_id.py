"""What is an id."""

from __future__ import annotations

from typing import Any

from goldgate.core.finding import record_id
from tests.cases import cases


@cases(("value", "identity"), [("a", "a"), (" ", " "), (7, "7"), (-1, "-1"), (2**80, str(2**80))])
def test_text_and_integers_are_ids(value: Any, identity: str) -> None:
    assert record_id({"id": value}) == identity


@cases("value", ["", None, True, 1.0, ["a"], {}])
def test_all_else_is_none(value: Any) -> None:
    assert record_id({"id": value}) is None
