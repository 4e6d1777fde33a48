"""The event log of a run: the steps it shows, and what it says about objective, stop reason and claims."""

from __future__ import annotations

from dataclasses import dataclass, field

from goldgate.research.contracts import Event
from goldgate.research.decode import BadLine, TornLine, decode_lines
from goldgate.research.finding import Findings
from goldgate.research.fits import fits, problems
from goldgate.research.run_files import EVENTS

_event_fits = fits(Event)


@dataclass(slots=True)
class Log:
    """What the log shows. `torn` and `damaged` say that it does not show everything."""

    run_id: str | None = None
    objective: str | None = None
    stop_reason: str | None = None
    statuses: dict[str, str] = field(default_factory=dict)  # claim → its last status
    steps: set[int] = field(default_factory=set)
    torn: bool = False
    damaged: bool = False


def parse_log(data: bytes, run_id: str | None, findings: Findings) -> Log:
    """Read the log of the run `run_id`; without one, the log's first event says which run it is."""
    log = Log(run_id)
    steps, statuses = log.steps, log.statuses
    for line, event in decode_lines(data):
        if not _event_fits(event):
            _note(log, line, event, findings)
            if type(event) is not dict:
                continue
        step = event.get("step_id")
        if type(step) is int and step >= 0:
            steps.add(step)
        of_run = event.get("run_id")
        if of_run != log.run_id:
            if log.run_id is None:
                log.run_id = of_run if type(of_run) is str else None
            else:
                # Its step counts all the same: a step must not vanish by a wrong label.
                findings.add("foreign_event", "warning", EVENTS, "an event of another run", "/run_id", line)
                continue
        payload = event.get("payload")
        if type(payload) is not dict:
            continue
        if "stop_reason" in payload and type(payload["stop_reason"]) is str:
            log.stop_reason = payload["stop_reason"]
        if "claim_id" in payload and type(payload["claim_id"]) is str and type(payload.get("status")) is str:
            statuses[payload["claim_id"]] = payload["status"]
        if log.objective is None and type(objective := payload.get("objective")) is str and objective.strip():
            log.objective = objective
    return log


def _note(log: Log, line: int, event: object, findings: Findings) -> None:
    if isinstance(event, TornLine):
        log.torn = True
        findings.add("torn_log", "error", EVENTS, f"the last line is torn: {event}", line=line)
        return
    if isinstance(event, BadLine):
        log.damaged = True
        findings.add("bad_event", "error", EVENTS, str(event), line=line)
        return
    for problem in problems(Event, event):
        unknown_step = problem.pointer in ("", "/step_id")
        log.damaged |= unknown_step  # it may have been a step, and nobody can say which
        findings.add(
            "bad_event", "error" if unknown_step else "warning", EVENTS, problem.message, problem.pointer, line
        )
