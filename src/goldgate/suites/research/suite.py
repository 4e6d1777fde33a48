"""The research suite: judges the stored runs of an agent that answers questions with claims and evidence.

Also the settings of a protocol's `research` section, the default gates and the alarms. Everything heavy is imported
when it is used: the command line's help names every suite.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, cast

from goldgate.core.gate import Gate
from goldgate.core.suite import Ability, Contract, Input, Inputs, Pairing, Plan, Suite, deferred
from goldgate.files.address import is_url
from goldgate.shape import Positive, Share

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.engines import EngineName
    from goldgate.pipeline import Progress
    from goldgate.protocol import ProtocolSource
    from goldgate.suites.research.contracts import TrialRecord


METRICS_VERSION = "2.2"

# eval-gates.md, "Pass/fail gates (MVP defaults)".
DEFAULT_GATES: dict[str, Gate] = {
    "evidence_coverage_rate": Gate(min=Decimal("0.95")),
    "golden_recall": Gate(min=Decimal("0.80")),
    "abstention_accuracy": Gate(min=Decimal("0.90")),
    "manifest_integrity": Gate(equals=Decimal("1.00")),
}

# Companion rates beyond these get a remark, whatever the protocol gates: an agent can pass all four main metrics and be
# of no use.
ALARMS: dict[str, Gate] = {
    "false_abstention_rate": Gate(max=Decimal("0.10")),
    "cited_golden_recall": Gate(min=Decimal("0.50")),
    "ledger_precision": Gate(min=Decimal("0.25")),
    "uncited_evidence_rate": Gate(max=Decimal("0.50")),
}


@dataclass(frozen=True, slots=True)
class ResearchSettings:
    """The section `research` of a protocol: what a valid evidence record needs, and how much is read."""

    require: Literal["quote_or_span", "quote_and_span"] = "quote_or_span"
    require_verbatim: bool = False
    require_anchored: bool = False
    provenance: Literal["chunk", "source"] = "chunk"  # of a record: source does without its chunk_id
    manifests: Literal["required", "not_kept"] = "required"
    manifest: Literal["complete", "recorded"] = "complete"  # recorded: any object that names run and step is one
    copies: Literal["merge", "count"] = "merge"  # of runs that are equal but for ids and times; count: all are trials
    trials: Decimal | None = None  # of every query, a whole number; without it the most that any query has
    max_file_megabytes: Positive = Positive(64)
    max_run_megabytes: Positive = Positive(256)
    max_total_megabytes: Positive = Positive(64_000)
    labels: dict[str, Share] = field(default_factory=dict)  # words that are labels of claims, and the number of each
    # trusted: take labels of claims that goldgate did not draw as if they were a random sample; it stands out.
    sampling: Literal["drawn", "trusted"] = "drawn"
    people: tuple[str, ...] = ()  # those whose labels count as such; []: files have one kind each
    baseline: str | None = None  # a file, named from the protocol's own folder; `baseline` at the top says the same


_FOLDER = "goldgate.suites.research"
_GOLDEN_INPUTS = (
    Input(
        "outputs",
        "For golden queries: runs whose ledgers and chunks must have the required ids.",
        metavar="DIR",
        required=False,
    ),
)
_RUN_INPUTS = (
    Input("protocol", "For a run: settings, as YAML. Default: the suite's.", required=False),
    Input(
        "corpus",
        "For a run: known sources, as a file of hashes (one per line) or a folder.",
        metavar="PATH",
        required=False,
    ),
)
_TRACE_INPUTS = (
    Input(
        "mapping",
        "How the traces are read: otel, langsmith, openai-agents, or a mapping as YAML. Default: recognized.",
        metavar="NAME|FILE",
        required=False,
    ),
)
_GOLDEN_KEYS = (b'"objective"', b'"evidence_sufficient"', b'"required_evidence_ids"')
_HEAD_BYTES = 1 << 16


def is_golden_file(path: str) -> bool:
    """Whether a file begins as golden queries do."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return False
    return any(key in head for key in _GOLDEN_KEYS)


