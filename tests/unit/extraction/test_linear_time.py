"""No text, however hostile, is read in more than linear time.

Steps are counted, not seconds (`steps.py`): a text four times as long may take five times the steps. Linear is four,
quadratic sixteen; the short texts are longer than any look-ahead of the reader (8,192 characters), below which its
cost still grows to its bound. `make test` takes every tenth text, shorter, and twice as long.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from goldgate import parse_response, response
from goldgate.suites.extraction.events.answer_form import CANONICAL, Form
from goldgate.suites.extraction.settings import CotSettings
from tests.cases import cases

from ..helpers import SCHEMA, answer, event, gold, scorer
from .steps import counted, steps_of

SHORT, TIMES, MOST = 20_000, 4, 5
QUICK = (9_000, 2, 3)
COSTLY = frozenset(
    {"[“'", "[「", "[' ", '["   ', '[“a”，"b”', '"', "“", "「」", "'"}
)  # so many steps that less text will do

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
    # quotation marks that are missing, doubled, mixed, escaped
    '[{"a": "b, ',
    '{"role": "r, "argument": "v"}, ',
    '"a": "x", "y", ',
    '["a", b", ',
    '["a" "b" ',
    '["a"b"c", ',
    '{"a": "b" "c" ',
    '{"a": "say "hi" now", ',
    '[{""a"": ""b"", ',
    '[“a”，"b”',
    '{"a”: ',
    "[「",
    "[' ",
    '["   ',
    '[{\\"a\\": \\"b\\", ',
    '{"a": "x\n\n',
    '{"a": "x], "b": ',
    # brackets that are missing, too many, or of another kind
    '"event_type": "A", "arguments": [',
    '\n"event_type": "A"\n',
    '{"a": "b"}, "c": "d"}, ',
    '[{"a": 1}}, ',
    '{"a": {"b": 1}]',
    '"a": {"b": 1}, {"b": 2}, ',
    f"{EVENT}]",
    "{{",
    "[[], ",
    "((((",
    "[(",
    # what is no value
    "[ // \n",
    "[ # \n",
    "[\\n",
    "[\u3000",
    '{"a": b, ',
    '{"a": 1,200, ',
    "[..., ",
    # marks of a chat, corrections, wrappers
    "assistant\n",
    f"{EVENT}\nassistant\n{{",
    f"corrected {EVENT}",
    f"[{EVENT}] corrected ",
    # the next example of a prompt, calls
    f"\nText: x\n{EVENT}",
    f"\nText 2: x\n[{EVENT}",
    "\nSentence 1: x\n[] ",
    "\nText: {a: \nText: ",
    "\n> 1. ",
    "f(a=[",
    "f(a='",
    'f(a=["x"]) ',
    "(a=\\'",
    '["<think>',
    f"<think>{EVENT}</think>",
    '{"name": "f", "arguments": ',
    '{"tool_calls": [{"function": ',
    '{"events": "[',
    '{"event_type": "string"} ',
]
INSIDE = [
    *REPEATED[:17],
    '"',
    "“",
    "「」",
    "'",
    '"\\ud83d\\ude00"',
    "[INST] ",
    f"{EVENT}]",
    f"]{EVENT}",
    '{"role": "r", "argument": "x}, ',
]
FLAT = ['{"a": "b", ', '{"a b": "c, ', "{a b: c, ", '"a": ', "{} "]
# Something long between two events that makes them no row.
BETWEEN = [" ", "\n", "/* */", "// \n", "- ", "1. ", ",", "/*"]
HostileText = tuple[str, str, str, Form]  # the piece that is repeated, the text before and after, the form
HOSTILE_TEXTS: list[HostileText] = [
    *((piece, "", "", CANONICAL) for piece in REPEATED),
    *((piece, '[{"event_type": "T", "arguments": [', "", CANONICAL) for piece in INSIDE),
    *((piece, "", "", Form(flat=True)) for piece in FLAT),
    # Thirty pieces took minutes once: the pattern was tried in every way the gap can be cut.
    *((piece, EVENT, f"x{EVENT}", CANONICAL) for piece in BETWEEN),
]


@pytest.fixture(autouse=True, scope="module")
def _counted() -> Iterator[None]:
    with counted(response):
        yield


def filled(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def growth(
    work: Callable[[str], object], piece: str, begin: str = "", end: str = "", size: int = SHORT, times: int = TIMES
) -> float:
    """How many times the steps a text takes that is `times` times as long."""
    if piece in COSTLY:
        size //= 3
    short, long = (steps_of(work, begin + filled(piece, length) + end) for length in (size, size * times))
    return long / short


def growing_too_fast(texts: list[HostileText], size: int, times: int, most: float) -> list[Any]:
    """The texts of which a longer one takes more than `most` times the steps, each with how many."""
    ratios = [
        (growth(partial(parse_response, form=form), piece, begin, end, size, times), piece, begin)
        for piece, begin, end, form in texts
    ]
    return [ratio for ratio in ratios if ratio[0] > most]


def test_hostile_text_is_read_in_linear_time() -> None:
    assert growing_too_fast(HOSTILE_TEXTS[::10], *QUICK) == []


@pytest.mark.slow  # test_hostile_text_is_read_in_linear_time
@pytest.mark.parametrize("part", range(8))
def test_every_hostile_text_is_read_in_linear_time_also_where_it_is_long(part: int) -> None:
    assert growing_too_fast(HOSTILE_TEXTS[part::8], SHORT, TIMES, MOST) == []


def test_brackets_in_a_string_that_is_not_closed_are_read_in_linear_time() -> None:
    def steps(size: int) -> int:
        return steps_of(parse_response, f'[{{"role": "{"[" * size}{"]" * size}, "argument": "x"}}]')

    assert steps(SHORT * TIMES) <= MOST * steps(SHORT)


@cases("piece", ["[//", "[ # ", "{ // a", "// [\n", "[\\n// "])
def test_brackets_in_comments_are_read_in_linear_time(piece: str) -> None:
    # In seconds: a pattern that fails is one step, however far it looked. Linear is some tenths, quadratic a minute.
    began = time.process_time()
    parse_response(piece * (150_000 // len(piece)) + "x")
    assert time.process_time() - began < 10


def test_thought_of_many_lines_is_checked_in_linear_time() -> None:
    checker = scorer(SCHEMA, cot=CotSettings(enabled=True))

    def steps(size: int) -> int:
        values = [f"v{number}q" for number in range(size)]
        predicted = answer(event("Sue", *(("plaintiff", value) for value in values)))
        text = "<think>" + "z\n" * (5 * size) + " ".join(values) + f" plaintiff</think>{predicted}"
        return steps_of(lambda text: checker.score(text, gold()), text)

    assert steps(400 * TIMES) <= MOST * steps(400)


def _every_rest(text: str) -> int:
    return sum(len(text[at:]) for at in range(0, len(text), 100))


def _searched_again_and_again(text: str) -> None:
    for at in range(0, len(text), 100):
        text.find("?", at)


def _called_for_each_pair(text: str) -> None:
    for at in range(0, len(text), 400):
        for _ in range(at // 400):
            ord("x")


@cases("quadratic", [_every_rest, _searched_again_and_again, _called_for_each_pair])
def test_quadratic_work_is_noticed(quadratic: Callable[[str], object]) -> None:
    assert growth(quadratic, "x") > 3 * MOST
    assert growth(quadratic, "x", "", "", *QUICK[:2]) > 1.2 * QUICK[2]


def test_linear_work_is_not_taken_for_quadratic() -> None:
    assert TIMES - 1 < growth(lambda text: [ord(character) for character in text], "x") < TIMES + 1


def test_a_value_that_looks_like_a_placeholder_is_read_in_linear_time() -> None:
    began = time.process_time()  # seconds, for the same reason as above; quadratic takes minutes
    parse_response(f'[{{"event_type": "<{"类型" * 100_000}", "arguments": []}}]')
    assert time.process_time() - began < 10


def test_patterns_that_go_back_are_bounded() -> None:
    texts = [
        '\\""：A｛' * 25_000,
        '{"event_type": "A", "arguments": [' + ('"x" ' * 10 + "<think>") * 200 + "</think>[]",
    ]
    began = time.process_time()  # seconds, for the same reason as above: some tenths now, minutes once
    for text in texts:
        parse_response(text)
    assert time.process_time() - began < 10


HOSTILE = ["{a=b", '"', "“", "\\［[", "，\\\\", '｛\\"-', '1［［""']
MOST_STEPS = 300  # a character; without the limit 700 to 5,500 in some place


def test_hostile_text_is_read_up_to_a_limit_that_is_recorded() -> None:
    for piece in HOSTILE:
        for begin in ("", '[{"event_type": "T", "arguments": [{"role": "r", "argument": ['):
            text = begin + filled(piece, 6_000)
            assert steps_of(parse_response, text) <= MOST_STEPS * len(text), (piece, begin)
    for begin, status in (("", "error"), (f"[{EVENT}]\n", "repaired")):
        parsed = parse_response(begin + filled("{a=b", 6_000))
        assert parsed.status == status
        ((start, end, reason),) = parsed.left_out
        assert len(begin) < start < end == len(begin) + 6_000
        assert reason == "limit"


def test_long_answer_of_a_model_stays_below_the_limit() -> None:
    one = '{"event_type": "T", "arguments": [{"role": "r", "argument": "x"}, {"role": "s", "argument": ["y", "z"]}]}'
    styles = {
        "single quotes": one.replace('"', "'"),
        "smart quotes": one.replace('"', "“"),
        "full width": one.translate({ord(a): b for a, b in zip('{}[],:"', "｛｝［］，：”", strict=True)}),
        "no quotes around keys": re.sub(r'"(\w+)":', r"\1:", one),
        "no commas": one.replace(",", ""),
        "no colons": one.replace(":", ""),
        "escaped": one.replace('"', '\\"'),
        "doubled": one.replace('"', '""'),
        "no last bracket": one[:-1],
        "a mark inside": one.replace('"x"', '"x "y" z"'),
    }
    for name, style in styles.items():
        parsed = parse_response("[" + ", ".join([style] * 300) + "]")
        assert (name, len(parsed.value), parsed.left_out) == (name, 300, ())
