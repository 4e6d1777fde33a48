"""The event log of a run and its steps: objective, stop reason, claim statuses, and which steps have one manifest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple, get_args

from goldgate.core.finding import RunFindings, Severity
from goldgate.shape.validation import problems, type_test, wrong_fields
from goldgate.suites.research.contracts import Event, Manifest, RecordedManifest, Status, StopReason
from goldgate.suites.research.run.files import (
    EVENTS,
    MANIFEST_LINES,
    MAX_BAD_LINES,
    OUTPUT,
    AmbiguousLine,
    BadLine,
    RunFiles,
    TornLine,
    UnreadRest,
    decode_lines,
    decode_unambiguous,
    equal_values,
)

_event_fits = type_test(Event)
STATUSES: frozenset[str] = frozenset(get_args(Status))
_STOP_REASONS: frozenset[str] = frozenset(get_args(StopReason))


@dataclass(slots=True)
class LoggedOutcome:
    """What events say of one run: its objectives and stop reasons in their order, each claim's last status."""

    objectives: dict[str, None] = field(default_factory=dict)
    stop_reasons: dict[str, None] = field(default_factory=dict)
    statuses: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class EventLog:
    """What the log shows. `torn` and `damaged` say that it does not show everything.

    Events that name another run stand in this run's log all the same: a wrong label must not hide what they say.
    """

    run_id: str | None = None
    own: LoggedOutcome = field(default_factory=LoggedOutcome)
    foreign: LoggedOutcome = field(default_factory=LoggedOutcome)
    steps: set[int] = field(default_factory=set)
    torn: bool = False
    damaged: bool = False
    missing: bool = False
    broken: str | None = None  # why its claims and its end are not known: a key twice, lines not read

    @property
    def objectives(self) -> list[str]:
        """Every objective that the log names, the run's own first."""
        return [*(self.own.objectives | self.foreign.objectives)]

    def statuses(self, claim_id: str) -> list[str]:
        """The last status of a claim, in the run's own events and in those under another run's name."""
        statuses = self.own.statuses.get(claim_id), self.foreign.statuses.get(claim_id)
        return [status for status in statuses if status is not None]


def parse_log(data: bytes | None, run_id: str | None, findings: RunFindings) -> EventLog:
    """Read the log of the run `run_id`; without one, the log's first event says which run it is."""
    log = EventLog(run_id, missing=data is None)
    bad = 0
    for line, event in decode_lines(data or b""):
        if not _event_fits(event):
            bad += _note_bad_line(log, line, event, findings)
            if bad > MAX_BAD_LINES:
                event = UnreadRest(f"more than {MAX_BAD_LINES:,} lines show no step: the rest is left unread")
                _note_bad_line(log, line, event, findings)
                break
            if type(event) is not dict:
                continue
        step = event.get("step_id")
        if type(step) is int and step >= 0:
            log.steps.add(step)
        event_run = event.get("run_id")
        outcome = log.own
        if event_run != log.run_id:
            if log.run_id is None:
                log.run_id = event_run if type(event_run) is str else None
            else:
                findings.add("foreign_event", "warning", EVENTS, "an event of another run", "/run_id", line)
                outcome = log.foreign
        payload = event.get("payload")
        if type(payload) is dict and ("claim_id" in payload or "objective" in payload or "stop_reason" in payload):
            _read_payload(payload, outcome, line, findings)
    return log


def normalize_status(status: object) -> str | None:
    """One of the three statuses; case and outer space do not move a claim out."""
    if type(status) is not str:
        return None
    if status in STATUSES:
        return status
    plain = status.strip().casefold()
    return plain if plain in STATUSES else None


def normalize_stop_reason(reason: str) -> str | None:
    """One of the five stop reasons; None for another word, such as a model's own `end_turn`."""
    if reason in _STOP_REASONS:
        return reason
    plain = "_".join(reason.replace("-", " ").split()).upper()
    return plain if plain in _STOP_REASONS else None


