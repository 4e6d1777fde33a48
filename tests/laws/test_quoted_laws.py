"""The quick way of reading a string says what the rule says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.extraction.response.parsed import Step
from goldgate.suites.extraction.response.strings import Slot, fast_quoted, slow_quoted
from tests.examples import examples

PIECES = st.lists(
    st.sampled_from(
        [
            '"',
            '""',
            "'",
            "“",
            "”",
            "a",
            "key",
            " ",
            "\n",
            "\t",
            ",",
            ":",
            "：",
            "{",
            "}",
            "[",
            "]",
            "\\",
            '\\"',
            "，",
            "é",
            "```",
        ]
    ),
    max_size=14,
).map("".join)


@examples(2_000)
@given(st.sampled_from(['"', "'"]), PIECES, st.sampled_from(Slot))
def test_quick_way_of_reading_a_string_says_what_the_rule_says(mark: str, rest: str, slot: Slot) -> None:
    text = mark + rest
    quick_notes: list[tuple[Step, int]] = []
    quick = fast_quoted(text, 0, len(text), lambda step, at: quick_notes.append((step, at)), slot)
    if quick is None:
        return
    notes: list[tuple[Step, int]] = []
    assert quick == slow_quoted(text, 0, len(text), lambda step, at: notes.append((step, at)), slot)
    assert quick_notes == notes
