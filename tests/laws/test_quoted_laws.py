"""The fast way of reading a string gives what the rule gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goldgate.response.strings import Slot, StepBudget, StringReader
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
@given(st.sampled_from(['"', "'", "“"]), PIECES, st.sampled_from(Slot))
def test_fast_way_of_reading_a_string_gives_what_the_rule_gives(mark: str, rest: str, slot: Slot) -> None:
    text = mark + rest
    fast, slow = (StringReader(text, 0, len(text), StepBudget(len(text))) for _ in range(2))
    value = fast.fast_string(slot)
    if value is not None:
        assert value == slow.slow_string(slot)
        assert (fast.pos, fast.places) == (slow.pos, slow.places)