def _read_payload(payload: dict[str, Any], outcome: LoggedOutcome, line: int, findings: RunFindings) -> None:
    """Note the stop reason, the claim's status and the objective of one event."""
    reason = payload.get("stop_reason")
    if type(reason) is str and (normalized := normalize_stop_reason(reason)) is not None:
        outcome.stop_reasons.setdefault(normalized)
    claim = payload.get("claim_id")
    if type(claim) in (str, int) and "status" in payload:
        status = normalize_status(payload["status"])
        if status is not None:
            outcome.statuses[str(claim)] = status
        else:  # a word of the agent's own: the claim keeps the status that it had
            message = f"the claim {claim} gets a status that is none of {', '.join(sorted(STATUSES))}"
            findings.add("unknown_status", "hint", EVENTS, message, "/payload/status", line)
    objective = payload.get("objective")
    if type(objective) is str and objective.strip():
        outcome.objectives.setdefault(objective)


def _note_bad_line(log: EventLog, line: int, event: object, findings: RunFindings) -> bool:
    """Note what is wrong with a line; the result says whether it may have been a step, which cannot be read."""
    if isinstance(event, TornLine):
        log.torn = True
        findings.add("torn_log", "error", EVENTS, f"the last line is torn: {event}", line=line)
        return True
    if isinstance(event, BadLine):
        log.damaged = True
        unread = isinstance(event, UnreadRest)
        if isinstance(event, AmbiguousLine):
            log.broken = log.broken or ("too_large" if unread else "repeated_key")
        findings.add("too_large" if unread else "bad_event", "error", EVENTS, str(event), line=line)
        return not unread
    wrong = wrong_fields(Event, event) if type(event) is dict else ["step_id"]
    unknown_steps = wrong.count("step_id")
    log.damaged |= unknown_steps > 0  # it may have been a step; which one is not known
    counts: dict[Severity, int] = {"error": unknown_steps, "warning": len(wrong) - unknown_steps}
    if all(findings.is_full("bad_event", severity) for severity, count in counts.items() if count):
        for severity, count in counts.items():
            findings.count("bad_event", severity, count)
        return unknown_steps > 0
    for problem in problems(Event, event):
        severity = "error" if problem.pointer in ("", "/step_id") else "warning"
        findings.add("bad_event", severity, EVENTS, problem.message, problem.pointer, line)
    return unknown_steps > 0


_manifest_fits, _recorded_fits = type_test(Manifest), type_test(RecordedManifest)
_MAX_NAMED_STEPS = 5
_MAX_PROBLEMS = 1_000  # that are looked for in each list of a manifest
_MAX_STEPS = 2**64 - 1  # as JSON readers take them; a step number above it is a mistake


class StepCounts(NamedTuple):
    """Counts of steps; `total` has one more if the log is missing, torn, damaged or empty: at least that was lost."""

    total: int
    orphans: int  # manifests of steps that the run did not have
    manifests: list[dict[str, Any]]  # manifests of the steps, in order

    @property
    def with_manifest(self) -> int:
        return len(self.manifests)


def count_steps(
    files: RunFiles, log: EventLog, listed_steps: object, findings: RunFindings, *, kept: bool, complete: bool
) -> StepCounts:
    """Count the steps of the log and those that the output lists, with the gaps between them, and their manifests.

    `complete` says whether a manifest needs all its fields; where none are `kept`, steps without one are no finding.
    """
    steps = set(log.steps)
    lost = log.missing or log.torn or log.damaged
    if log.missing:
        findings.add("log_missing", "error", EVENTS, "the event log is missing or unreadable: its steps are unknown")
    lost |= _add_listed(listed_steps, steps, log, findings)
    manifests = _manifest_by_step(files, log.run_id, findings, Manifest if complete else RecordedManifest)
    gaps = _count_gaps(steps, findings)
    if not steps and not lost:
        lost = True
        findings.add("no_steps", "error", EVENTS, "the log shows no step; a run has at least one")
    orphans = [(step, file) for step, (file, _) in manifests.items() if step not in steps]
    for step, file in orphans:
        findings.add("orphan_manifest", "warning", file, f"a manifest of step {step}, which the run did not have")
    in_order = sorted(steps)
    missing = [step for step in in_order if step not in manifests]
    if missing and kept:
        findings.add("manifest_missing", "error", EVENTS, f"no manifest of {_step_names(missing)}")
    recorded = [manifests[step][1] for step in in_order if step in manifests and manifests[step][1] is not None]
    return StepCounts(min(len(steps) + gaps + lost, _MAX_STEPS), len(orphans), recorded)


