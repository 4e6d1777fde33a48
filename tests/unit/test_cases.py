"""A table of cases fails with the name of its case, and passes only if all do."""

from __future__ import annotations

import inspect

import pytest

from tests.cases import cases


def test_every_row_is_tried_and_the_one_that_fails_is_named() -> None:
    tried = []

    @cases(("one", "two"), [(1, 2), pytest.param(3, 3, id="equal"), (5, 6)])
    def differ(one: int, two: int) -> None:
        tried.append((one, two))
        assert one != two

    with pytest.raises(AssertionError) as caught:
        differ()
    assert tried == [(1, 2), (3, 3)]
    assert caught.value.__notes__ == ["case 2 of 3: one=3, two=3"]


def test_tables_multiply_and_other_parameters_stay_fixtures() -> None:
    tried = []

    @cases("letter", "ab")
    @cases("number", [1, 2])
    def collect(letter: str, number: int, folder: str) -> None:
        tried.append(f"{folder}{letter}{number}")

    assert [*inspect.signature(collect).parameters] == ["folder"]
    collect(folder="x")
    assert tried == ["xa1", "xa2", "xb1", "xb2"]


def test_a_table_without_rows_and_a_row_with_a_mark_are_refused() -> None:
    for rows in ([], [pytest.param(1, marks=pytest.mark.slow)]):
        with pytest.raises(AssertionError):
            cases("number", rows)
