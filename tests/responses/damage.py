"""Answers damaged on purpose, and what a careful reader may still find in them.

The oracle of two laws: nothing is invented, and little is lost. It is written apart from goldgate's own walk over
events: an oracle does not ask the accused. `test_laws.py` holds the reader to it, `benchmarks/reading.py` counts
with it.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.responses.corpus import Case

SEED = int(os.environ.get("LAWS_SEED", "7"))  # `make fuzz` brings another one
MADE = 100  # answers made at random from others

Unit = tuple[str, str, str]  # event type (empty in a flat answer), role, value
Event = tuple[str, tuple[tuple[str, str], ...]]


def corpus_answers(cases: Iterable[Case]) -> list[str]:
    """Every complete JSON text of the corpus that is the answer or a part of it and has units; each once, sorted."""
    found = {
        answer
        for case in cases
        for answer in complete_values(case.response)
        if (value := json.loads(answer)) and units_of(value)(value) and _is_meant(value, case)
    }
    return sorted(found)


def complete_values(text: str) -> list[str]:
    """Each part of a text that is a JSON object with something in it, or a list with one; the outermost, in order.

    What stands inside a value that breaks off at the end of the text is no outermost one.
    """
    found, place, decoder = [], 0, json.JSONDecoder()
    while opening := _OPENING.search(text, place):
        try:
            value, place = decoder.raw_decode(text, opening.start())
        except RecursionError:
            break
        except json.JSONDecodeError as error:
            if opening[1] and (error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")):
                break
            place = opening.start() + 1
            continue
        if any(isinstance(item, dict) and item for item in items(value)):
            found.append(text[opening.start() : place])
    return found


_OPENING = re.compile(r"""[\[{](\s*["\[{])?""")  # the group: it looks like the beginning of JSON


def made_answers(answers: list[str]) -> list[str]:
    """Lists of one to four events of the given answers, laid out in one of three ways."""
    rng = random.Random(SEED)
    known = [item for answer in answers for item in items(json.loads(answer)) if "event_type" in item]
    known = [item for item in known if "Infinity" not in canonical(item)]  # what Python makes of 1e400 is no JSON
    layouts: list[dict[str, Any]] = [{}, {"indent": 2}, {"separators": (",", ":")}]
    return [
        json.dumps([rng.choice(known) for _ in range(rng.randint(1, 4))], ensure_ascii=False, **rng.choice(layouts))
        for _ in range(MADE)
    ]


def marks(answer: str) -> Iterator[int]:
    """Where the marks of structure stand in a JSON text: brackets, braces, commas, colons, the quotes of strings."""
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]', answer):
        yield token.start()
        if token.end() - token.start() > 1:
            yield token.end() - 1


def items(value: Any) -> Iterator[Any]:
    """The value, or what a list holds, lists in lists flattened."""
    if isinstance(value, list | tuple):
        for item in value:
            yield from items(item)
    elif value is not None and value != "":
        yield value


def events(value: Any) -> list[Event] | None:
    """The events of a value, each with its (role, value) pairs; None if it is no event list."""
    if isinstance(value, dict):
        value = next((value[key] for key in ("events", "event_list") if isinstance(value.get(key), list)), value)
    found = [item for item in items(value) if isinstance(item, dict) and _is_text(item.get("event_type"))]
    if not found:
        return [] if isinstance(value, list) and not list(items(value)) else None
    return [(event["event_type"].strip(), plain_pairs(_arguments(event))) for event in found]


def units_of(whole: Any) -> Callable[[Any], set[Unit]]:
    """How the units of an answer are found, and of all that becomes of it: by events, or by keys if it is flat."""
    return flat_units if events(whole) is None else event_units


def event_units(value: Any) -> set[Unit]:
    """(event type, role, value); an event without arguments is a unit of its type alone."""
    read = events(value) or []
    return {(kind, role, text) for kind, pairs in read for role, text in pairs or (("", ""),)}


def flat_units(value: Any) -> set[Unit]:
    """("", key, value) of each key in the objects of a value."""
    objects = [item for item in items(value) if isinstance(item, dict)]
    return {("", role, text) for item in objects for key in item for role, text in plain_pairs(_said(key, item[key]))}


def texts_of(units: Iterable[Unit]) -> set[str]:
    """Every event type, role and value that would be scored."""
    return {text for unit in units for text in unit if text}


def strings(value: Any) -> set[str]:
    """Every key, string and number in a value, but the empty string."""
    if isinstance(value, dict):
        return {_plain(key) for key in value if key}.union(*map(strings, value.values()))
    if isinstance(value, list | tuple):
        return set().union(*map(strings, value))
    return {text} if (text := _scalar(value)) else set()


def written(answer: str) -> set[str]:
    """Every key, string and number that stands in a JSON text, also under a key that stands there twice."""
    return strings(json.loads(answer, object_pairs_hook=list))


def plain_pairs(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs with numbers by their value."""
    return tuple((role, _plain(text)) for role, text in pairs)


def canonical(value: Any) -> str:
    """One text for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _is_meant(value: Any, case: Case) -> bool:
    """Whether a value is part of what the case expects, and no template, draft or thought."""
    expected = case.expect.events
    if expected is None:
        return case.expect.has_value and bool(case.expect.value == value)
    wanted = [(event_type, plain_pairs(pairs)) for event_type, pairs in expected]
    read = events(value)
    return bool(read) and all(event in wanted for event in read or ())


def _arguments(event: dict[str, Any]) -> Iterator[tuple[str, str]]:
    arguments = event.get("arguments")
    for argument in arguments if isinstance(arguments, list) else ():
        if isinstance(argument, dict) and _is_text(argument.get("role")):
            yield from _said(argument["role"].strip(), argument.get("argument"))


def _said(role: str, value: Any) -> Iterator[tuple[str, str]]:
    for item in value if isinstance(value, list) else [value]:
        if text := _scalar(item):
            yield role, text


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _scalar(value: Any) -> str:
    """The text of a string or a number; of everything else, none."""
    if value is None or isinstance(value, bool | dict | list | tuple):
        return ""
    return _plain(str(getattr(value, "text", value)))


def _plain(text: str) -> str:
    """The text, and of a number the value: 1.10 and 1.1, -0 and 0 are not held against either reader."""
    return repr(float(text) + 0.0) if _NUMBER.fullmatch(text) else text


_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
