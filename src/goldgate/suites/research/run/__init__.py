"""Judges one run directory: its files become findings, and the counts that all metrics are sums of.

`judge_run` reads the files, `judge_files` checks them: output and log give the task, the claims and the steps, the
stored sources the levels of the evidence. A file that cannot be read breaks the run, which then counts as failed.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, get_args

from goldgate.core.finding import Finding, RunFindings
from goldgate.files.writing import escape_name
from goldgate.readers.draw import ItemKey, item_sha256
from goldgate.shape.validation import problems, type_test
from goldgate.suites.research.contracts import ResearchOutput, StopReason
from goldgate.suites.research.golden import Golden, Query, match_key
from goldgate.suites.research.run.claims import (
    ABSTAINED,
    MAX_LISTED,
    Claims,
    EvidenceChecks,
    JudgedRun,
    check_claims,
    check_ledger,
    claim_key,
    make_claim_items,
    note_empty_claims,
    note_failures,
    note_suspicions,
    read_sources,
)
from goldgate.suites.research.run.copies import ContentDigests, content_of, fingerprints
from goldgate.suites.research.run.evidence import EvidenceDemands, Sources
from goldgate.suites.research.run.files import (
    OUTPUT,
    ReadLimits,
    RunFiles,
    UnreadFile,
    decode_run_json,
    duplicate_key,
    ignored_reason,
    read_run,
)
from goldgate.suites.research.run.log import EventLog, count_steps, parse_log

NO_QUERY = -1
_MAX_PROBLEMS = 1_000  # that are looked for in the claims, the evidence and the steps of one output
_STOP_REASONS: dict[str | None, str] = {reason: reason for reason in get_args(StopReason)}  # one text for all runs

_output_fits = type_test(ResearchOutput)


class RunSettings(NamedTuple):
    """What the protocol and the evaluator set for reading runs."""

    demands: EvidenceDemands = EvidenceDemands()
    limits: ReadLimits = ReadLimits()
    anchors: frozenset[str] = frozenset()  # hashes of artifacts that the evaluator vouches for
    manifests_kept: bool = True
    manifests_complete: bool = True
    with_claim_ids: bool = False  # whether the ids of claims are kept
    with_content: bool = False  # whether the content is digested


class ClaimIds(NamedTuple):
    """The claims of a run as labels name them: the items that people label, with what each shows, and all."""

    items: dict[ItemKey, str]  # item_sha256
    every: frozenset[ItemKey]


_NO_CLAIM_IDS = ClaimIds({}, frozenset())


class RunFacts(NamedTuple):
    """The counts of one run. Measures add them up; nothing else of a run is kept."""

    name: str  # of its directory
    run_id: str | None
    query: int  # its number among the golden queries
    objective: str | None  # the output's, only where it is in no query
    broken: str | None  # why, or None
    stop_reason: str | None
    verified: int
    covered: int
    empty: int  # covered claims that claim nothing, or rest on evidence of nothing
    candidate: int
    retracted: int
    unreadable_claims: int
    claims_unknown: bool  # the output does not show them, or not all of them
    uncovered: tuple[str, ...]  # the first verified claims that are not covered
    found_ids: int  # required ids in the ledger as valid records
    missing_ids: tuple[str, ...]  # required ids that are not
    cited: int  # and cited by verified claims
    ledger: int
    uncited: int
    structural: int
    verbatim: int
    chain: int
    anchored: int
    failures: tuple[tuple[str, int], ...]
    steps: int
    with_manifest: int
    orphans: int
    torn: bool
    files: int
    bytes_read: int
    digest: bytes  # of names and bytes
    suspect: bytes  # runs with the same may be clones; empty if the run is broken
    fingerprint: bytes  # of answer and path
    content: ContentDigests | None  # None unless it was asked for
    claim_ids: ClaimIds  # empty unless they were asked for

    @property
    def is_of_no_query(self) -> bool:
        """Whether its output answers no golden query, whatever its log says."""
        return self.query == NO_QUERY or self.objective is not None


class JudgedFiles(NamedTuple):
    """A run with its files, its counts for the metrics and its findings."""

    files: RunFiles
    run: JudgedRun
    facts: RunFacts
    findings: list[Finding]


class RunResult(NamedTuple):
    """A run's counts, findings and ignored files. `facts` is None for a directory that is no run."""

    name: str
    facts: RunFacts | None
    findings: list[Finding]
    ignored: list[tuple[str, str]]  # path, reason


def judge_run(root: str, name: str, golden: Golden, settings: RunSettings, refused: str | None = None) -> RunResult:
    """Read a run directory and count. `refused` says why it must not be read at all."""
    folder = escape_name(name)
    if refused is not None:
        files: RunFiles | None = RunFiles(unread=[UnreadFile("", "link_leaves_outputs", refused)])
    else:
        files = read_run(root, name, settings.limits)
    if files is None:
        reason = ignored_reason(root, os.path.join(root, name), "a directory with none of a run's files")
        return RunResult(folder, None, [], [(f"{folder}/", reason)])
    judged = judge_files(folder, files, golden, settings)
    return RunResult(
        folder, judged.facts, judged.findings, [(f"{folder}/{file}", reason) for file, reason in files.ignored]
    )


