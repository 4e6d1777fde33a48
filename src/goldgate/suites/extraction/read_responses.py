"""Responses read without gold, for `goldgate read`: the events in each stored answer and how it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from goldgate.core.page import count_text
from goldgate.core.suite import Options, Plan
from goldgate.report.escape import display_width, shorten, visible
from goldgate.report.responses import SHOWN_ITEMS, AnswerReader, ShownAnswer, short_name, value_lines
from goldgate.report.text import INDENT, more_line
from goldgate.suites.extraction.events.answer_form import NO_EVENT
from goldgate.suites.extraction.events.event import Violation, empty_events
from goldgate.suites.extraction.records import parse_prediction
from goldgate.suites.extraction.sample import Gold, Sample
from goldgate.suites.extraction.scorer import Scorer


class WrittenEvent(NamedTuple):
    """An event and its values as they were written; the type is None where gold has it."""

    event_type: str | None
    arguments: list[tuple[str, str]]  # role, value


def open_answer_reader(plan: Plan, options: Options) -> AnswerReader:
    """Reads answers as the scorer does, by the settings for responses; all others have no part in it."""
    metrics = plan.settings
    without_schema = replace(
        metrics, schema=replace(metrics.schema, mode="syntax_only"), cot=replace(metrics.cot, enabled=False)
    )
    return AnswerReader(_parse_answer, partial(_read_answer, Scorer(without_schema, None)))


def _parse_answer(record: Any, data: bytes) -> Sample:
    response, events = parse_prediction(record)
    nothing = response is None and events is None  # stored as null
    return Sample(Gold("", None, empty_events()), "" if nothing else response, events, data or None)


def _read_answer(scorer: Scorer, identity: str | None, answer: Sample) -> ShownAnswer:
    facts = scorer.facts(answer)
    parsed = facts.parsed
    assert parsed is not None  # there is an answer
    type_from_gold = scorer.form.flat and scorer.form.event_type is None
    events = [
        WrittenEvent(
            None if type_from_gold and event_type == NO_EVENT else event_type, list(zip(roles, texts, strict=True))
        )
        for event_type, roles, texts, _, _ in facts.predicted.columns
    ]
    violations = facts.predicted.violations
    is_list = all(entry.violation != Violation.NOT_AN_EVENT_LIST for entry in violations)
    response = answer.response or ""
    return ShownAnswer(
        identity,
        response,
        parsed,
        (count_text(len(events), "event"), count_text(sum(len(event.arguments) for event in events), "argument")),
        partial(_event_lines, events) if is_list else partial(value_lines, response, parsed),
        # The status says it where an answer was not read at all.
        [(str(entry.violation), entry.path) for entry in violations if entry.violation != Violation.NOT_PARSED],
        {
            "events": [
                {
                    "event_type": event.event_type,
                    "arguments": [{"role": role, "argument": argument} for role, argument in event.arguments],
                }
                for event in events
            ]
        },
    )


def _event_lines(events: Sequence[WrittenEvent], columns: int) -> list[str]:
    """Each event with its roles and values."""
    lines = ["Events"]
    for event in events[:SHOWN_ITEMS]:
        name = "one object; its event type is taken from gold" if event.event_type is None else event.event_type
        lines.append(shorten(f"{INDENT}{visible(name)}", columns))
        roles = [short_name(role) for role, _ in event.arguments]
        longest = max(map(display_width, roles), default=0)
        for role, (_, value) in list(zip(roles, event.arguments, strict=True))[:SHOWN_ITEMS]:
            start = f"    {role}{' ' * (longest - display_width(role))} = "
            lines.append(start + shorten(visible(value), columns - display_width(start)))
        lines += more_line(len(roles) - SHOWN_ITEMS, INDENT * 2)
    if not events:
        lines.append(f"{INDENT}none")
    return [*lines, *more_line(len(events) - SHOWN_ITEMS, INDENT * 2)]
