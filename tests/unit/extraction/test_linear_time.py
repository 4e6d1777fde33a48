"""No text, however hostile, is read in more than linear time.

Regular expressions do their work out of sight, so it cannot be counted, only timed. So that a
busy machine does not fail the test: CPU time, not the clock; a text eight times as long may take
thirty times as long (linear is eight, quadratic sixty-four); whoever fails is measured again, up to
five times. The short texts are longer than any look-ahead of the parser (8,192 characters), for below
that its cost still grows to its bound.
"""

from __future__ import annotations

import time

import pytest

from goldgate import parse_response
from goldgate.protocol.model import CotSettings

from ..helpers import SCHEMA, answer, event, gold, scorer

SHORT, TIMES = 9_000, 8
MOST, TRIES = 30, 5
LEAST = 0.001  # seconds; below this a measurement says nothing

EVENT = answer(event("T", ("r", "x")))[1:-1]
REPEATED = [
    "[",
    "{",
    '{"',
    '{"a":',
    '{"a":[',
    "[{x",
    '{"a":"b" x',
    '{"a":{"a":"b"} x',
    '"[',
    "['",
    "[“'",
    '{\\"a\\":',
    '{"a":"\\',
    "[1",
    "[/* ",
    '{"a"    ',
    "【{",
    "｛“a”：",
    "```x ",
    "a ``` b ",
    "```json\n[",
    "~~~ ",
    "<think>",
    "<think></think>",
    "</think>",
    "<think ",
    "<",
    "[] ",
    "[1], ",
    EVENT,
    f"{EVENT} x ",
    f"{EVENT} /* ",
    f"[{EVENT},",
    f"```json\n{EVENT}\n```\n",
]
# Something long between two events that makes them no row.
BETWEEN = [" ", "\n", "/* */", "// \n", "- ", "1. ", ",", "/*"]


def seconds(text: str) -> float:
    begin = time.process_time()
    parse_response(text)
    return max(time.process_time() - begin, LEAST)


def grows_linearly(short: str, long: str) -> bool:
    least = min(seconds(short) for _ in range(2))
    return any(seconds(long) < MOST * least for _ in range(TRIES))


def filled(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


@pytest.mark.parametrize("piece", REPEATED)
def test_repeated_text_is_read_in_linear_time(piece: str) -> None:
    assert grows_linearly(filled(piece, SHORT), filled(piece, SHORT * TIMES))


@pytest.mark.parametrize("piece", REPEATED[:17])
def test_repeated_text_inside_an_answer_is_read_in_linear_time(piece: str) -> None:
    begin = '[{"event_type": "T", "arguments": ['
    assert grows_linearly(begin + filled(piece, SHORT), begin + filled(piece, SHORT * TIMES))


@pytest.mark.parametrize("piece", BETWEEN)
def test_gap_between_two_events_is_read_in_linear_time(piece: str) -> None:
    # Thirty pieces took minutes once: the pattern was tried in every way the gap can be cut.
    assert seconds(f"{EVENT}{piece * 20}x{EVENT}") <= LEAST * 50
    short, long = (f"{EVENT}{filled(piece, length)}x{EVENT}" for length in (SHORT, SHORT * TIMES))
    assert grows_linearly(short, long)


def test_thought_of_many_lines_is_checked_in_linear_time() -> None:
    checker = scorer(SCHEMA, cot=CotSettings(enabled=True))

    def check(size: int) -> float:
        values = [f"v{number}q" for number in range(size)]
        predicted = answer(event("Sue", *(("plaintiff", value) for value in values)))
        response = "<think>" + "z\n" * (5 * size) + " ".join(values) + f" plaintiff</think>{predicted}"
        begin = time.process_time()
        checker.score(response, gold())
        return max(time.process_time() - begin, LEAST)

    # Eight times as much: linear is eight, quadratic sixty-four.
    assert any(check(400) < 30 * check(50) for _ in range(TRIES))
