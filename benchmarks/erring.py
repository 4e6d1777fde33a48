"""Answers of a model that errs, F1 about 0.7: what `make_data.py` writes for the main row of the benchmark.

Arguments are wrong, extra, missing, under another role or type, in another case or spacing, null, or numbers; half of
the answers have a value that is not in the text, a third have offsets, as their gold has. Thoughts go through the
arguments in the order of the answer, in another one, or leave some out. 5 % of the answers are broken, each in a
manner of `tests/responses`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

Event = dict[str, Any]
Argument = dict[str, Any]

BROKEN = 0.05
OFFSETS = 1 / 3
EXTRA = 0.04  # for each argument of the gold
OTHER_TYPE = 0.02
# What becomes of an argument of the gold: so many in a hundred. The rest is right.
KINDS = {"spelled": 7, "wrong": 6, "boundary": 5, "unsupported": 5, "missing": 7, "role": 3, "null": 2, "number": 2}


def response(rng: random.Random, record: dict[str, Any], roles: Mapping[str, tuple[str, ...]], chinese: bool) -> str:
    """What the model answers about a gold record."""
    text: str = record["text"]
    events = [_event(rng, event, text, roles, chinese) for event in record["events"]]
    if any("start" in argument for event in record["events"] for argument in event["arguments"]):
        add_offsets(events, text)
    if rng.random() < OTHER_TYPE:
        events[0]["event_type"], events[1]["event_type"] = events[1]["event_type"], events[0]["event_type"]
    thought = _thought(rng, events)
    answer = orjson.dumps(events, option=orjson.OPT_INDENT_2).decode()  # as models write it
    if rng.random() < BROKEN:
        return rng.choice(MANNERS)(rng, thought, answer)
    return f"<thought>\n{thought}\n</thought>\n```json\n{answer}\n```"


def _event(rng: random.Random, event: Event, text: str, roles: Mapping[str, tuple[str, ...]], chinese: bool) -> Event:
    arguments: list[Argument] = []
    of_type = roles[event["event_type"]]
    for wanted in event["arguments"]:
        role, value = wanted["role"], wanted["argument"]
        kind = rng.choices([*KINDS, "right"], [*KINDS.values(), 100 - sum(KINDS.values())])[0]
        if kind != "missing":
            arguments.append(_argument(rng, kind, role, value, text, of_type, chinese))
        if rng.random() < EXTRA:
            arguments.append({"role": rng.choice(of_type), "argument": _stretch(rng, text)})
    return {**event, "arguments": arguments}


def _argument(
    rng: random.Random, kind: str, role: str, value: str, text: str, roles: tuple[str, ...], chinese: bool
) -> Argument:
    if kind == "role":
        # Another role of the type, or a name that the schema does not know.
        return {"role": rng.choice((*roles, f"{role}2")), "argument": value}
    if kind == "null":
        return {"role": role, "argument": None}
    if kind == "number":
        return {"role": role, "argument": rng.choice((rng.randint(1, 99_999), rng.randint(1, 9999) / 100))}
    made = {
        "spelled": lambda: _spelled(rng, value, chinese),
        "wrong": lambda: _stretch(rng, text),
        "boundary": lambda: rng.choice((value[1:], value[:-1], _longer(value, text))),
        "unsupported": lambda: _shuffled(rng, value),
    }
    return {"role": role, "argument": made[kind]() if kind in made else value}


def _spelled(rng: random.Random, value: str, chinese: bool) -> str:
    """The same value to a reader: in another case, with other blanks, or in full-width letters."""
    middle = len(value) // 2
    if chinese:
        wide = "".join(chr(ord(each) + 0xFEE0) if each in "0123456789,%" else each for each in value)
        return rng.choice((value[:middle] + " " + value[middle:], wide, value + "\u3000"))
    return rng.choice((value.upper(), value.lower(), value.replace(" ", "  "), f" {value}"))


def _stretch(rng: random.Random, text: str) -> str:
    """Something else that stands in the text."""
    start = rng.randrange(len(text) - 12)
    return text[start : start + rng.randint(4, 12)].strip() or text[:4]


def _longer(value: str, text: str) -> str:
    at = text.find(value)
    return text[at : at + len(value) + 2] if at >= 0 else value


def _shuffled(rng: random.Random, value: str) -> str:
    letters = [*value, "x"]
    rng.shuffle(letters)
    return "".join(letters).strip()


def add_offsets(events: list[Event], text: str) -> None:
    """Where each value stands that is in the text."""
    for argument in [argument for event in events for argument in event["arguments"]]:
        value = argument["argument"]
        at = text.find(value) if isinstance(value, str) else -1
        if at >= 0:
            argument["start"], argument["end"] = at, at + len(value)


def _thought(rng: random.Random, events: list[Event]) -> str:
    """A line for each type and argument: all in order, in another order, or not all of them."""
    manner = rng.choice(("in order", "shuffled", "incomplete"))
    blocks = []
    for event in events:
        lines = [f"{a['role']}: {a['argument']}" for a in event["arguments"]]
        if manner == "shuffled":
            rng.shuffle(lines)
        elif manner == "incomplete":
            lines = [line for line in lines if rng.random() < 0.7]
        blocks.append("\n".join([event["event_type"], *lines]))
    if manner == "shuffled":
        blocks.reverse()
    return "\n".join(blocks)


# The manners of `tests/responses`, a few of each file: from a thought and a sound answer to what the model wrote.

Manner = Callable[[random.Random, str, str], str]


def _fenced(answer: str, thought: str) -> str:
    return f"<thought>\n{thought}\n</thought>\n```json\n{answer}\n```"


def _cut(rng: random.Random, thought: str, answer: str) -> str:
    return _fenced(answer, thought)[: len(thought) + rng.randrange(len(answer) // 4, len(answer))]


def _without_a_mark(rng: random.Random, thought: str, answer: str) -> str:
    places = [mark.start() for mark in re.finditer(r'[\[\]{},:"]', answer)]
    at = rng.choice(places)
    return _fenced(answer[:at] + answer[at + 1 :], thought)


def _template_before(_: random.Random, thought: str, answer: str) -> str:
    form = '[{"event_type": "string", "arguments": [{"role": "string", "argument": "string"}]}]'
    return f"The form is {form}.\n" + _fenced(answer, thought)


MANNERS: tuple[Manner, ...] = (
    _cut,
    _cut,
    _cut,
    _without_a_mark,
    _without_a_mark,
    _template_before,
    lambda _, thought, answer: _fenced(answer[:-1].rstrip() + ",\n]", thought),
    lambda _, thought, answer: _fenced(answer.replace('"', "'"), thought),
    lambda _, thought, answer: _fenced(answer.replace('"', "“"), thought),
    lambda _, thought, answer: _fenced(answer.replace('",', '"，').replace('":', '"：'), thought),
    lambda _, thought, answer: _fenced(answer.replace('"role"', "role").replace('"argument"', "argument"), thought),
    lambda _, thought, answer: _fenced(answer.replace("null", "None").replace("},", "},  // next", 1), thought),
    lambda _, thought, __: f"<thought>\n{thought}\n</thought>\nThere is nothing to extract.",
    lambda _, thought, answer: f"<thought>\n{thought}\n```json\n{answer}\n```",
    lambda _, thought, answer: f"{thought}\nSo the answer is {answer} and nothing else.",
    lambda _, thought, answer: _fenced(orjson.dumps(answer).decode(), thought),
    lambda _, thought, answer: f"{_fenced(answer, thought)}\nassistant\n{answer[: len(answer) // 2]}",
    lambda _, thought, answer: f"{_fenced(answer, thought)}\nWait, corrected:\n```json\n{answer}\n```",
    lambda _, thought, answer: f"<thought>{thought}</thought>\n<answer>{answer}</answer>",
    lambda _, thought, answer: f"{thought}\n```python\nanswer = {answer}\nprint(answer)\n```",
)