def _add_listed(listed_steps: object, steps: set[int], log: EventLog, findings: RunFindings) -> bool:
    """The output's own list of steps can only add; the result says whether one of its entries cannot be read."""
    if type(listed_steps) is not list:
        return False
    unreadable = False
    for number, entry in enumerate(listed_steps):
        step = entry.get("step_id") if type(entry) is dict else entry
        if type(step) is not int or step < 0:
            unreadable = True
            findings.add("bad_step", "error", OUTPUT, "a step needs a step_id, an integer from 0", f"/steps/{number}")
        elif step not in steps:
            steps.add(step)
            if not log.missing:
                findings.add("unlogged_step", "warning", OUTPUT, f"the log has no step {step}", f"/steps/{number}")
    return unreadable


def _note_manifest(file: str, line: int | None, value: object, contract: Any, findings: RunFindings) -> None:
    """Note what a stored value lacks of a manifest."""
    if isinstance(value, BadLine):
        findings.add("bad_manifest", "error", file, str(value), line=line)
    elif findings.is_full("bad_manifest", "error"):
        findings.count("bad_manifest", "error", at_least=True)  # its fields and lists may have several
    else:
        takes = "; research.manifest: recorded takes manifests without it" if _recorded_fits(value) else ""
        for number, problem in enumerate(problems(contract, value, most=_MAX_PROBLEMS), 1):
            message = f"{problem.pointer.lstrip('/') or 'the manifest'}: {problem.message}{takes}"
            findings.add("bad_manifest", "error", file, message, problem.pointer, line)
            if number == _MAX_PROBLEMS:
                findings.count("bad_manifest", "error", 0, at_least=True)


def _manifest_by_step(
    files: RunFiles, run_id: str | None, findings: RunFindings, contract: type[RecordedManifest]
) -> dict[int, tuple[str, Any]]:
    """File and manifest of each step; None for the manifest where two contradict each other."""
    manifests: dict[int, tuple[str, Any]] = {}
    fits = _recorded_fits if contract is RecordedManifest else _manifest_fits
    for file, line, value in read_manifests(files):
        if not fits(value):
            _note_manifest(file, line, value, contract, findings)
            continue
        if run_id is not None and value["run_id"] != run_id:
            message = f"a manifest of run {value['run_id']}"
            findings.add("foreign_manifest", "error", file, message, "/run_id", line)
            continue
        step = value["step_id"]
        if step not in manifests:
            manifests[step] = file, value
        elif not equal_values(manifests[step][1], value):
            findings.add("conflicting_manifest", "error", file, f"step {step} has contradicting manifests", line=line)
            manifests[step] = file, None
    return manifests


def read_manifests(files: RunFiles) -> Iterator[tuple[str, int | None, Any]]:
    """File, line and value of every stored manifest; a BadLine in place of one that cannot be read."""
    for file, data in files.manifests:
        yield file, None, decode_unambiguous(data)
    if files.manifest_lines is not None:
        for line, value in decode_lines(files.manifest_lines):
            yield MANIFEST_LINES, line, value


def _count_gaps(steps: set[int], findings: RunFindings) -> int:
    """How many steps are left out: numbering may begin at 0 or at 1, and each number after that was a step."""
    if not steps:
        return 0
    first = min(*steps, 1)
    gaps = max(steps) + 1 - first - len(steps)
    if gaps:
        ranges = [
            f"{before + 1}" if step == before + 2 else f"{before + 1} to {step - 1}"
            for before, step in pairwise([first - 1, *sorted(steps)])
            if step > before + 1
        ]
        words = ", ".join(ranges[:_MAX_NAMED_STEPS]) + (" and more" if len(ranges) > _MAX_NAMED_STEPS else "")
        findings.add("step_gap", "error", EVENTS, f"{gaps} step(s) left out of the numbering: {words}")
    return gaps


def _step_names(steps: list[int]) -> str:
    names = ", ".join(map(str, steps[:_MAX_NAMED_STEPS]))
    more = f" and {len(steps) - _MAX_NAMED_STEPS} more" if len(steps) > _MAX_NAMED_STEPS else ""
    return f"step {names}" if len(steps) == 1 else f"steps {names}{more}"
