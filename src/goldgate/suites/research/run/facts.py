"""One run directory, from its bytes to the counts that all metrics are sums of."""

from __future__ import annotations

from typing import Any, NamedTuple, get_args

from goldgate.core.finding import Finding, Findings
from goldgate.files.storable import storable_name
from goldgate.shape.fits import fits
from goldgate.shape.problems import problems
from goldgate.suites.research.contracts import ResearchOutput, StopReason
from goldgate.suites.research.golden import Golden, Query, match_key
from goldgate.suites.research.run.claims import Claims, check_claims
from goldgate.suites.research.run.content import Content, Material, content_of, fingerprints
from goldgate.suites.research.run.decode import decode, repeated_key
from goldgate.suites.research.run.evidence import Demands
from goldgate.suites.research.run.files import OUTPUT, Limits, RunFiles, read_run
from goldgate.suites.research.run.ledger import Ledger, check_ledger, read_sources
from goldgate.suites.research.run.log import Log, parse_log
from goldgate.suites.research.run.sources import Sources
from goldgate.suites.research.run.steps import count_steps
from goldgate.suites.research.run.suspicion import ABSTAINED, Outcome, note_empty_claims, note_suspicions

NO_QUERY = -1
_MOST_PROBLEMS = 1_000  # that are looked for in the claims, the evidence and the steps of one output
_NO_CONTENT = Content(b"", b"")
_STOP_REASONS: dict[str | None, str] = {reason: reason for reason in get_args(StopReason)}  # one text for all runs

_output_fits = fits(ResearchOutput)


class Settings(NamedTuple):
    """What a protocol, and whoever evaluates, set for reading runs."""

    demands: Demands = Demands()
    limits: Limits = Limits()
    anchors: frozenset[str] = frozenset()  # hashes of artifacts that the evaluator vouches for
    manifests_kept: bool = True


class RunFacts(NamedTuple):
    """The counts of one run. Measures add them up; nothing else of a run is kept."""

    name: str  # of its directory
    run_id: str | None
    query: int  # its number among the golden queries
    objective: str | None  # only where it is in no query
    broken: str | None  # why, or None
    stop_reason: str | None
    verified: int
    covered: int
    empty: int  # covered claims that claim nothing, or rest on evidence of nothing
    candidate: int
    retracted: int
    unreadable_claims: int
    claims_unknown: bool  # the output does not show them, or not all of them
    found: int  # required ids in the ledger as valid records
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
    unlogged: int
    orphans: int
    torn: bool
    files: int
    bytes_read: int
    digest: bytes  # of names and bytes
    suspect: bytes  # runs with the same may be clones; empty if the run is broken
    fingerprint: bytes  # of answer and path
    content: Content  # empty where nobody asked for it


class RunResult(NamedTuple):
    """A run's counts, findings and ignored files. `facts` is None for a directory that is no run."""

    name: str
    facts: RunFacts | None
    findings: list[Finding]
    ignored: list[tuple[str, str]]  # path, reason


def judge_run(
    root: str,
    name: str,
    golden: Golden | None,
    settings: Settings,
    *,
    refused: str | None = None,
    with_content: bool = False,
) -> RunResult:
    """Read a run directory and count. `refused` says why it must not be read at all."""
    shown = storable_name(name)
    files = RunFiles() if refused is not None else read_run(root, name, settings.limits)
    if files is None:
        return RunResult(shown, None, [], [(f"{shown}/", "a directory with none of a run's files")])
    findings = Findings(shown)
    if refused is not None:
        findings.add("link_leaves_outputs", "error", "", refused)
    for unread in files.unread:
        findings.add(unread.code, "error", unread.file, unread.message)
    facts = _Judge(shown, files, golden, settings, findings, with_content).facts(refused)
    return RunResult(shown, facts, findings.listed(), [(f"{shown}/{file}", reason) for file, reason in files.ignored])