def judge_files(folder: str, files: RunFiles, golden: Golden, settings: RunSettings) -> JudgedFiles:
    """Judge the files of a run."""
    findings = RunFindings(folder)
    for unread in files.unread:
        findings.add(unread.code, "error", unread.file, unread.message)
    judge = _Judge(folder, files, golden, settings, findings)
    run = judge.judged_run()
    return JudgedFiles(files, run, judge.facts(run), findings.to_list())


class _Judge:
    """Judges one run: its bytes become a JudgedRun, and that its counts."""

    def __init__(
        self, name: str, files: RunFiles, golden: Golden, settings: RunSettings, findings: RunFindings
    ) -> None:
        self.name = name
        self.files = files
        self.golden = golden
        self.settings = settings
        self.findings = findings
        self.broken: str | None = files.unread[0].code if files.unread else None
        self.claims_unknown = False
        self.unknown_objective: str | None = None

    def judged_run(self) -> JudgedRun:
        """Read output and log, and check evidence and claims."""
        files, settings, findings = self.files, self.settings, self.findings
        output = self._output()
        log = parse_log(files.events, output.get("run_id"), findings)
        if log.broken is not None:
            self.broken, self.claims_unknown = self.broken or log.broken, True
        kept, complete = settings.manifests_kept, settings.manifests_complete
        steps = count_steps(files, log, output.get("steps"), findings, kept=kept, complete=complete)
        if output:
            self._check_pins(output)
        objective, number = self._find_query(output.get("objective"), log.objectives)
        query = self.golden.queries[number] if number != NO_QUERY else None
        stop_reason = self._stop_reason(output.get("stop_reason"), log, query)
        sources = read_sources(files, settings.anchors, findings) if output else Sources({})
        self.broken = self.broken or sources.broken
        ledger = check_ledger(output, sources, settings.demands, findings) if output else EvidenceChecks()
        claims = check_claims(output.get("claims", []), log, ledger, findings)
        self._count_unknown(claims)
        run = JudgedRun(
            log.run_id, number, query, objective, stop_reason, output, claims, ledger, sources, steps, log.torn
        )
        run.empty = note_empty_claims(run, findings)
        note_suspicions(run, findings)
        if self.broken is None:  # otherwise that is what fails it
            note_failures(run, findings)
        return run

    def facts(self, run: JudgedRun) -> RunFacts:
        """What measures count of the run."""
        files, claims, steps, levels = self.files, run.claims, run.steps, [*run.ledger.valid.values()]
        comparable = bool(run.output) and self.broken is None
        suspect, fingerprint = fingerprints(run) if comparable else (b"", b"")
        return RunFacts(
            name=self.name,
            run_id=run.run_id,
            query=run.number,
            objective=run.objective if run.query is None else self.unknown_objective,
            broken=self.broken,
            stop_reason=_STOP_REASONS.get(run.stop_reason, run.stop_reason),
            verified=claims.verified,
            covered=claims.covered,
            empty=run.empty,
            candidate=claims.candidate,
            retracted=claims.retracted,
            unreadable_claims=claims.unreadable,
            claims_unknown=self.claims_unknown,
            uncovered=tuple(claims.uncovered),
            found_ids=len(run.found_ids),
            missing_ids=tuple(run.missing_ids[:MAX_LISTED]),
            cited=sum(identity in claims.cited for identity in run.found_ids),
            ledger=len(run.ledger),
            uncited=run.uncited,
            structural=levels.count("structural"),
            verbatim=levels.count("verbatim"),
            chain=levels.count("chain"),
            anchored=levels.count("anchored"),
            failures=tuple(sorted(run.ledger.failures().items())),
            steps=steps.total,
            with_manifest=steps.with_manifest,
            orphans=steps.orphans,
            torn=run.torn,
            files=files.read,
            bytes_read=files.bytes_read,
            digest=files.digest,
            suspect=suspect,
            fingerprint=fingerprint,
            content=content_of(run, files) if comparable and self.settings.with_content else None,
            claim_ids=_claim_ids(run, self.name) if self.settings.with_claim_ids else _NO_CLAIM_IDS,
        )

    def _output(self) -> dict[str, Any]:
        """The decoded ResearchOutput; empty, and the run is broken, if it is missing or its head cannot be read."""
        data = self.files.output
        self.claims_unknown = True  # until they were read
        if data is None:
            if self.broken is None:
                self._break("output_missing", "there is no research_output.json")
            return {}
        try:
            value = decode_run_json(data)
            repeated_key = duplicate_key(data, value) if type(value) is dict else None
        except ValueError as reason:
            self._break("output_unreadable", str(reason))
            return {}
        self.claims_unknown = type(value) is not dict or type(value.get("claims")) is not list
        if repeated_key is not None:
            self._break("repeated_key", f"duplicate key {repeated_key!r}: it is not clear which of the two counts")
            self.claims_unknown = True
        if not _output_fits(value):
            self._note_contract_problems(value)
            return _readable_output(value)
        return value  # type: ignore[no-any-return]

    def _note_contract_problems(self, value: object) -> None:
        """What is wrong inside a claim or a record costs that one, which gets its own finding later; the rest all."""
        for number, problem in enumerate(problems(ResearchOutput, value, most=_MAX_PROBLEMS), 1):
            if problem.pointer.endswith("/chunk_id") and not self.settings.demands.chunk:
                continue
            inside = problem.pointer.count("/") > 1 or problem.pointer in ("/corpus_id", "/index_id", "/chunker")
            self.findings.add("contract", "warning" if inside else "error", OUTPUT, problem.message, problem.pointer)
            if not inside:
                self.broken = self.broken or "output_unreadable"
            if number == _MAX_PROBLEMS:
                self.findings.count("contract", "warning", 0, at_least=True)

    def _count_unknown(self, claims: Claims) -> None:
        """Claims that cannot be read: at least one uncovered one, or a lost file would cost nothing."""
        if not self.claims_unknown:
            return
        counted = f"{claims.verified} known as verified count as uncovered"
        if not claims.verified:
            claims.verified += 1
            claims.unreadable += 1
            counted = "counted as one uncovered claim"
        self.findings.add("claims_unknown", "error", OUTPUT, f"its claims cannot be read: {counted}", "/claims")

    def _find_query(self, stated: str | None, logged: list[str]) -> tuple[str | None, int]:
        """The objective and its query, which a run without an output has from its log.

        A log that names another golden query than the output, or one where the output names none, breaks the run.
        """
        if stated is not None:
            key = match_key(stated)
            others = [objective for objective in logged if match_key(objective) != key]
            if others:
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                message = f"the output says {stated!r}, the log {others[0]!r}{more}"
                self.findings.add("contradiction", "warning", OUTPUT, message, "/objective")
        own = self._query(stated)
        if own != NO_QUERY:
            if any(self._query(objective) not in (own, NO_QUERY) for objective in logged):
                self._break("conflicting_objective", "output and log name two different golden queries", "/objective")
            return stated, own
        for objective in logged:
            number = self._query(objective)
            if number != NO_QUERY:
                if stated is not None:
                    self.unknown_objective = stated  # the run still matches no query where that is worse
                    words = "the log names a golden query, and the output another objective"
                    self._break("conflicting_objective", words, "/objective")
                return objective, number
        return stated or next(iter(logged), None), NO_QUERY

    def _stop_reason(self, stated: str | None, log: EventLog, query: Query | None) -> str | None:
        """The stop reason that is worse for the run: it abstained only if the output and every event say so.

        Where there is evidence to find, abstaining is the worse reading; then events of another run say nothing.
        """
        abstaining_is_worse = query is not None and query.sufficient
        logged = log.own.stop_reasons if abstaining_is_worse else log.own.stop_reasons | log.foreign.stop_reasons
        reasons = [*dict.fromkeys([*logged, *([] if stated is None else [stated])])]
        if len(reasons) > 1:
            where = "the log says" if stated in (None, *logged) and len(logged) > 1 else "output and log say"
            message = f"{where} {' and '.join(map(repr, reasons))}: the worse counts"
            self.findings.add("contradiction", "warning", OUTPUT, message, "/stop_reason")
        worse = [reason for reason in reasons if (reason == ABSTAINED) is abstaining_is_worse]
        return next(iter(worse or reasons), None)

    def _check_pins(self, output: dict[str, Any]) -> None:
        for name, pinned in self.golden.pins.items():
            recorded = output.get(name)
            if recorded != pinned:
                words = "records none" if recorded is None else f"records {recorded!r}"
                message = f"the golden set is made for {name} {pinned!r}, the run {words}"
                self._break("pin_mismatch", message, f"/{name}")

    def _query(self, objective: str | None) -> int:
        """The number of the golden query with this objective."""
        return NO_QUERY if objective is None else self.golden.by_objective.get(match_key(objective), NO_QUERY)

    def _break(self, code: str, message: str, pointer: str = "") -> None:
        self.broken = self.broken or code
        self.findings.add(code, "error", OUTPUT, message, pointer)


def _claim_ids(run: JudgedRun, name: str) -> ClaimIds:
    ids = [claim.get("claim_id") for claim in run.output.get("claims", []) if type(claim) is dict]
    return ClaimIds(
        {ItemKey(item["id"]): item_sha256(item) for item in make_claim_items(name, run)},
        frozenset(claim_key(name, identity) for identity in ids if type(identity) is str),
    )


def parse_output(data: bytes | None) -> dict[str, Any]:
    """The readable parts of a run's output; empty if it is not a JSON object."""
    try:
        return _readable_output(decode_run_json(data or b""))
    except ValueError:
        return {}


def _readable_output(value: Any) -> dict[str, Any]:
    """The parts of a malformed output that still count: its claims stay in the denominator."""
    if type(value) is not dict:
        return {}
    output = dict(value)
    for name in ("claims", "evidence", "steps"):
        if type(output.get(name)) is not list:
            output[name] = []
    for name in ("run_id", "objective", "stop_reason"):
        if type(output.get(name)) is not str or not output[name].strip():
            output[name] = None
    return output
