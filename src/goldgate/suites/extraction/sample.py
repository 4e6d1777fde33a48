"""A sample: a gold record, what the model answered, the facts that all measures share, and the fingerprint of its text.

An answer may also come as chat messages, as reward functions get them. By their fingerprints copies of a document are
found: they make every interval narrower than it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from zlib import crc32

from goldgate.core.tally import Tally
from goldgate.core.value_text import ASCII_SIGNS, Haystack, normalize
from goldgate.readers.layouts import chat
from goldgate.readers.layouts.chat import body_text, is_chat, read_chat
from goldgate.response import Parsed
from goldgate.suites.extraction.events.event import Events, Unit, Value
from goldgate.suites.extraction.events.match import NamedMistake, UnitMatches

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import DistinctCounts


@dataclass(slots=True)
class Gold:
    """A gold record: its id, its source text (None if it has none), its events, its group."""

    id: str
    text: str | None
    events: Events
    group: str | None = None  # records that belong together count as one in intervals
    event_list: Sequence[Any] = ()  # the events in our own form: profiles look for triggers in it
    shapes: tuple[str, ...] = ()  # other than our own, in which the record was written


@dataclass(slots=True)
class Sample:
    """Gold and what a model answered. Without a prediction both `response` and `events` are None."""

    gold: Gold
    response: str | None = None
    events: Any = None  # the decoded list of a structured prediction
    source: bytes | None = None  # the line that a structured prediction was decoded from
    thought: str = ""  # stored beside the response, as chat messages have it


# Text, chat messages, an endpoint's reply, decoded JSON, or None for no answer.
ResponseInput = str | list[Any] | tuple[Any, ...] | Mapping[str, Any] | None


def make_sample(response: ResponseInput, gold: Gold) -> Sample:
    """A sample of an answer as a caller has it, or of a record whose `response` it is; TypeError otherwise."""
    if isinstance(response, Mapping) and "response" in response:
        response = response["response"]
    if isinstance(response, Mapping) and chat.is_chat_record(response):
        if "messages" not in response:  # the whole reply of an endpoint
            return Sample(gold, body_text(response))
        response = response["messages"]
    if response is None or isinstance(response, str):
        return Sample(gold, response)
    if is_chat(response):
        answer = read_chat(response)
        return Sample(gold, answer.response, thought=answer.thought)
    if not isinstance(response, (list, dict)):
        raise TypeError(f"an answer is text, chat messages, decoded JSON or None, not {type(response).__name__}")
    return Sample(gold, None, response)


@dataclass(slots=True)
class Facts:
    """Computed once a sample, read by every measure and by the sample's record."""

    sample: Sample
    parsed: Parsed | None  # None where there is no prediction
    predicted: Events
    comparison: UnitMatches
    text: Haystack | None = None  # None where there is no source text
    unsupported: Sequence[Value] = ()
    mistakes: Sequence[NamedMistake] = ()
    thought: ThoughtCheck | None = None


@dataclass(slots=True)
class ThoughtCheck:
    """How the thought of a sample compares with its answer; only `bucket` where it was not checked."""

    bucket: str
    type_consistent: bool = False
    argument_consistent: bool = False
    mentioned: list[str] | None = None
    missing: Unit | None = None  # the first predicted argument that the thought does not have
    copied: bool = False  # the thought repeats the answer


_UNIT_BITS = 32
_LEAST_ARGUMENTS = 3  # in gold without a text: documents with fewer may well have the same ones
# Characters that are not seen, although they count as printable: fillers of Hangul, as normalized, the empty pattern of
# Braille, and selectors of variants.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SEEN = re.compile(r"[!-~\u4e00-\u9fff]*")  # only these, as most texts have: one look instead of two


def text_fingerprint(facts: Facts) -> int | None:
    """A number for the text of a sample and the unit that has it; None where there is too little to compare.

    Texts are compared by their letters and digits, normalized. Where gold has no text, its arguments are compared.
    Copies in one group are in one unit, and do no harm. The report's `reading.texts` is a sketch of these numbers.
    """
    letters = _gold_letters(facts)
    if not letters:
        return None
    gold = facts.sample.gold
    text = crc32(letters) << 32 | len(letters) & 0xFFFFFFFF
    unit = crc32((gold.id if gold.group is None else gold.group).encode("utf-8", "replace"))
    return text << _UNIT_BITS | unit


def text_counts(tally: Tally) -> DistinctCounts:
    """Different texts among those looked at, and the units that have them."""
    pairs = tally.sketch.kept
    return {"distinct": len({pair >> _UNIT_BITS for pair in pairs}), "units": len(pairs)}


def _gold_letters(facts: Facts) -> bytes:
    """What is compared of a sample's gold; empty where there is too little of it."""
    gold = facts.sample.gold
    if gold.text:
        letters = _letters(normalize(gold.text) if facts.text is None else facts.text.normalized)
        if letters:
            return letters
    arguments = sorted("\0".join((name, *pair)) for name, pairs in gold.events.units.items() for pair in pairs)
    return "\1".join(arguments).encode("utf-8", "replace") if len(arguments) >= _LEAST_ARGUMENTS else b""


def _letters(text: str) -> bytes:
    """A normalized text without marks, which are ASCII by then, and without what is not seen."""
    if not text.isascii() and not _SEEN.fullmatch(text):
        text = "".join(filter(str.isprintable, _UNSEEN.sub("", text)))
    return text.encode("utf-8", "replace").translate(None, ASCII_SIGNS)  # of ASCII, also what is not printable
