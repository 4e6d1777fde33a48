"""The shapes of the stored artifacts and of the report, from which the JSON Schemas are generated.

A decoded file that fits its type is used as it is; fields beyond these are ignored.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from goldgate.core.contracts import (
    CountedRecord,
    ErrorReport,
    EstimateValue,
    PlainMean,
    PlainRate,
    RateValue,
    SuiteMetrics,
    SuiteReport,
)
from goldgate.readers.draw import DrawHeader
from goldgate.readers.label_checks import LabelDraws
from goldgate.readers.labels import LabelDigest
from goldgate.shape import AtLeast, Matching, NotEmpty

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


class MainMetrics(TypedDict):
    """The four main metrics."""

    evidence_coverage_rate: RateValue
    golden_recall: RateValue
    abstention_accuracy: RateValue
    manifest_integrity: RateValue


class CompanionMetrics(TypedDict):
    """What keeps the four honest."""

    false_abstention_rate: RateValue
    cited_golden_recall: RateValue
    ledger_precision: RateValue
    run_completion_rate: RateValue
    uncited_evidence_rate: RateValue
    claim_support_rate: NotRequired[EstimateValue]  # with labels


class ResearchMetricsValue(SuiteMetrics):
    """All metrics, with the version of their definitions."""

    main: MainMetrics
    companions: CompanionMetrics


class LevelsValue(TypedDict):
    """How many valid records were checked to which level."""

    structural: int
    verbatim: int
    chain: int
    anchored: int


class EvidenceValue(TypedDict):
    """The ledgers of all runs that are not broken. `note` says what levels do not prove where no corpus is given."""

    levels: LevelsValue
    failures: dict[str, int]
    note: str | None


class OverTrials(TypedDict):
    """A rate over the trials of one query; one that is missing has hit nothing."""

    best: PlainRate
    worst: PlainRate
    mean: PlainMean


class QueryValue(TypedDict):
    """One golden query and what became of it."""

    objective: str
    id: str | None
    evidence_sufficient: bool
    required_ids: int
    status: Literal["answered", "broken", "missing"]
    trials: int
    owed_trials: int
    broken_trials: int
    recall: OverTrials | None
    abstention: OverTrials | None
    right_abstentions: int | None


class RunValue(TypedDict):
    """One run. `query` is its place in `queries`. Runs that differ in ids and times only have one `fingerprint`.

    `copies` is the number of directories, beside this one, that hold the same run: each counts as often as the run
    itself in rates that are worse for it. `unknown_objective` is there where no query has it: such a run counts only in
    rates that are worse for it.
    """

    run: str
    run_id: str | None
    query: int | None
    status: Literal["evaluated", "broken"]
    reason: str | None
    stop_reason: str | None
    verified_claims: int
    covered_claims: int
    required_ids: int
    found_ids: int
    ledger: int
    uncited: int
    structural: int
    verbatim: int
    chain: int
    anchored: int
    steps: int
    steps_with_manifest: int
    fingerprint: str | None
    unknown_objective: NotRequired[str]
    copies: NotRequired[int]


RUN_LIES_DEEPER = "a run lies deeper: "  # how the reason begins that names a run in a folder that is not read


class IgnoredValue(TypedDict):
    """What was not read, and why."""

    path: str
    reason: str


class QueryBalance(TypedDict):
    """total = answered + missing; those answered by broken runs only are among the answered."""

    total: int
    answered: int
    missing: int
    broken_only: int


class TrialBalance(TypedDict):
    """total = runs + missing, over the golden queries; every one owes the same number."""

    total: int
    runs: int
    missing: int


class DirectoryBalance(TypedDict):
    """total = runs + ignored."""

    total: int
    runs: int
    ignored: int


class RunBalance(TypedDict):
    """total = evaluated + broken."""

    total: int
    evaluated: int
    broken: int


class ClaimBalance(TypedDict):
    """total = verified + candidate + retracted; unreadable ones are among the verified."""

    total: int
    verified: int
    candidate: int
    retracted: int
    unreadable: int


class EvidenceBalance(TypedDict):
    """total = valid + failed."""

    total: int
    valid: int
    failed: int


class StepBalance(TypedDict):
    """total = with_manifest + without_manifest."""

    total: int
    with_manifest: int
    without_manifest: int
    orphan_manifests: int


class Conservation(TypedDict):
    """Nothing drops out: each total is the sum of its parts."""

    queries: QueryBalance
    trials: TrialBalance
    directories: DirectoryBalance
    runs: RunBalance
    claims: ClaimBalance
    evidence: EvidenceBalance
    steps: StepBalance
    files_read: int


class GoldenInput(TypedDict):
    sha256: str
    queries: int


class OutputsInput(TypedDict):
    sha256: str
    runs: int


class CorpusInput(TypedDict):
    sha256: str
    hashes: int


class ResearchInputsValue(TypedDict):
    """Digests of what the numbers come from; `labels` and `draw` where labels were given."""

    golden: GoldenInput
    outputs: OutputsInput
    corpus: CorpusInput | None
    labels: NotRequired[list[LabelDigest]]
    draw: NotRequired[str | None]
    protocol: str | None
    baseline: str | None


class SupportValue(TypedDict):
    """Who labelled verified claims, and which: `items` are those with valid evidence, of which people labelled some."""

    claims: int
    items: int
    labelled: int
    unsure: int
    without_judge_label: int
    sampling: Literal["drawn", "complete", "trusted"]
    people: list[str]
    judges: list[str]
    label_draws: LabelDraws | None
    draw: DrawHeader | None


class ResearchDetails(TypedDict):
    """The parts of a report that only this suite has."""

    evidence: EvidenceValue
    conservation: Conservation
    queries: list[QueryValue]
    runs: list[RunValue]
    ignored: list[IgnoredValue]
    support: NotRequired[SupportValue]  # with labels


class ResearchReport(SuiteReport, ResearchDetails):
    """A report with numbers; one that ended in SYSTEM_ERROR has `error` instead."""

    suite: Literal["research"]
    inputs: ResearchInputsValue
    metrics: ResearchMetricsValue


class RunOfQuery(RunValue):
    """A run, what it was asked, and how many of its evidence records fail for what reason.

    `uncovered_claims` and `missing_ids` name the first 1,000 verified claims that are not covered, and required ids
    that are not valid records. `findings` are the codes of what was found in it; `sha256` is the digest of its
    files, their names and bytes.
    """

    objective: str | None
    query_id: str | None
    uncovered_claims: list[str]
    missing_ids: list[str]
    failures: dict[str, int]
    findings: list[str]
    sha256: str | None


class RunRecord(RunOfQuery, CountedRecord):
    """A line of runs.jsonl: a run with what it counted."""


class OwedTrials(TypedDict):
    """The trials that a query owes and has not."""

    run: None
    objective: str
    query_id: str | None
    status: Literal["missing"]
    trials: int


class MissingTrials(OwedTrials, CountedRecord):
    """A line of runs.jsonl for the trials that a query owes and has not."""


TrialOfQuery = RunOfQuery | OwedTrials

TrialRecord = RunRecord | MissingTrials


NonBlankText = Annotated[str, Matching(r"\S", "a text that is not blank")]
Identifier = Annotated[str, Matching(r"^\S([\s\S]*\S)?(?![\s\S])", "an id, neither blank nor padded with blanks")]
Sha256Text = Annotated[
    str, Matching(r"^(sha256:)?[0-9a-fA-F]{64}(?![\s\S])", "a SHA-256 hash of 64 hexadecimal digits")
]
StepNumber = Annotated[int, AtLeast(0)]

StopReason = Literal["OBJECTIVE_ACHIEVED", "BUDGET_EXCEEDED", "NO_EVIDENCE", "HUMAN_REQUESTED", "SYSTEM_ERROR"]
Status = Literal["verified", "candidate", "retracted"]


class Pins(TypedDict, total=False):
    """What evidence ids are bound to; every run must record the same."""

    corpus_id: NonBlankText
    index_id: NonBlankText
    chunker: NonBlankText


class GoldenQuery(TypedDict):
    """An objective, the evidence that must be found for it, and whether there is enough to find.

    `artifact_hashes` are those of sources that the evaluator knows: records that reach one are `anchored`.
    """

    objective: NonBlankText
    required_evidence_ids: list[Identifier]
    evidence_sufficient: bool
    id: NotRequired[Identifier]
    tags: NotRequired[list[str]]
    notes: NotRequired[str]
    artifact_hashes: NotRequired[list[Sha256Text]]


Queries = Annotated[list[GoldenQuery], NotEmpty("at least one query")]


class GoldenFile(TypedDict):
    """Golden queries with the index that they were made for."""

    schema_version: str | int
    pins: NotRequired[Pins]
    queries: Queries


GoldenQueries = Queries | GoldenFile


class Span(TypedDict):
    """Code points of the chunk's text, the end exclusive."""

    start: int
    end: int


