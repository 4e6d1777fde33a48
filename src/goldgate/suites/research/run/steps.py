"""Steps and their manifests: which steps there were, and which of them have exactly one manifest."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from goldgate.core.finding import Findings
from goldgate.shape.fits import fits
from goldgate.shape.problems import problems
from goldgate.suites.research.contracts import Manifest
from goldgate.suites.research.run.decode import BadLine, decode_lines, decode_once, same
from goldgate.suites.research.run.files import EVENTS, MANIFEST_LINES, OUTPUT, RunFiles
from goldgate.suites.research.run.log import Log

_manifest_fits = fits(Manifest)
_SHOWN_STEPS = 5
_MOST_PROBLEMS = 1_000  # that are looked for in each list of a manifest
_MOST_STEPS = 2**64 - 1  # as JSON readers take them; whoever writes such a step number has lost count anyway


class Steps(NamedTuple):
    """Counts of steps; `unlogged` is one if the log is missing, torn, damaged or empty: at least that was lost."""

    total: int
    with_manifest: int
    unlogged: int
    orphans: int
    manifests: list[dict[str, Any]]  # in the order of their steps


def count_steps(
    files: RunFiles,
    log: Log | None,
    listed: object,
    run_id: str | None,
    findings: Findings,
    *,
    manifests_kept: bool = True,
) -> Steps:
    """Steps are those of the log and those that the output lists, and the gaps between them."""
    steps = set(log.steps) if log is not None else set()
    lost = _lost(files, log, findings)
    lost |= _add_listed(listed, steps, log, findings)
    manifests = _by_step(files, run_id, findings)
    shown_steps = len(steps)
    gaps = 0
    if steps:
        # Numbering may begin at 0 or at 1; whatever is left out after that was a step.
        first = min(min(steps), 1)
        gaps = max(steps) + 1 - first - shown_steps
        if gaps:
            _note_gaps(steps, first, gaps, findings)
    elif not lost:
        lost = True
        findings.add("no_steps", "error", EVENTS, "the log shows no step; a run has at least one")
    with_manifest = 0
    orphans = 0
    recorded: list[tuple[int, dict[str, Any]]] = []
    for step, (file, manifest) in manifests.items():
        if step not in steps:
            orphans += 1
            findings.add("orphan_manifest", "warning", file, f"a manifest of step {step}, which the run did not have")
        elif manifest is not None:
            with_manifest += 1
            recorded.append((step, manifest))
    missing = [step for step in sorted(steps) if step not in manifests] if with_manifest < shown_steps else []
    if missing and manifests_kept:
        words = _words(missing)
        findings.add("manifest_missing", "error", EVENTS, f"no manifest of {words}")
    recorded.sort(key=itemgetter(0))
    in_order = [manifest for _, manifest in recorded]
    return Steps(min(shown_steps + gaps + lost, _MOST_STEPS), with_manifest, int(lost), orphans, in_order)


def _lost(files: RunFiles, log: Log | None, findings: Findings) -> bool:
    if log is None:
        if not any(unread.file == EVENTS for unread in files.unread):
            findings.add("log_missing", "error", EVENTS, "there is no event log: its steps are not known")
        return True
    return log.torn or log.damaged


def _add_listed(listed: object, steps: set[int], log: Log | None, findings: Findings) -> bool:
    """The output's own list of steps can only add; the result says whether one of its entries cannot be read."""
    if type(listed) is not list:
        return False
    unreadable = False
    for number, entry in enumerate(listed):
        step = entry.get("step_id") if type(entry) is dict else entry
        if type(step) is not int or step < 0:
            unreadable = True
            findings.add("bad_step", "error", OUTPUT, "a step needs a step_id, an integer from 0", f"/steps/{number}")
        elif step not in steps:
            steps.add(step)
            if log is not None:
                findings.add("unlogged_step", "warning", OUTPUT, f"the log has no step {step}", f"/steps/{number}")
    return unreadable


def _by_step(files: RunFiles, run_id: str | None, findings: Findings) -> dict[int, tuple[str, Any]]:
    """File and manifest of each step; None for the manifest where two contradict each other."""
    found: dict[int, tuple[str, Any]] = {}
    for file, line, value in _manifests(files):
        if not _manifest_fits(value):
            if isinstance(value, BadLine):
                findings.add("bad_manifest", "error", file, str(value), line=line)
            elif findings.is_full("bad_manifest", "error"):
                findings.count("bad_manifest", "error", at_least=True)  # its fields and lists may have several
            else:
                for number, problem in enumerate(problems(Manifest, value, most=_MOST_PROBLEMS), 1):
                    findings.add("bad_manifest", "error", file, problem.message, problem.pointer, line)
                    if number == _MOST_PROBLEMS:
                        findings.count("bad_manifest", "error", 0, at_least=True)
            continue
        if run_id is not None and value["run_id"] != run_id:
            message = f"a manifest of run {value['run_id']}"
            findings.add("foreign_manifest", "error", file, message, "/run_id", line)
            continue
        step = value["step_id"]
        if step not in found:
            found[step] = file, value
        elif not same(found[step][1], value):
            findings.add("conflicting_manifest", "error", file, f"step {step} has contradicting manifests", line=line)
            found[step] = file, None
    return found


def _manifests(files: RunFiles) -> Iterator[tuple[str, int | None, Any]]:
    for file, data in files.manifests:
        yield file, None, decode_once(data)
    if files.manifest_lines is not None:
        for line, value in decode_lines(files.manifest_lines):
            yield MANIFEST_LINES, line, value


def _note_gaps(steps: set[int], first: int, gaps: int, findings: Findings) -> None:
    known = sorted(steps)
    before = first - 1
    ranges = []
    for step in known:
        if step > before + 1:
            ranges.append(f"{before + 1}" if step == before + 2 else f"{before + 1} to {step - 1}")
        before = step
    words = ", ".join(ranges[:_SHOWN_STEPS]) + (" and more" if len(ranges) > _SHOWN_STEPS else "")
    findings.add("step_gap", "error", EVENTS, f"{gaps} step(s) left out of the numbering: {words}")


def _words(steps: list[int]) -> str:
    shown = ", ".join(map(str, steps[:_SHOWN_STEPS]))
    more = f" and {len(steps) - _SHOWN_STEPS} more" if len(steps) > _SHOWN_STEPS else ""
    return f"step {shown}{more}" if len(steps) == 1 else f"steps {shown}{more}"
