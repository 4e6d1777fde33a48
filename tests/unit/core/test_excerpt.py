"""Texts with their marks, cut to what a page can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.unit_page import CUT, MAX_CHARACTERS, MAX_MARKS, Mark, marked_text


def mark(start: int, end: int, wrong: str = "") -> Mark:
    return Mark(start, end, "gold", "label", wrong)


def test_marks_are_in_order_the_longer_of_two_first_and_overlaps_stay() -> None:
    shown = marked_text("abcdef", [mark(2, 3), mark(0, 2), mark(0, 6), mark(1, 4)])
    assert [(each.start, each.end) for each in shown.marks] == [(0, 6), (0, 2), (1, 4), (2, 3)]
    assert shown.note == ""


def test_a_long_text_is_cut_to_what_is_around_its_marks_and_that_is_said() -> None:
    text = "x" * 500_000 + "NEEDLE" + "y" * 500_000
    shown = marked_text(text, [mark(500_000, 500_006, "missing")])
    assert shown.note == "999,400 of 1,000,006 characters are left out."  # 200 at the beginning, 200 + 6 + 200
    [needle] = [each for each in shown.marks if each.kind != CUT]
    assert shown.text[needle.start : needle.end] == "NEEDLE"
    for cut in (each for each in shown.marks if each.kind == CUT):
        assert "characters left out" in shown.text[cut.start : cut.end]
    assert shown.text.startswith("x" * 200 + " [… 499,600 characters left out …] x")


def test_where_there_is_no_room_for_all_errors_come_first() -> None:
    marks = [mark(at, at + 1) for at in range(0, 1_000_000, 1_000)] + [mark(999_500, 999_501, "missing")]
    shown = marked_text("x" * 1_000_000, marks)
    kept = [each for each in shown.marks if each.kind != CUT]
    assert "missing" in {each.wrong for each in kept}
    assert len(shown.text) < 2 * MAX_CHARACTERS
    left_out = len(marks) - len(kept)
    assert f", with {left_out:,} of the places that would be marked." in shown.note


def test_a_mark_on_all_of_a_long_text_is_on_each_part_that_is_shown() -> None:
    shown = marked_text("x" * 100_000, [mark(0, 100_000), mark(50_000, 50_001)])
    parts = [each for each in shown.marks if each.kind != CUT and each.end - each.start > 1]
    assert len(parts) == 3


def test_of_too_many_marks_those_of_errors_stay() -> None:
    marks = [mark(at % 900, at % 900 + 1 + at // 900) for at in range(MAX_MARKS + 5)] + [mark(10, 11, "missing")]
    shown = marked_text("x" * 1_000, marks)
    assert len(shown.marks) == MAX_MARKS
    assert "missing" in {each.wrong for each in shown.marks}
    assert shown.note == "6 more places are not marked."


@given(st.text("ab", max_size=400), st.lists(st.tuples(st.integers(-5, 500), st.integers(-5, 500))))
def test_what_is_marked_stays_what_it_was(text: str, spans: list[tuple[int, int]]) -> None:
    shown = marked_text(text, [mark(*span) for span in spans], most=100)
    rest = shown.text
    for cut in reversed([each for each in shown.marks if each.kind == CUT]):
        rest = rest[: cut.start] + "\n" + rest[cut.end :]
    at = 0
    for part in rest.split("\n"):  # every part that is shown stands in the text, in this order
        at = text.index(part, at) + len(part)
    assert all(0 <= each.start < each.end <= len(shown.text) for each in shown.marks)