class Provenance(TypedDict):
    """Where the quoted text comes from; a source_id or an artifact_id must say something."""

    source_id: NotRequired[str | None]
    artifact_id: NotRequired[str | None]
    uri: NotRequired[str | None]
    content_hash: NotRequired[str | None]


class Evidence(TypedDict):
    """An entry of the ledger: a quote, a span or both, in a chunk, with provenance."""

    evidence_id: NonBlankText
    chunk_id: str
    quote: NotRequired[str | None]
    span: NotRequired[Span | None]
    provenance: Provenance


class Claim(TypedDict):
    """What the agent states, and the evidence that it cites for it."""

    claim_id: NonBlankText
    statement: str
    status: Status
    evidence_ids: NotRequired[list[str]]
    evidence: NotRequired[list[Evidence]]


class ListedStep(TypedDict):
    """A step as the output lists it."""

    step_id: StepNumber


class ResearchOutput(TypedDict):
    """research_output.json: what a run came to."""

    run_id: NonBlankText
    objective: NonBlankText
    stop_reason: StopReason
    claims: list[Claim]
    evidence: NotRequired[list[Evidence]]
    steps: NotRequired[list[StepNumber | ListedStep]]
    corpus_id: NotRequired[str | None]
    index_id: NotRequired[str | None]
    chunker: NotRequired[str | None]


