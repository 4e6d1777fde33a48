"""A sample to look at: its errors, its source text and answer with all that explains them marked, its thought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.finding import cut
from goldgate.core.page import Block, Column, Name, Pair, Pairs, Paragraph, Table
from goldgate.core.unit_page import MarkedText, UnitPage, UnitSection
from goldgate.suites.extraction.look.answer import answer
from goldgate.suites.extraction.look.marks import source_text, thought_text
from goldgate.suites.extraction.look.sample import LookedAt, look_at
from goldgate.suites.extraction.look.summary import summary
from goldgate.suites.extraction.look.tables import MOST_ROWS, arguments, errors
from goldgate.suites.extraction.response.parsed import Status

_NO_GOLD = "The gold record is not there any more, or has changed since: its text is not shown."
_NO_TEXT = "The gold record has no source text."


def unit_page(record: Mapping[str, Any], given: Mapping[str, Any]) -> UnitPage:
    """Errors first, then the texts that explain them. What is not given any more is said in its place."""
    sample = look_at(record, given)
    sections = [UnitSection(title, blocks) for title, blocks in _sections(sample) if blocks]
    return UnitPage(record["id"], tuple(sections))


def _sections(sample: LookedAt) -> Iterator[tuple[str, tuple[Block | MarkedText, ...]]]:
    record = sample.record
    yield "Result", (Paragraph(summary(record).word or "Nothing went wrong."),)
    unread = record["parse"] is None or record["parse"]["status"] == Status.ERROR
    yield "Answer", answer(sample) if unread else ()  # it explains all the rest
    yield "Errors", errors(sample) if record["errors"] else ()
    yield "Source text", (_source(sample),)
    yield "Arguments", arguments(sample) if record["gold"] or record["predicted"] else ()
    yield "Answer", () if unread else answer(sample)
    yield "Thought", _thought(sample)
    yield "Unsupported values", _unsupported(record["hallucination"])
    yield "Not in the expected form", _violations(record["violations"])


def _source(sample: LookedAt) -> Block | MarkedText:
    if sample.gold_record is None:
        return Paragraph(_NO_GOLD)
    if not sample.gold_record.text:
        return Paragraph(_NO_TEXT)
    return source_text(sample, sample.gold_record.text)


def _thought(sample: LookedAt) -> tuple[Block | MarkedText, ...]:
    """The thought with the predicted values that it names, and what was found about it."""
    thought = sample.parsed.thought.strip() if sample.parsed is not None else ""
    blocks: list[Block | MarkedText] = [thought_text(sample, thought)] if thought else []
    check = sample.record["cot"]
    if check is not None:
        blocks.append(Pairs(tuple(_check(check))))
    return tuple(blocks)


def _check(check: Mapping[str, Any]) -> Iterator[Pair]:
    yield Pair("check", (check["bucket"],))
    if check["mentioned"] is None:
        return
    yield Pair("types it names", (*check["mentioned"],) or ("none",))
    yield Pair("types as in the answer", ("yes" if check["type_consistent"] else "no",))
    missing = check["missing"]
    first = "" if missing is None else f": the first that it does not name is {' · '.join(missing[:2])} “{missing[2]}”"
    yield Pair("arguments as in the answer", (("yes" if check["argument_consistent"] else "no") + cut(first),))
    if check["copied"]:
        yield Pair("copied", ("the thought is the answer over again",))


def _unsupported(check: Mapping[str, Any] | None) -> tuple[Block, ...]:
    if check is None or not check["unsupported"]:
        return ()
    columns = (Column("event type"), Column("role"), Column("value"))
    rows = [(Name(event_type), Name(role), cut(text)) for event_type, role, text in check["unsupported"]]
    return (Table(columns, tuple(rows[:MOST_ROWS])),)


def _violations(found: list[Mapping[str, Any]]) -> tuple[Block, ...]:
    rows = tuple((Name(entry["violation"]), Name(cut(entry["path"]))) for entry in found[:MOST_ROWS])
    return (Table((Column("violation"), Column("path")), rows),) if rows else ()
