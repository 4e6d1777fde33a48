"""One run explained: its question, claims and steps, and every quote marked in its source.

The files of the run are read and checked again. Quotes are located under the same folding as in judging: white
space, quotation marks and dashes are normalized.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, cast

from goldgate.core.finding import Finding, limit_length
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    FindingLine,
    FindingList,
    LabelList,
    LabelRow,
    MeasuredValue,
    Name,
    Paragraph,
    Table,
)
from goldgate.core.suite import Inputs, Options, Plan
from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection, marked_text
from goldgate.errors import InputError, Place
from goldgate.files.writing import escape_name
from goldgate.readers.labels import JUDGE, LabelSet, open_labels, read_labels
from goldgate.shape.validation import type_test
from goldgate.suites.research.contracts import Manifest, RunRecord, TrialRecord
from goldgate.suites.research.golden import Golden, Query, load_corpus, load_golden
from goldgate.suites.research.report import run_summary
from goldgate.suites.research.run import JudgedFiles, RunFacts, RunSettings, judge_files
from goldgate.suites.research.run.claims import ClaimItem, JudgedRun, cited_ids, evidence_records, make_claim_items
from goldgate.suites.research.run.evidence import LEVELS, EvidenceCheck, Sources, short_id
from goldgate.suites.research.run.files import RunFiles, read_run
from goldgate.suites.research.run.log import read_manifests
from goldgate.suites.research.source import OutputsListing, list_outputs, run_settings
from goldgate.suites.research.suite import ResearchSettings
from goldgate.suites.research.support import labels_by_claim
from goldgate.suites.research.text import SourceText, fold, text_range


class CheckedRecord(NamedTuple):
    """An evidence record, and what became of it."""

    record: dict[str, Any]
    check: EvidenceCheck

    @property
    def id(self) -> str:
        return str(self.record.get("evidence_id"))

    @property
    def quote(self) -> str | None:
        quote = self.record.get("quote")
        return quote if type(quote) is str else None

    @property
    def result(self) -> str:
        return self.check.level or str(self.check.failure)


_WITHOUT_ID = EvidenceCheck(None, "malformed", "an evidence record needs an evidence_id")
_manifest_fits = type_test(Manifest)


def checked_records(run: JudgedRun) -> list[CheckedRecord]:
    """The evidence records of a run, those embedded in claims as well."""
    records = [record for _, record in evidence_records(run.output) if type(record) is dict] if run.output else []
    ids = [record.get("evidence_id") for record in records]
    checks = [run.ledger.checks.get(name, _WITHOUT_ID) if type(name) is str else _WITHOUT_ID for name in ids]
    return [*map(CheckedRecord, records, checks)]


class RunInputs:
    """Looks up the query (`golden`) and the judged files (`outputs`) of a run; changed files are left out."""

    def __init__(self, listing: OutputsListing, golden: Golden, settings: RunSettings, labels: LabelSet | None) -> None:
        self._listing = listing
        self._labels = labels
        self._golden = golden
        self._settings = settings
        self._folders = {escape_name(entry.name): entry for entry in listing.directories}
        self._queries = {limit_length(query.objective): query for query in golden.queries}

    def for_unit(self, record: Mapping[str, object]) -> dict[str, Any]:
        trial = cast(TrialRecord, record)
        run = self._run(trial)
        inputs: dict[str, Any] = {"golden": self._query(trial), "outputs": run}
        if self._labels is not None and run is not None:
            inputs["labels"] = labels_by_claim(self._labels, str(trial["run"]), run.run.output)
        return {name: value for name, value in inputs.items() if value is not None}

    def _query(self, record: TrialRecord) -> Query | None:
        if record["run"] is None:
            return self._queries.get(record["objective"])
        number = record.get("query")
        return self._golden.queries[number] if type(number) is int and 0 <= number < len(self._golden.queries) else None

    def _run(self, record: TrialRecord) -> JudgedFiles | None:
        if record["run"] is None:
            return None
        entry = self._folders.get(record["run"])
        if entry is None or entry.refused is not None or not record.get("sha256"):
            return None
        files = read_run(self._listing.root, entry.name, self._settings.limits)
        if files is None or files.digest.hex() != record["sha256"]:
            return None
        return judge_files(record["run"], files, self._golden, self._settings)


@contextmanager
def open_run_inputs(inputs: Inputs, plan: Plan | None) -> Iterator[RunInputs]:
    """The inputs that are named. Without the plan or the corpus, evidence may be checked otherwise than it was."""
    golden, outputs, corpus = (next(iter(inputs.get(name) or ()), None) for name in ("golden", "outputs", "corpus"))
    queries = Golden([]) if golden is None else load_golden(golden)
    anchors = queries.anchors | (load_corpus(corpus).hashes if corpus else frozenset())
    settings = run_settings(plan or Plan(ResearchSettings()), anchors)
    with ExitStack() as stack:
        book = None
        if inputs.get("labels"):
            located = open_labels(inputs["labels"])
            stack.callback(located.store.close)
            book = read_labels(located, plan.settings.labels if plan is not None else {}, "research", people=None)
        listing = OutputsListing("", [], []) if outputs is None else list_outputs(outputs)
        yield RunInputs(listing, queries, settings, book)


QUOTE_MARK = "quote"
MAX_SOURCES = 50
_MAX_SOURCE_CHARACTERS = 4_000  # of one source: a run may cite many
_MAX_MISSING_QUOTES = 20
_MAX_QUOTE_CHARACTERS = 200  # characters of a quote that is not there


def marked_sources(sources: Sources, evidence: list[CheckedRecord]) -> Iterator[Block | MarkedText]:
    """A title and a text for each chunk that evidence names, in the order of the evidence."""
    by_chunk: dict[str, list[CheckedRecord]] = {}
    for each in evidence:
        chunk = sources.chunk_of(each.record)
        by_chunk.setdefault(str(each.record.get("chunk_id")) if chunk is None else chunk["chunk_id"], []).append(each)
    for each in evidence:
        if (other := _actual_chunk(sources, each)) is not None:
            by_chunk.setdefault(other, []).append(each)
    for number, (chunk_id, cited) in enumerate(by_chunk.items()):
        if number == MAX_SOURCES:
            yield Paragraph(f"And {len(by_chunk) - MAX_SOURCES:,} more sources.")
            return
        title, text = _source_text(sources, chunk_id, cited)
        yield Paragraph(title)
        if text is not None:
            yield _mark_quotes(text, cited)


def _actual_chunk(sources: Sources, each: CheckedRecord) -> str | None:
    """The chunk that a quote is from, where that is not the one it names."""
    if each.check.failure != "misattributed" or each.quote is None:
        return None
    other = sources.joined.find(fold(each.quote))
    return other if other != each.record.get("chunk_id") else None


def _source_text(sources: Sources, chunk_id: str, cited: list[CheckedRecord]) -> tuple[str, str | None]:
    """The chunk that was cited, or else the stored artifact that a record names."""
    chunk = sources.chunks.get(chunk_id)
    if chunk is not None:
        return f"Chunk {short_id(chunk_id)} of source {short_id(chunk['source_id'])}", chunk["text"]
    for each in cited:
        if (name := sources.named_artifact(each.record.get("provenance"))) is not None:
            title = f"Chunk {short_id(chunk_id)} is not stored; this is the artifact {short_id(name)}"
            return title, sources.artifact_text(name)
    return f"Chunk {short_id(chunk_id)} is not stored: its quotes cannot be looked up", None


def _mark_quotes(text: str, cited: list[CheckedRecord]) -> MarkedText:
    source, marks, missing = SourceText(text), [], []
    for each in cited:
        places = source.places(each.quote, text_range(each.record.get("span")))
        marks += [Mark(*place, QUOTE_MARK, short_id(each.id), each.check.failure or "") for place in places]
        if not places and each.quote is not None:
            failure = each.check.failure or "not checked"
            missing.append(f"“{limit_length(each.quote, _MAX_QUOTE_CHARACTERS)}” ({short_id(each.id)}, {failure})")
    more = [f"and {len(missing) - _MAX_MISSING_QUOTES} more"] if len(missing) > _MAX_MISSING_QUOTES else []
    notes = [f"Not in this text: {'; '.join([*missing[:_MAX_MISSING_QUOTES], *more])}."] if missing else []
    return marked_text(text, marks, notes, _MAX_SOURCE_CHARACTERS)


MAX_ROWS = 500

_NO_FILES_NOTE = "The files of this run are gone or have changed; they are not shown."
_OTHER_LEVELS_NOTE = (
    "The evidence was checked again for this page, and the levels are not those of the report: "
    "the protocol or the corpus is gone, or this is another version of goldgate."
)


def run_page(record: TrialRecord, inputs: Mapping[str, Any]) -> UnitPage:
    """The result and the question first, then the files of the run; a note where they are not stored any more."""
    judged: JudgedFiles | None = inputs.get("outputs")
    summary, evidence = run_summary(record), [] if judged is None else checked_records(judged.run)
    status = None if judged is None else {checked.id: checked.result for checked in reversed(evidence)}
    sections = [
        UnitSection("Result", (Paragraph(summary.word or "No errors."),)),
        UnitSection("Question", (_question_pairs(record, inputs.get("golden"), status),)),
    ]
    if judged is not None and status is not None and record["run"] is not None:
        parts: dict[str, tuple[Block | MarkedText, ...]] = {
            "Claims": _claim_table(judged.run.output, status, inputs.get("labels")),
            "Evidence": _evidence_table(record, judged.facts, evidence),
            "Sources": tuple(marked_sources(judged.run.sources, evidence)),
            "Findings": (_finding_rows(record, judged.findings),),
            "Steps": _step_table(judged.files),
        }
        sections += [UnitSection(title, blocks) for title, blocks in parts.items() if blocks]
    elif record["run"] is not None:
        sections.append(UnitSection("Files", (Paragraph(_NO_FILES_NOTE),)))
        codes = tuple(FindingLine("", code, "", "") for code in record["findings"])
        sections += [UnitSection("Findings", (FindingList(codes),))] if codes else []
    return UnitPage(summary.id, tuple(sections))


def _question_pairs(record: TrialRecord, query: Query | None, status: Mapping[str, str] | None) -> LabelList:
    """What was asked; `status` has the level or failure of each evidence record, where they are still stored."""
    objective = query.objective if query is not None else record["objective"]
    rows = [LabelRow("objective", (objective or "not known",))]
    if record["query_id"] is not None:
        rows.append(LabelRow("query", (record["query_id"],)))
    if query is not None:
        rows.append(
            LabelRow("evidence to find", ("sufficient" if query.sufficient else "insufficient: it must abstain",))
        )
    if query is not None and query.required:
        required = sorted(query.required)[:MAX_ROWS]
        if status is not None:
            required = [f"{name}: {status.get(name, 'not in the ledger')}" for name in required]
        rows.append(LabelRow("required evidence", tuple(required)))
    if record["run"] is not None and record["stop_reason"] is not None:
        rows.append(LabelRow("stop reason", (record["stop_reason"],)))
    return LabelList(tuple(rows))


def _claim_table(
    output: Mapping[str, Any], status: Mapping[str, str], labels: Mapping[str, list[dict[str, Any]]] | None
) -> tuple[Block, ...]:
    """Each claim with the level or the failure of the evidence that it cites, and what people and judges say of it."""
    if not output:
        return (Paragraph("The output of this run cannot be read."),)
    rows: list[tuple[Cell, ...]] = []
    for claim in output["claims"][:MAX_ROWS]:
        if type(claim) is not dict:
            rows.append(("", "", limit_length(str(claim)), "", *([] if labels is None else [""])))
            continue
        cited = [f"{short_id(name)}: {status.get(name, 'not in the ledger')}" for name in cited_ids(claim)[:50]]
        statement = claim.get("statement")
        words = limit_length(statement, 2_000) if type(statement) is str else ""
        name, claim_status = (limit_length(str(claim.get(key))) for key in ("claim_id", "status"))
        label_cell = [] if labels is None else ["; ".join(map(_label_text, labels.get(str(claim.get("claim_id")), ())))]
        rows.append((Name(name), claim_status, words, ", ".join(cited), *label_cell))
    titles = ("claim", "status", "statement", "evidence", *([] if labels is None else ["labels"]))
    columns = tuple(map(Column, titles))
    return (Table(columns, tuple(rows), empty="no claims"), *_more_note(len(output["claims"]), "claims"))


def _label_text(label: Mapping[str, Any]) -> str:
    """Who gave a claim which label, and why."""
    value, why = label.get("label"), label.get("note") or label.get("reason")
    words = "no label" if value is None else str(value) if type(value) is not bool else "yes" if value else "no"
    judge = " (judge)" if label.get("kind") == JUDGE else ""
    return limit_length(f"{label.get('by')}{judge}: {words}" + (f", “{why}”" if why else ""))


def _evidence_table(record: RunRecord, facts: RunFacts, evidence: list[CheckedRecord]) -> tuple[Block, ...]:
    """Every record of the ledger: its level, or what is wrong with it."""
    if not evidence:
        return ()
    rows = tuple(
        (
            Name(short_id(each.id)),
            each.result,
            Name(short_id(each.record.get("chunk_id"))),
            limit_length(each.quote or "", 1_000),
            each.check.message,
        )
        for each in evidence[:MAX_ROWS]
    )
    columns = (Column("evidence"), Column("result"), Column("chunk"), Column("quote"), Column("why"))
    differ = any(record[level] != getattr(facts, level) for level in LEVELS)
    note = [Paragraph(_OTHER_LEVELS_NOTE)] if differ else []
    return (*note, Table(columns, rows), *_more_note(len(evidence), "records"))


def _finding_rows(record: RunRecord, findings: list[Finding]) -> FindingList:
    """The findings of the run alone, and the codes of those that come from comparing all runs."""
    rows = []
    for each in findings:
        line = "" if each.line is None else f":{each.line}"
        place = f"{each.file}{line} {each.pointer}".rstrip()
        rows.append(FindingLine(each.severity, each.code, place, each.message))
    codes = {each.code for each in findings}
    words = "found by comparing all runs: see the report"
    rows += [FindingLine("", code, "", words) for code in record["findings"] if code not in codes]
    return FindingList(tuple(rows[:MAX_ROWS]))


def _step_table(files: RunFiles) -> tuple[Block, ...]:
    """The query of each step and how many chunks it gave, by the manifests that can be read."""
    stored = [value for _, _, value in read_manifests(files) if _manifest_fits(value)]
    manifests: list[Manifest] = sorted(stored, key=lambda value: value["step_id"])
    rows = tuple(
        (
            MeasuredValue(step["step_id"]),
            limit_length(step["retrieval_query"]),
            MeasuredValue(len(step["candidate_chunk_ids"])),
            MeasuredValue(len(step["selected_chunk_ids"])),
        )
        for step in manifests[:MAX_ROWS]
    )
    columns = (Column("step"), Column("query"), Column("candidates"), Column("selected"))
    return (Table(columns, rows), *_more_note(len(manifests), "steps")) if rows else ()


def _more_note(number: int, things: str) -> tuple[Block, ...]:
    return () if number <= MAX_ROWS else (Paragraph(f"And {number - MAX_ROWS:,} more {things}."),)


def claim_items(record: TrialRecord, inputs: Mapping[str, Any], options: Options) -> Iterator[ClaimItem]:
    """The verified claims of a run that have valid evidence; any other is not supported, whatever people say."""
    if record["run"] is None:
        return iter(())
    judged: JudgedFiles | None = inputs.get("outputs")
    if judged is None:
        raise InputError(
            "items.no_inputs", _NO_FILES_NOTE, place=Place(record["run"]), advice="put them back, or score again"
        )
    return make_claim_items(record["run"], judged.run)