class Event(TypedDict):
    """A line of events.jsonl. `objective`, `stop_reason`, and `claim_id` with `status`, are read from the payload."""

    run_id: str
    step_id: StepNumber | None
    event_type: str
    payload: dict[str, object]


class RecordedManifest(TypedDict):
    """The least that says of which step a manifest is."""

    run_id: str
    step_id: StepNumber


class Manifest(RecordedManifest):
    """The context of one step: what was asked, what came up, what was taken."""

    retrieval_query: str
    candidate_chunk_ids: list[str]
    selected_chunk_ids: list[str]


class Chunk(TypedDict):
    """A line of chunks.jsonl: the stored text that evidence points to."""

    chunk_id: NonBlankText
    source_id: str
    text: str
    artifact_id: NotRequired[str | None]
    start_offset: NotRequired[int | None]
    end_offset: NotRequired[int | None]
    text_hash: NotRequired[str | None]


# File name → title and type. A new artifact is a line here; `goldgate contracts` writes them all.
CONTRACTS: dict[str, tuple[str, Any]] = {
    "golden_queries.schema.json": ("Golden queries", GoldenQueries),
    "research_output.schema.json": ("ResearchOutput", ResearchOutput),
    "event.schema.json": ("Event, a line of events.jsonl", Event),
    "manifest.schema.json": ("Context manifest", Manifest),
    "chunk.schema.json": ("Chunk, a line of chunks.jsonl", Chunk),
    "report.schema.json": ("Report of the research suite", ResearchReport | ErrorReport),
    "research_run.schema.json": ("Trial, a line of runs.jsonl", TrialRecord),
}
