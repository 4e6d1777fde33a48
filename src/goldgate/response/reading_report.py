"""What a report says about reading answers: rates and findings of all, and one answer with its repairs marked.

The rates say how many answers were read as they stand, after repairs, or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from goldgate.core.finding import Finding
from goldgate.core.measure import UNITS_COLUMN, RatioMeasure, count_names
from goldgate.core.metric import Count, Metrics
from goldgate.core.page import Block, Column, LabelList, LabelRow, MeasuredValue, Name, Paragraph, Table
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.core.unit_page import Mark, MarkedText, marked_text
from goldgate.response import cut_thoughts
from goldgate.response.parsed import (
    MAX_PLACES,
    METHOD_MEANINGS,
    METHODS,
    REASON_MEANINGS,
    STATUS_MEANINGS,
    STEP_MEANINGS,
    THOUGHT_STATES,
    Method,
    Parsed,
    Status,
    Step,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import ParseCounts


class ParsedFacts(Protocol):
    """Facts of a unit whose answer was read; None where there is no prediction."""

    @property
    def parsed(self) -> Parsed | None: ...


_METRIC_OF = {
    Status.RAW: "parse_raw_success",
    Status.REPAIRED: "parse_repair_success",
    Status.ERROR: "parse_errors",
}
_PARSE_COUNTS: dict[tuple[str, bool], Counts] = {  # by status, and whether there is no JSON at all
    (status, no_json): (0, *(int(status == other) for other in _METRIC_OF), int(no_json), 1)
    for status in _METRIC_OF
    for no_json in (False, True)
}
_MISSING_PREDICTION = (1, *_PARSE_COUNTS[Status.ERROR, False][1:])  # an error, for nothing was parsed


class ParseRates(RatioMeasure[ParsedFacts]):
    """raw + repaired + errors = all samples; a missing prediction is an error, for nothing was parsed."""

    table = "parse"
    columns = ("missing_predictions", *_METRIC_OF.values(), "parse_extraction_failures", UNITS_COLUMN)
    counted = {name: name for name in columns[:-1]}

    def row(self, facts: ParsedFacts) -> Counts:
        parsed = facts.parsed
        if parsed is None:
            return _MISSING_PREDICTION
        return _PARSE_COUNTS[parsed.status, parsed.method == Method.NO_JSON_FOUND]

    def totals(self, facts: ParsedFacts) -> Mapping[str, int]:
        parsed = facts.parsed
        if parsed is None:
            return {"total_samples": 1}
        totals = {"total_samples": 1, "method." + parsed.method: 1, "thought." + parsed.thought_state: 1}
        if parsed.status == Status.REPAIRED:
            totals |= count_names([f"repair.{step}" for step in parsed.repairs])
        return totals

    def metrics(self, tally: Tally) -> Metrics:
        metrics = super().metrics(tally)
        missing, errors = metrics["missing_predictions"], metrics["parse_errors"]
        assert isinstance(missing, Count)
        assert isinstance(errors, Count)
        metrics["parse_errors"] = replace(errors, missing=missing.value)
        return {"total_samples": Count(tally.counts["total_samples"]), **metrics}


def answer_findings(parsed: Parsed | None, identity: str) -> Iterator[Finding]:
    """What a reader of the report must know of an answer: that it is missing, or could not be read."""
    if parsed is None:
        yield answer_finding("missing_prediction", identity, "no prediction: everything in its gold counts as missed")
    elif parsed.status == Status.ERROR:
        yield answer_finding("unreadable_answer", identity, f"the answer cannot be read: {parsed.method}")


def answer_finding(code: str, identity: str, message: str) -> Finding:
    """A finding on the answer with this id."""
    return Finding(code, "error", "predictions", None, "", message, identity)


def parse_section(tally: Tally) -> ParseCounts:
    """How often answers were found by each method, with a thought in each state, and mended by each step."""
    counts = tally.counts
    return {
        "methods": {method: counts[f"method.{method}"] for method in METHODS},
        "thoughts": {state: counts[f"thought.{state}"] for state in THOUGHT_STATES},
        "repairs": {step.value: counts[f"repair.{step}"] for step in Step if counts[f"repair.{step}"]},
    }


PARSED = "parsed as"  # the facet of units by how their answers were read
MISSING_ANSWER = "missing"  # the value of that facet where there is no answer
READ, REPAIR, LEFT_OUT, THOUGHT = "read", "repair", "left out", "thought"


class AnswerView(NamedTuple):
    """Stored parse result and the response, if still available."""

    parse: Mapping[str, Any] | None  # status, method, repairs, start, end; None without a prediction
    left_out: Sequence[tuple[int, int, str]] = ()  # start, end and reason
    has_prediction: bool = False  # whether the stored file still has it
    response: str | None = None
    value: Any = None  # a prediction that is not a text
    parsed: Parsed | None = None  # the response parsed again; None if that is not possible or gives another result
    thoughts: Sequence[tuple[int, int]] = ()
    parse_changed: bool = False


def describe_unread(parse: Mapping[str, Any] | None) -> str:
    """Why no answer could be read; empty if one was read."""
    if parse is None:
        return "no prediction"
    if parse["status"] != Status.ERROR:
        return ""
    no_json = parse["method"] == Method.NO_JSON_FOUND
    return f"no answer read: {'nothing in it looks like one' if no_json else 'not readable as JSON'}"


def answer_facets(parse: Mapping[str, Any] | None) -> dict[str, tuple[str, ...]]:
    """Facets to filter units by: how the answer was parsed, and its repairs."""
    if parse is None:
        return {PARSED: (MISSING_ANSWER,)}
    facets: dict[str, tuple[str, ...]] = {PARSED: (parse["status"],), "answer form": (parse["method"],)}
    return {**facets, "repair": (*parse["repairs"],)} if parse["repairs"] else facets


def answer_blocks(view: AnswerView) -> tuple[Block | MarkedText, ...]:
    """The answer and how it was read."""
    if view.parse is None:
        return (Paragraph("There is no prediction for this sample."),)
    blocks: list[Block | MarkedText] = [_reading_pairs(view)]
    if not view.has_prediction:
        return (*blocks, Paragraph("The prediction is gone or has changed."))
    if view.response is None:
        text = orjson.dumps(view.value, option=orjson.OPT_INDENT_2).decode()
        return (*blocks, marked_text(text, ()))
    if view.parse["repairs"] and view.parsed is None:
        reason = "the protocol is gone or has changed"
        if view.parse_changed:
            reason = "this version of goldgate parses the answer differently"
        blocks.append(Paragraph(f"Repairs are not marked: {reason}."))
    notes = ["The response is empty."] if not view.response else []
    if view.parsed is not None and len(view.parsed.places) >= MAX_PLACES:
        notes.append(f"Of the repairs about {MAX_PLACES:,} are marked.")
    blocks.append(marked_text(view.response, _answer_marks(view, view.parse), notes))
    if view.parsed is not None and view.parsed.places:
        blocks.append(_repair_table(view.parsed))
    return tuple(blocks)


def thought_spans(response: str, prompted: str, tags: Sequence[str]) -> list[tuple[int, int]]:
    """Where the thoughts are in a response; `prompted` is the response after the prefix that the prompt holds."""
    before = len(prompted) - len(response)
    thoughts = cut_thoughts(prompted, tuple(tags))
    tail = () if thoughts.tail is None else ((thoughts.tail, len(prompted)),)
    return [
        (max(0, start - before), end - before)
        for start, end in (*thoughts.spans, *tail)
        if end > before and end > start
    ]


def _reading_pairs(view: AnswerView) -> LabelList:
    parse = view.parse or {}
    rows = [
        LabelRow(PARSED, (f"{parse['status']}: {STATUS_MEANINGS.get(parse['status'], '')}",)),
        LabelRow("answer form", (f"{parse['method']}: {METHOD_MEANINGS.get(parse['method'], '')}",)),
    ]
    if parse["repairs"]:
        rows.append(LabelRow("repairs", tuple(parse["repairs"])))
    reasons = dict.fromkeys(reason for _, _, reason in view.left_out)
    if reasons:
        meanings: Mapping[str, str] = REASON_MEANINGS
        rows.append(LabelRow("left out", tuple(f"{reason}: {meanings.get(reason, '')}" for reason in reasons)))
    return LabelList(tuple(rows))


def _answer_marks(view: AnswerView, parse: Mapping[str, Any]) -> Iterator[Mark]:
    if parse["start"] is not None and parse["end"] is not None:
        wrong = "not decoded" if parse["status"] == Status.ERROR else ""
        yield Mark(parse["start"], parse["end"], READ, "read as the answer", wrong)
    for start, end, reason in view.left_out:
        yield Mark(start, end, LEFT_OUT, reason)
    if view.parsed is not None:
        for place in view.parsed.places:
            yield Mark(place.at, place.at + 1, REPAIR, str(place.step))
    for start, end in view.thoughts:
        yield Mark(start, end, THOUGHT, "thought")


def _repair_table(parsed: Parsed) -> Table:
    """Each step with what it means and how often it was done."""
    steps = Counter(place.step for place in parsed.places)
    rows = tuple((Name(str(step)), STEP_MEANINGS[step], MeasuredValue(count)) for step, count in sorted(steps.items()))
    return Table((Column("repair"), Column("what was done"), Column("times")), rows)
