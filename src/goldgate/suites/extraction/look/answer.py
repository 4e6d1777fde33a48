"""What a model answered, with the place that was read, each repair, what was left out, and its thought marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import orjson

from goldgate.core.excerpt import marked_text
from goldgate.core.page import Block, Column, Measured, Name, Pair, Pairs, Paragraph, Table
from goldgate.core.unit_page import Mark, MarkedText
from goldgate.suites.extraction.look.sample import LookedAt
from goldgate.suites.extraction.response import Parsed, Status
from goldgate.suites.extraction.response.cursor import MOST_PLACES
from goldgate.suites.extraction.response.thoughts import ThoughtState, cut_thoughts
from goldgate.suites.extraction.response.words import METHODS, REASONS, STATUSES, STEPS

READ, REPAIR, LEFT_OUT, THOUGHT = "read", "repair", "left out", "thought"

_NOT_THERE = "The prediction is not there any more, or has changed since."
_NO_PLACES = "Where each repair was made is not known: the protocol is not there any more, or has changed since."
_OTHERWISE = "This version of goldgate reads the answer otherwise than the report did, so repairs are not marked."


def answer(sample: LookedAt) -> tuple[Block | MarkedText, ...]:
    """The answer and how it was read."""
    parse = sample.record["parse"]
    if parse is None:
        return (Paragraph("There is no prediction for this sample."),)
    blocks: list[Block | MarkedText] = [_how(sample)]
    if not sample.has_prediction:
        return (*blocks, Paragraph(_NOT_THERE))
    if sample.response is None:
        text = orjson.dumps(sample.events, option=orjson.OPT_INDENT_2).decode()
        return (*blocks, marked_text(text, ()))
    if parse["repairs"] and sample.parsed is None:
        blocks.append(Paragraph(_OTHERWISE if sample.read_otherwise else _NO_PLACES))
    notes = ["The response is empty."] if not sample.response else []
    if sample.parsed is not None and len(sample.parsed.places) >= MOST_PLACES:
        notes.append(f"Of the repairs about {MOST_PLACES:,} are marked.")
    blocks.append(marked_text(sample.response, _marks(sample, sample.response), notes))
    if sample.parsed is not None and sample.parsed.places:
        blocks.append(_repairs(sample.parsed))
    return tuple(blocks)


def _how(sample: LookedAt) -> Pairs:
    parse = sample.record["parse"]
    rows = [
        Pair("read", (f"{parse['status']}: {STATUSES.get(parse['status'], '')}",)),
        Pair("found", (f"{parse['method']}: {METHODS.get(parse['method'], '')}",)),
    ]
    if parse["repairs"]:
        rows.append(Pair("repairs", tuple(parse["repairs"])))
    reasons = dict.fromkeys(entry["reason"] for entry in parse["left_out"])
    if reasons:
        rows.append(Pair("left out", tuple(f"{reason}: {REASONS.get(reason, '')}" for reason in reasons)))
    return Pairs(tuple(rows))


def _marks(sample: LookedAt, response: str) -> Iterator[Mark]:
    parse = sample.record["parse"]
    if parse["start"] is not None:
        wrong = "not decoded" if parse["status"] == Status.ERROR else ""
        yield Mark(parse["start"], parse["end"], READ, "read as the answer", wrong)
    for entry in parse["left_out"]:
        yield Mark(entry["start"], entry["end"], LEFT_OUT, entry["reason"])
    if sample.parsed is not None:
        for place in sample.parsed.places:
            yield Mark(place.at, place.at + 1, REPAIR, str(place.step))
    if parse["thought"] != ThoughtState.NONE and sample.reader is not None:
        for start, end in _thoughts(sample, response):
            yield Mark(start, end, THOUGHT, "thought")


def _thoughts(sample: LookedAt, response: str) -> Iterator[tuple[int, int]]:
    """Where the thoughts stand, without the prefix that the prompt holds."""
    assert sample.reader is not None  # asked before
    given = sample.reader.form.prefixed(response)
    before = len(given) - len(response)
    found = cut_thoughts(given, sample.reader.settings.response.thought_tags)
    tail = () if found.tail is None else ((found.tail, len(given)),)
    for start, end in (*found.spans, *tail):
        if end > before and end > start:
            yield max(0, start - before), end - before


def _repairs(parsed: Parsed) -> Table:
    """Each step with what it means and how often it was done."""
    steps = Counter(place.step for place in parsed.places)
    rows = tuple((Name(str(step)), STEPS[step], Measured(count)) for step, count in sorted(steps.items()))
    return Table((Column("repair"), Column("what was done"), Column("times")), rows)
