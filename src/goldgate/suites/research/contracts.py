"""The shapes of the stored artifacts. These types read the files, and the JSON Schemas are generated from them.

A decoded file that fits its type is used as it is; what an agent records beyond these fields is left alone.
"""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from goldgate.shape.kinds import AtLeast, Matching, NotEmpty
from goldgate.suites.research.report_contract import Report, TrialRecord

Words = Annotated[str, Matching(r"\S", "a text that is not blank")]
Identifier = Annotated[str, Matching(r"^\S([\s\S]*\S)?(?![\s\S])", "an id, neither blank nor padded with blanks")]
Hash = Annotated[str, Matching(r"^(sha256:)?[0-9a-fA-F]{64}(?![\s\S])", "a SHA-256 hash of 64 hexadecimal digits")]
StepNumber = Annotated[int, AtLeast(0)]

StopReason = Literal["OBJECTIVE_ACHIEVED", "BUDGET_EXCEEDED", "NO_EVIDENCE", "HUMAN_REQUESTED", "SYSTEM_ERROR"]
Status = Literal["verified", "candidate", "retracted"]


class Pins(TypedDict, total=False):
    """What evidence ids are bound to; every run must record the same."""

    corpus_id: Words
    index_id: Words
    chunker: Words


class GoldenQuery(TypedDict):
    """An objective, the evidence that must be found for it, and whether there is enough to find.

    `artifact_hashes` are those of sources that the evaluator knows: records that reach one are `anchored`.
    """

    objective: Words
    required_evidence_ids: list[Identifier]
    evidence_sufficient: bool
    id: NotRequired[Identifier]
    tags: NotRequired[list[str]]
    notes: NotRequired[str]
    artifact_hashes: NotRequired[list[Hash]]


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

    evidence_id: Words
    chunk_id: str
    quote: NotRequired[str | None]
    span: NotRequired[Span | None]
    provenance: Provenance


class Claim(TypedDict):
    """What the agent states, and the evidence that it cites for it."""

    claim_id: Words
    statement: str
    status: Status
    evidence_ids: NotRequired[list[str]]
    evidence: NotRequired[list[Evidence]]


class ListedStep(TypedDict):
    """A step as the output lists it."""

    step_id: StepNumber


class ResearchOutput(TypedDict):
    """research_output.json: what a run came to."""

    run_id: Words
    objective: Words
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


class Manifest(TypedDict):
    """The context of one step: what was asked, what came up, what was taken."""

    run_id: str
    step_id: StepNumber
    retrieval_query: str
    candidate_chunk_ids: list[str]
    selected_chunk_ids: list[str]


class Chunk(TypedDict):
    """A line of chunks.jsonl: the stored text that evidence points to."""

    chunk_id: Words
    source_id: str
    text: str
    artifact_id: NotRequired[str | None]
    start_offset: NotRequired[int | None]
    end_offset: NotRequired[int | None]
    text_hash: NotRequired[str | None]


# File name → title and type. A new artifact is a line here; `goldgate schemas` writes them all.
CONTRACTS: dict[str, tuple[str, Any]] = {
    "golden_queries.schema.json": ("Golden queries", GoldenQueries),
    "research_output.schema.json": ("ResearchOutput", ResearchOutput),
    "event.schema.json": ("Event, a line of events.jsonl", Event),
    "manifest.schema.json": ("Context manifest", Manifest),
    "chunk.schema.json": ("Chunk, a line of chunks.jsonl", Chunk),
    "report.schema.json": ("Report of the research suite", Report),
    "research_run.schema.json": ("Trial, a line of runs.jsonl", TrialRecord),
}
