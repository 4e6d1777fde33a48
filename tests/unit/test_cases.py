"""A table of cases fails with the name of its case, and passes only if all do."""

from __future__ import annotations

import inspect

import pytest

from tests.cases import cases


def test_every_row_is_tried_and_the_one_that_fails_is_named() -> None:
    tried = []

    @cases("letter", "ab")
    @cases(("one", "two"), [(1, 2), pytest.param(3, 4, id="equal"), (5, 5)])
    def differ(letter: str, one: int, two: int, folder: str) -> None:
        tried.append(f"{folder}{letter}{one}")
        assert one != two or letter == "a"

    assert [*inspect.signature(differ).parameters] == ["folder"]
    with pytest.raises(AssertionError) as caught:
        differ(folder="x")
    assert tried == ["xa1", "xa3", "xa5", "xb1", "xb3", "xb5"]
    assert caught.value.__notes__ == ["case 3 of 3: one=5, two=5", "case 2 of 2: letter='b'"]


def test_a_table_without_rows_and_a_row_with_a_mark_are_refused() -> None:
    for rows in ([], [pytest.param(1, marks=pytest.mark.slow)]):
        with pytest.raises(AssertionError):
            cases("number", rows)
