"""The event log of a run: the steps it shows, and what it says about objective, stop reason and claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

from goldgate.core.finding import Findings, Severity
from goldgate.shape.fits import fits
from goldgate.shape.problems import problems, wrong_fields
from goldgate.suites.research.contracts import Event, Status, StopReason
from goldgate.suites.research.run.decode import MOST_BAD_LINES, Ambiguous, BadLine, TornLine, Unread, decode_lines
from goldgate.suites.research.run.files import EVENTS

_event_fits = fits(Event)
STATUSES: frozenset[str] = frozenset(get_args(Status))
_STOP_REASONS: frozenset[str] = frozenset(get_args(StopReason))


@dataclass(slots=True)
class Said:
    """What events say of one run: the last stop reason, and each claim's last status."""

    stop_reason: str | None = None
    statuses: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Log:
    """What the log shows. `torn` and `damaged` say that it does not show everything.

    Events that name another run stand in this run's log all the same: a wrong label must not hide what they say.
    """

    run_id: str | None = None
    objectives: dict[str, None] = field(default_factory=dict)  # in their order, the run's own first
    own: Said = field(default_factory=Said)
    foreign: Said = field(default_factory=Said)
    steps: set[int] = field(default_factory=set)
    torn: bool = False
    damaged: bool = False
    broken: str | None = None  # why its claims and its end are not known: a key twice, lines not read

    def statuses(self, claim_id: str) -> list[str]:
        """The last status of a claim, in the run's own events and in those under another run's name."""
        own = self.own.statuses.get(claim_id)
        if not self.foreign.statuses:
            return [] if own is None else [own]
        return [status for status in (own, self.foreign.statuses.get(claim_id)) if status is not None]


def parse_log(data: bytes, run_id: str | None, findings: Findings) -> Log:
    """Read the log of the run `run_id`; without one, the log's first event says which run it is."""
    log = Log(run_id)
    steps = log.steps
    elsewhere: dict[str, None] = {}
    bad = 0
    for line, event in decode_lines(data):
        if not _event_fits(event):
            bad += _note(log, line, event, findings)
            if bad > MOST_BAD_LINES:
                event = Unread(f"more than {MOST_BAD_LINES:,} lines show no step: the rest is left unread")
                _note(log, line, event, findings)
                break
            if type(event) is not dict:
                continue
        step = event.get("step_id")
        if type(step) is int and step >= 0:
            steps.add(step)
        of_run = event.get("run_id")
        said, objectives = log.own, log.objectives
        if of_run != log.run_id:
            if log.run_id is None:
                log.run_id = of_run if type(of_run) is str else None
            else:
                findings.add("foreign_event", "warning", EVENTS, "an event of another run", "/run_id", line)
                said, objectives = log.foreign, elsewhere
        payload = event.get("payload")
        if type(payload) is dict and ("claim_id" in payload or "objective" in payload or "stop_reason" in payload):
            _read(payload, said, objectives, line, findings)
    log.objectives |= elsewhere
    return log


def normal_status(status: object) -> str | None:
    """One of the three statuses; case and outer space do not move a claim out."""
    if type(status) is not str:
        return None
    if status in STATUSES:
        return status
    plain = status.strip().casefold()
    return plain if plain in STATUSES else None


def normal_stop_reason(reason: str) -> str | None:
    """One of the five stop reasons; None for another word, such as a model's own `end_turn`."""
    if reason in _STOP_REASONS:
        return reason
    plain = "_".join(reason.replace("-", " ").split()).upper()
    return plain if plain in _STOP_REASONS else None


def _read(payload: dict[str, Any], said: Said, objectives: dict[str, None], line: int, findings: Findings) -> None:
    if "stop_reason" in payload and type(payload["stop_reason"]) is str:
        said.stop_reason = normal_stop_reason(payload["stop_reason"]) or said.stop_reason
    claim = payload.get("claim_id")
    if type(claim) in (str, int) and "status" in payload:
        status = normal_status(payload["status"])
        if status is not None:
            said.statuses[str(claim)] = status
        else:  # a word of the agent's own: the claim keeps the status that it had
            message = f"the claim {claim} gets a status that is none of {', '.join(sorted(STATUSES))}"
            findings.add("unknown_status", "hint", EVENTS, message, "/payload/status", line)
    objective = payload.get("objective")
    if type(objective) is str and objective.strip():
        objectives.setdefault(objective)


def _note(log: Log, line: int, event: object, findings: Findings) -> bool:
    """Note what is wrong with a line; the result says whether it may have been a step, which cannot be read."""
    if isinstance(event, TornLine):
        log.torn = True
        findings.add("torn_log", "error", EVENTS, f"the last line is torn: {event}", line=line)
        return True
    if isinstance(event, BadLine):
        log.damaged = True
        if isinstance(event, Ambiguous):
            log.broken = log.broken or ("too_large" if isinstance(event, Unread) else "repeated_key")
        findings.add("too_large" if isinstance(event, Unread) else "bad_event", "error", EVENTS, str(event), line=line)
        return not isinstance(event, Unread)
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
