"""One run directory, from its bytes to the counts that all metrics are sums of."""

from __future__ import annotations

from typing import Any, NamedTuple

from goldgate.research.contracts import ResearchOutput
from goldgate.research.decode import decode
from goldgate.research.evidence import Demands
from goldgate.research.finding import Finding, Findings
from goldgate.research.fits import fits, problems
from goldgate.research.golden import Golden, match_key
from goldgate.research.ledger import Claims, Ledger, check_claims, check_ledger, read_sources
from goldgate.research.log import Log, parse_log
from goldgate.research.run_files import OUTPUT, RunFiles, read_run, storable
from goldgate.research.steps import count_steps

NO_QUERY = -1
LARGE_LEDGER = 8  # records; of fewer, a few that nobody cites are no sign of anything

_output_fits = fits(ResearchOutput)


class Settings(NamedTuple):
    """What a protocol sets for reading runs."""

    demands: Demands = Demands()
    max_bytes: int = 64_000_000


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
    candidate: int
    retracted: int
    unreadable_claims: int
    found: int  # required ids in the ledger as valid records
    cited: int  # and cited by verified claims
    ledger: int
    uncited: int
    structural: int
    verbatim: int
    chain: int
    failures: tuple[tuple[str, int], ...]
    steps: int
    with_manifest: int
    unlogged: int
    orphans: int
    torn: bool
    files: int
    digest: bytes


class RunResult(NamedTuple):
    """A run's counts, findings and ignored files. `facts` is None for a directory that is no run."""

    name: str
    facts: RunFacts | None
    findings: list[Finding]
    ignored: list[tuple[str, str]]  # path, reason


def judge_run(
    root: str, name: str, golden: Golden | None, settings: Settings, *, refused: str | None = None
) -> RunResult:
    """Read a run directory and count. `refused` says why it must not be read at all."""
    shown = storable(name)
    files = RunFiles() if refused is not None else read_run(root, name, settings.max_bytes)
    if files is None:
        return RunResult(shown, None, [], [(f"{shown}/", "a directory with none of a run's files")])
    findings = Findings(shown)
    if refused is not None:
        findings.add("link_leaves_outputs", "error", "", refused)
    for unread in files.unread:
        findings.add(unread.code, "error", unread.file, unread.message)
    facts = _Judge(shown, files, golden, settings, findings).facts(refused)
    return RunResult(shown, facts, findings.listed(), [(f"{shown}/{file}", reason) for file, reason in files.ignored])


class _Judge:
    """The steps from bytes to counts, sharing what was read."""

    def __init__(
        self, name: str, files: RunFiles, golden: Golden | None, settings: Settings, findings: Findings
    ) -> None:
        self.name = name
        self.files = files
        self.golden = golden
        self.settings = settings
        self.findings = findings
        self.broken: str | None = None

    def facts(self, refused: str | None) -> RunFacts:
        files, findings = self.files, self.findings
        if refused is not None:
            self.broken = "link_leaves_outputs"
        elif files.unread:
            self.broken = files.unread[0].code
        output = self._output()
        run_id = output["run_id"] if output is not None else None
        log = parse_log(files.events, run_id, findings) if files.events is not None else None
        if run_id is None and log is not None:
            run_id = log.run_id
        steps = count_steps(files, log, output.get("steps") if output is not None else None, run_id, findings)
        objective, stop_reason = self._agreed(output, log)
        if output is not None:
            self._check_pins(output)
        query = self._query(objective)
        ledger, claims = Ledger(), Claims()
        if output is not None:
            sources = read_sources(files, findings)
            ledger = check_ledger(output, sources, self.settings.demands, findings)
            claims = check_claims(output, log.statuses if log is not None else {}, ledger, findings)
        uncited = len(ledger) - len(claims.cited & (ledger.valid.keys() | ledger.failed.keys()))
        if len(ledger) >= LARGE_LEDGER and uncited * 4 >= len(ledger) * 3:
            message = f"{uncited} of {len(ledger)} evidence records are cited by no claim: is this the whole corpus?"
            findings.add("uncited_ledger", "warning", OUTPUT, message, "/evidence")
        required = self.golden.queries[query].required if self.golden is not None and query != NO_QUERY else frozenset()
        found = [identity for identity in required if identity in ledger.valid]
        levels = [*ledger.valid.values()]
        return RunFacts(
            name=self.name,
            run_id=run_id,
            query=query,
            objective=objective if query == NO_QUERY else None,
            broken=self.broken,
            stop_reason=stop_reason,
            verified=claims.verified,
            covered=claims.covered,
            candidate=claims.candidate,
            retracted=claims.retracted,
            unreadable_claims=claims.unreadable,
            found=len(found),
            cited=sum(identity in claims.cited_by_verified for identity in found),
            ledger=len(ledger),
            uncited=uncited,
            structural=levels.count("structural"),
            verbatim=levels.count("verbatim"),
            chain=levels.count("chain"),
            failures=tuple(sorted(ledger.failures().items())) if ledger.failed or ledger.nameless else (),
            steps=steps.total,
            with_manifest=steps.with_manifest,
            unlogged=steps.unlogged,
            orphans=steps.orphans,
            torn=log is not None and log.torn,
            files=files.read,
            digest=files.digest,
        )

    def _output(self) -> dict[str, Any] | None:
        """The decoded ResearchOutput; None, and the run is broken, if it is missing or its head cannot be read."""
        data = self.files.output
        if data is None:
            if self.broken is None:
                self._break("output_missing", "there is no research_output.json")
            return None
        try:
            value = decode(data)
        except ValueError as reason:
            self._break("output_unreadable", str(reason))
            return None
        if _output_fits(value):
            return value  # type: ignore[no-any-return]
        whole = True
        for problem in problems(ResearchOutput, value):
            inside = problem.pointer.count("/") > 1 or problem.pointer in ("/corpus_id", "/index_id", "/chunker")
            whole = whole and inside
            # What is wrong inside a claim or a record costs that one; it gets its own name later.
            self.findings.add("contract", "warning" if inside else "error", OUTPUT, problem.message, problem.pointer)
        if not whole:
            self.broken = self.broken or "output_unreadable"
        return self._readable(value)

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

    def _agreed(self, output: dict[str, Any] | None, log: Log | None) -> tuple[str | None, str | None]:
        """Objective and stop reason; where log and output contradict each other, the log wins."""
        agreed: list[str | None] = []
        for name in ("objective", "stop_reason"):
            stated = output[name] if output is not None else None
            logged = getattr(log, name) if log is not None else None
            if stated is None or logged is None or stated == logged:
                agreed.append(logged or stated)
                continue
            if match_key(stated) != match_key(logged):
                message = f"the output says {stated!r}, the log {logged!r}: the log wins"
                self.findings.add("contradiction", "warning", OUTPUT, message, f"/{name}")
            agreed.append(logged)
        return agreed[0], agreed[1]

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
        if objective is None or self.golden is None:
            return NO_QUERY
        found = self.golden.find(objective)
        return NO_QUERY if found is None else found

    def _break(self, code: str, message: str, pointer: str = "") -> None:
        self.broken = self.broken or code
        self.findings.add(code, "error", OUTPUT, message, pointer)