class ResearchSuite(Suite):
    """Evidence coverage, golden recall, abstention accuracy and manifest integrity, with their companions."""

    name = "research"
    about = "Judge stored runs of a research agent."
    unit = "run"
    records = "runs.jsonl"
    inputs = (
        Input("golden", "The golden queries, as JSON."),
        Input("outputs", "Folder with one directory per run.", metavar="DIR", judged=True),
        Input(
            "corpus",
            "Known sources, as a file of SHA-256 hashes (one per line) or a folder; evidence from them is anchored.",
            metavar="PATH",
            required=False,
        ),
        Input(
            "labels",
            "Labels of people and judges on claims, JSON Lines or a JSON array: adds claim_support_rate.",
            many=True,
            required=False,
            judged=True,
        ),
        Input("draw", "Claims that goldgate sample drew for people to label.", required=False, judged=True),
    )
    section = "research"
    settings = ResearchSettings
    metrics_version = METRICS_VERSION
    headline = tuple(DEFAULT_GATES)
    default_gates = DEFAULT_GATES
    pairing = Pairing("objective", "query", several=True)
    writes_report = True
    overrules = True
    preload = "goldgate.suites.research.source"
    abilities = (
        Ability("check", f"{_FOLDER}.checks:check_golden", _GOLDEN_INPUTS, "golden", is_golden_file),
        Ability("check", f"{_FOLDER}.checks:check_run", _RUN_INPUTS, "run", os.path.isdir),
        Ability("import-runs", f"{_FOLDER}.imports:run_import", _TRACE_INPUTS),
        Ability("items", f"{_FOLDER}.explain:claim_items", kind="claims"),
    )

    measures = deferred(f"{_FOLDER}.measures:research_measures")
    open = deferred(f"{_FOLDER}.source:open_research_source")
    open_inputs = deferred(f"{_FOLDER}.explain:open_run_inputs")
    describe = deferred(f"{_FOLDER}.report:research_page")
    stored_rates = deferred(f"{_FOLDER}.report:recount_report")
    summary = deferred(f"{_FOLDER}.report:run_summary")
    unit_page = deferred(f"{_FOLDER}.explain:run_page")

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.research.contracts import CONTRACTS
        from goldgate.suites.research.imports.mapping import CONTRACTS as IMPORTS

        return {**CONTRACTS, **IMPORTS}

    def gates(self, plan: Plan) -> Mapping[str, Gate]:
        if plan.settings.manifests == "required":
            return DEFAULT_GATES
        return {name: gate for name, gate in DEFAULT_GATES.items() if name != "manifest_integrity"}

    def input_digest(self, name: str, path: str) -> str | None:
        """A corpus is its hashes: how they are written down, or in what folder the sources lie, changes nothing."""
        if name != "corpus":
            return None
        from goldgate.suites.research.golden import load_corpus

        return load_corpus(path).sha256

    def snippet(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> str:
        return cast("TrialRecord", record)["objective"] or ""

    def report_file(self, inputs: Inputs) -> str | None:
        """Beside the outputs, named after them; None if they are missing, or elsewhere."""
        outputs = str(inputs["outputs"][0])
        if is_url(outputs) or not os.path.exists(outputs):
            return None
        plain = outputs.rstrip("/" + os.sep)
        if os.path.basename(plain) in ("", ".", ".."):
            plain = os.path.realpath(outputs)
        return plain + ".report.json"


SUITE = ResearchSuite()


def evaluate_outputs(
    golden: str | Path,
    outputs: str | Path,
    protocol: ProtocolSource = None,
    *,
    corpus: str | Path | None = None,
    labels: str | Path | Sequence[str | Path] | None = None,
    draw: str | Path | None = None,
    workers: int | None = None,
    engine: EngineName = "processes",
    ray_address: str | None = None,
    records: IO[bytes] | bool | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge stored runs of a research agent against golden queries.

    `corpus` is a list of hashes, or a directory, of sources that the evaluator knows. `labels` are files with what
    people and judges say of claims, and `draw` says which of them goldgate sample drew. `records` receives a line of
    JSON for each run (what the command writes to runs.jsonl); with `records=True`, `evaluation.samples` keeps them.
    """
    from goldgate.api import evaluate_stored

    inputs = {"golden": str(golden), "outputs": str(outputs), "corpus": corpus, "labels": labels, "draw": draw}
    return evaluate_stored(SUITE.name, inputs, protocol, workers, engine, ray_address, records, progress)
