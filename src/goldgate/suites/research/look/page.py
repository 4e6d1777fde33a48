"""A run to look at: what was asked, what it claims, each quote marked in its source, what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.finding import Finding, cut
from goldgate.core.page import Block, Cell, Column, FindingLine, Findings, Measured, Name, Pair, Pairs, Paragraph, Table
from goldgate.core.unit_page import MarkedText, UnitPage, UnitSection
from goldgate.suites.research.golden import Query
from goldgate.suites.research.look.run import CheckedRecord, LookedAtRun
from goldgate.suites.research.look.sources import marked_sources
from goldgate.suites.research.look.summary import summary
from goldgate.suites.research.run.sources import LEVELS

MOST_ROWS = 500

_NO_FILES = "The files of this run are not there any more, or have changed since: they are not shown."
_OTHERWISE = (
    "The evidence was checked again for this page, and the levels are not those of the report: "
    "the protocol or the corpus is not there any more, or this is another version of goldgate."
)


def unit_page(record: Mapping[str, Any], given: Mapping[str, Any]) -> UnitPage:
    """The question and the result first. What is not given any more is said in its place."""
    short = summary(record)
    sections = [
        UnitSection("Result", (Paragraph(short.word or "Nothing went wrong."),)),
        UnitSection("Question", (_question(record, given.get("golden"), given.get("outputs")),)),
    ]
    run: LookedAtRun | None = given.get("outputs")
    if run is not None:
        sections += [UnitSection(title, blocks) for title, blocks in _sections(record, run) if blocks]
    elif record["run"] is not None:
        sections += [UnitSection("Files", (Paragraph(_NO_FILES),)), *_codes(record["findings"])]
    return UnitPage(short.id, tuple(sections))


def _sections(record: Mapping[str, Any], run: LookedAtRun) -> Iterator[tuple[str, tuple[Block | MarkedText, ...]]]:
    status = {checked.id: _word(checked) for checked in reversed(run.evidence)}
    yield "Claims", _claims(run.output, status)
    yield "Evidence", _evidence(record, run)
    yield "Sources", tuple(marked_sources(run))
    yield "Findings", (_findings(record, run.findings),)
    yield "Steps", _steps(run.manifests)


def _question(record: Mapping[str, Any], query: Query | None, run: LookedAtRun | None) -> Pairs:
    objective = query.objective if query is not None else record["objective"]
    rows = [Pair("objective", (objective or "not known",))]
    if record["query_id"] is not None:
        rows.append(Pair("query", (record["query_id"],)))
    if query is not None:
        rows.append(Pair("evidence to find", ("sufficient" if query.sufficient else "insufficient: it must abstain",)))
    if query is not None and query.required:
        status = {} if run is None else {checked.id: _word(checked) for checked in reversed(run.evidence)}
        wanted = sorted(query.required)
        known = [f"{name}: {status.get(name, 'not in the ledger')}" for name in wanted] if run is not None else wanted
        rows.append(Pair("required evidence", tuple(known[:MOST_ROWS])))
    if record.get("stop_reason") is not None:
        rows.append(Pair("stop reason", (record["stop_reason"],)))
    return Pairs(tuple(rows))


def _claims(output: Mapping[str, Any] | None, status: Mapping[str, str]) -> tuple[Block, ...]:
    """Each claim with the level or the failure of the evidence that it cites."""
    if output is None:
        return (Paragraph("The output of this run cannot be read."),)
    rows: list[tuple[Cell, ...]] = []
    for claim in output["claims"][:MOST_ROWS]:
        if type(claim) is not dict:
            rows.append(("", "", cut(str(claim)), ""))
            continue
        cited = [f"{cut(name, 100)}: {status.get(name, 'not in the ledger')}" for name in _cited(claim)]
        rows.append(
            (Name(cut(str(claim.get("claim_id")))), cut(str(claim.get("status"))), _text(claim), ", ".join(cited))
        )
    columns = (Column("claim"), Column("status"), Column("statement"), Column("evidence"))
    return (Table(columns, tuple(rows), empty="no claims"), *_more(len(output["claims"]), "claims"))


def _text(claim: Mapping[str, Any]) -> str:
    statement = claim.get("statement")
    return cut(statement, 2_000) if type(statement) is str else ""


def _cited(claim: Mapping[str, Any]) -> list[str]:
    """The ids that a claim cites, and those of the records inside it."""
    ids, inside = claim.get("evidence_ids"), claim.get("evidence")
    cited = [name for name in ids if type(name) is str] if type(ids) is list else []
    records = [each for each in inside if type(each) is dict] if type(inside) is list else []
    return [*dict.fromkeys([*cited, *(str(each.get("evidence_id")) for each in records)])][:50]


def _evidence(record: Mapping[str, Any], run: LookedAtRun) -> tuple[Block, ...]:
    """Every record of the ledger: its level, or what is wrong with it."""
    if not run.evidence:
        return ()
    rows = tuple(
        (Name(cut(each.id, 100)), _word(each), Name(cut(str(each.record.get("chunk_id")), 100)), *_quote(each))
        for each in run.evidence[:MOST_ROWS]
    )
    columns = (Column("evidence"), Column("result"), Column("chunk"), Column("quote"), Column("why"))
    counts = {level: getattr(run.facts, level) for level in LEVELS}
    otherwise = [] if all(record[level] == counts[level] for level in LEVELS) else [Paragraph(_OTHERWISE)]
    return (*otherwise, Table(columns, rows), *_more(len(run.evidence), "records"))


def _quote(each: CheckedRecord) -> tuple[str, str]:
    quote = each.record.get("quote")
    return cut(quote, 1_000) if type(quote) is str else "", each.checked.message


def _word(each: CheckedRecord) -> str:
    return each.checked.level or str(each.checked.failure)


def _findings(record: Mapping[str, Any], found: list[Finding]) -> Findings:
    """Those of the run alone, and the codes of what only a look at all runs shows."""
    rows = [FindingLine(each.severity, each.code, _place(each), each.message) for each in found]
    known = {each.code for each in found}
    words = "found when all runs were looked at together: the report has its words"
    rows += [FindingLine("", code, "", words) for code in record["findings"] if code not in known]
    return Findings(tuple(rows[:MOST_ROWS]))


def _codes(codes: list[str]) -> list[UnitSection]:
    rows = tuple(FindingLine("", code, "", "") for code in codes)
    return [UnitSection("Findings", (Findings(rows),))] if rows else []


def _place(finding: Finding) -> str:
    line = "" if finding.line is None else f":{finding.line}"
    return f"{finding.file}{line} {finding.pointer}".rstrip()


def _steps(manifests: list[dict[str, Any]]) -> tuple[Block, ...]:
    """What was asked in each step, and how much came of it."""
    rows = tuple(
        (
            Measured(step["step_id"]),
            cut(step["retrieval_query"]),
            Measured(len(step["candidate_chunk_ids"])),
            Measured(len(step["selected_chunk_ids"])),
        )
        for step in manifests[:MOST_ROWS]
    )
    columns = (Column("step"), Column("query"), Column("candidates"), Column("selected"))
    return (Table(columns, rows), *_more(len(manifests), "steps")) if rows else ()


def _more(number: int, things: str) -> tuple[Block, ...]:
    return () if number <= MOST_ROWS else (Paragraph(f"And {number - MOST_ROWS:,} more {things}."),)