class _Judge:
    """The steps from bytes to counts, sharing what was read."""

    def __init__(
        self,
        name: str,
        files: RunFiles,
        golden: Golden | None,
        settings: Settings,
        findings: Findings,
        with_content: bool = False,
    ) -> None:
        self.name = name
        self.files = files
        self.golden = golden
        self.settings = settings
        self.findings = findings
        self.with_content = with_content
        self.broken: str | None = None
        self.claims_unknown = False
        self.fitting = False  # whether the output has the shape of its contract

    def facts(self, refused: str | None) -> RunFacts:
        files, findings = self.files, self.findings
        if refused is not None:
            self.broken = "link_leaves_outputs"
        elif files.unread:
            self.broken = files.unread[0].code
        output = self._output()
        run_id = output["run_id"] if output is not None else None
        log = parse_log(files.events, run_id, findings) if files.events is not None else None
        if log is not None and log.broken is not None:
            self.broken, self.claims_unknown = self.broken or log.broken, True
        if run_id is None and log is not None:
            run_id = log.run_id
        listed = output.get("steps") if output is not None else None
        steps = count_steps(files, log, listed, run_id, findings, manifests_kept=self.settings.manifests_kept)
        if output is not None:
            self._check_pins(output)
        objective, number = self._task(output, log)
        query = self.golden.queries[number] if self.golden is not None and number != NO_QUERY else None
        stop_reason = self._stop_reason(output, log, query)
        sources, ledger = Sources({}), Ledger()
        if output is not None:
            sources = read_sources(files, self.settings.anchors, findings)
            ledger = check_ledger(output, sources, self.settings.demands, findings)
        listed_claims = output["claims"] if output is not None else []
        claims = check_claims(listed_claims, log, ledger, findings, fitting=self.fitting)
        self._count_unknown(claims)
        required = query.required if query is not None else frozenset()
        found = [identity for identity in required if identity in ledger.valid]
        uncited = len(ledger) - len(claims.cited & (ledger.valid.keys() | ledger.failed.keys()))
        outcome = Outcome(query, stop_reason, claims, ledger, len(found), uncited, objective)
        empty = note_empty_claims(outcome, findings)
        note_suspicions(outcome, findings)
        torn = log is not None and log.torn
        suspect = fingerprint = b""
        content = _NO_CONTENT
        if output is not None and self.broken is None:
            # With the counts that gates are about: a run that failed must not vanish as a copy of one that did not.
            counts = (claims.verified, claims.covered, claims.candidate, len(ledger), len(found), uncited)
            head = (match_key(objective or ""), stop_reason, *counts, steps.total, steps.with_manifest, torn)
            material = Material(head, output, claims, ledger, sources, required, steps.manifests, files)
            suspect, fingerprint = fingerprints(material)
            content = content_of(material) if self.with_content else content
        levels = [*ledger.valid.values()]
        return RunFacts(
            name=self.name,
            run_id=run_id,
            query=number,
            objective=objective if query is None else None,
            broken=self.broken,
            stop_reason=_STOP_REASONS.get(stop_reason, stop_reason),
            verified=claims.verified,
            covered=claims.covered,
            empty=empty,
            candidate=claims.candidate,
            retracted=claims.retracted,
            unreadable_claims=claims.unreadable,
            claims_unknown=self.claims_unknown,
            found=len(found),
            cited=sum(identity in claims.cited_by_verified for identity in found),
            ledger=len(ledger),
            uncited=uncited,
            structural=levels.count("structural"),
            verbatim=levels.count("verbatim"),
            chain=levels.count("chain"),
            anchored=levels.count("anchored"),
            failures=tuple(sorted(ledger.failures().items())) if ledger.failed or ledger.nameless else (),
            steps=steps.total,
            with_manifest=steps.with_manifest,
            unlogged=steps.unlogged,
            orphans=steps.orphans,
            torn=torn,
            files=files.read,
            bytes_read=files.bytes_read,
            digest=files.digest,
            suspect=suspect,
            fingerprint=fingerprint,
            content=content,
        )

    def _output(self) -> dict[str, Any] | None:
        """The decoded ResearchOutput; None, and the run is broken, if it is missing or its head cannot be read."""
        data = self.files.output
        self.claims_unknown = True  # until they were read
        if data is None:
            if self.broken is None:
                self._break("output_missing", "there is no research_output.json")
            return None
        try:
            value = decode(data)
            twice = repeated_key(data, value) if type(value) is dict else None
        except ValueError as reason:
            self._break("output_unreadable", str(reason))
            return None
        self.claims_unknown = type(value) is not dict or type(value.get("claims")) is not list
        if twice is not None:
            self._break("repeated_key", f"duplicate key {twice!r}: it is not clear which of the two counts")
            self.claims_unknown = True
        if _output_fits(value):
            self.fitting = True
            return value  # type: ignore[no-any-return]
        whole = True
        for number, problem in enumerate(problems(ResearchOutput, value, most=_MOST_PROBLEMS), 1):
            inside = problem.pointer.count("/") > 1 or problem.pointer in ("/corpus_id", "/index_id", "/chunker")
            whole = whole and inside
            # What is wrong inside a claim or a record costs that one; it gets its own name later.
            self.findings.add("contract", "warning" if inside else "error", OUTPUT, problem.message, problem.pointer)
            if number == _MOST_PROBLEMS:
                self.findings.count("contract", "warning", 0, at_least=True)
        if not whole:
            self.broken = self.broken or "output_unreadable"
        return self._readable(value)

    def _count_unknown(self, claims: Claims) -> None:
        """Claims that nobody can read: at least one uncovered one, or a lost file would cost nothing."""
        if not self.claims_unknown:
            return
        counted = f"{claims.verified} known as verified count as uncovered"
        if not claims.verified:
            claims.verified += 1
            claims.unreadable += 1
            counted = "counted as one uncovered claim"
        self.findings.add("claims_unknown", "error", OUTPUT, f"its claims cannot be read: {counted}", "/claims")

    def _readable(self, value: Any) -> dict[str, Any] | None:
        """As much of a malformed output as still counts: its claims stay in the denominator."""
        if type(value) is not dict:
            return None
        kept = dict(value)
        for name in ("claims", "evidence", "steps"):
            if type(kept.get(name)) is not list:
                kept[name] = []
        for name in ("run_id", "objective", "stop_reason"):
            if type(kept.get(name)) is not str or not kept[name].strip():
                kept[name] = None
        return kept

    def _task(self, output: dict[str, Any] | None, log: Log | None) -> tuple[str | None, int]:
        """The objective and its query, which a run without an output has from its log.

        A log that names another golden query than the output, or one where the output names none, breaks the run.
        """
        stated = output["objective"] if output is not None else None
        logged = [*log.objectives] if log is not None else []
        mine = self._query(stated)
        if stated is not None:
            key = match_key(stated)
            others = [objective for objective in logged if match_key(objective) != key]
            if others:
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                message = f"the output says {stated!r}, the log {others[0]!r}{more}"
                self.findings.add("contradiction", "warning", OUTPUT, message, "/objective")
        if mine != NO_QUERY:
            if any(self._query(objective) not in (mine, NO_QUERY) for objective in logged):
                self._break("conflicting_objective", "output and log name two different golden queries", "/objective")
            return stated, mine
        for objective in logged:
            number = self._query(objective)
            if number != NO_QUERY:
                if stated is not None:
                    words = "the log names a golden query, and the output another objective"
                    self._break("conflicting_objective", words, "/objective")
                return objective, number
        return stated or next(iter(logged), None), NO_QUERY

    def _stop_reason(self, output: dict[str, Any] | None, log: Log | None, query: Query | None) -> str | None:
        """The stop reason that is worse for the run: it abstained only if output and log say so.

        Where there is evidence to find, abstaining is the worse reading; then events of another run say nothing.
        """
        stated: str | None = output["stop_reason"] if output is not None else None
        logged = [log.own.stop_reason, log.foreign.stop_reason] if log is not None else []
        if query is not None and query.sufficient:
            logged = logged[:1]
        said = [reason for reason in (*logged, stated) if reason is not None]
        if len(set(said)) > 1:
            message = f"output and log say {' and '.join(map(repr, dict.fromkeys(said)))}: the worse counts"
            self.findings.add("contradiction", "warning", OUTPUT, message, "/stop_reason")
        abstaining_is_worse = query is not None and query.sufficient
        worse = [reason for reason in said if (reason == ABSTAINED) is abstaining_is_worse]
        return next(iter(worse or said), None)

    def _check_pins(self, output: dict[str, Any]) -> None:
        if self.golden is None:
            return
        for name, pinned in self.golden.pins.items():
            recorded = output.get(name)
            if recorded != pinned:
                found = "records none" if recorded is None else f"records {recorded!r}"
                self._break(
                    "pin_mismatch", f"the golden set is made for {name} {pinned!r}, the run {found}", f"/{name}"
                )

    def _query(self, objective: str | None) -> int:
        """The number of the golden query with this objective."""
        if objective is None or self.golden is None:
            return NO_QUERY
        found = self.golden.find(objective)
        return NO_QUERY if found is None else found

    def _break(self, code: str, message: str, pointer: str = "") -> None:
        self.broken = self.broken or code
        self.findings.add(code, "error", OUTPUT, message, pointer)
