"""Verdicts in every format: columns and notes of gates, the page of a check, and what CI systems read.

These are JUnit XML, and GitHub's annotations and step summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from goldgate.core.gate import Verdict
from goldgate.core.page import (
    Column,
    FindingLine,
    FindingList,
    GateLine,
    LabelList,
    MeasuredValue,
    Name,
    Page,
    Reasons,
    Section,
    Table,
    count_text,
    group_reasons,
)
from goldgate.core.report_page import finding_lines
from goldgate.report.escape import visible, visible_name

OPTIONAL = ("counts",)  # columns that can be left out: the value and the interval say the same


def verdict_words(gate: GateLine) -> str:
    """`FAIL`, or `FAIL (warn)` where that does not fail the evaluation."""
    return gate.verdict + (" (warn)" if _only_warns(gate) else "")


def _only_warns(gate: GateLine) -> bool:
    lets_pass = gate.verdict == Verdict.INCONCLUSIVE and gate.gate.on_inconclusive != "fail"
    return gate.gate.severity == "warn" or lets_pass


def gate_columns(gates: Sequence[GateLine]) -> dict[str, Callable[[GateLine], str]]:
    """The columns of gates by title, those left out that no gate has."""
    columns: dict[str, Callable[[GateLine], str]] = {
        "": verdict_words,
        "metric": lambda gate: gate.metric,
        "value": lambda gate: str(gate.measured),
    }
    if any(gate.measured.interval for gate in gates):
        columns["interval"] = lambda gate: "" if gate.measured.interval is None else str(gate.measured.interval)
    if any(gate.measured.counts for gate in gates):
        columns["counts"] = lambda gate: gate.measured.counts
    columns["gate"] = lambda gate: gate.gate.bounds()
    return columns


def gate_notes(gates: Sequence[GateLine]) -> tuple[dict[str, str], Reasons]:
    """Reasons that say more than value and bounds: of one gate, by its metric; of several, with all of them."""
    reasons = group_reasons((gate.metric, gate.reason) for gate in gates if gate.says_more)
    own = {names[0]: reason for reason, names in reasons.items() if len(names) == 1}
    return own, {reason: names for reason, names in reasons.items() if len(names) > 1}


OutcomeKind = Literal["passed", "failed", "warning", "error"]
SCORES_ONLY = "no gates set; scores only"


class GateOutcome(NamedTuple):
    """One thing that was judged: its name, its verdict, a word for that, and why."""

    name: str
    kind: OutcomeKind
    word: str
    reason: str
    details: tuple[str, ...] = ()
    file: str = ""  # of the first cause, and its line
    line: int | None = None


def gate_outcomes(page: Page) -> list[GateOutcome]:
    """The outcome of every gate, in their order; the error alone if the evaluation failed."""
    if page.verdict == Verdict.SYSTEM_ERROR:
        return [_error(page)]
    outcomes = [_gate(line) for line in page.gates or ()]
    if page.verdict == Verdict.NO_GATES:
        outcomes.append(GateOutcome("gates", "warning", Verdict.NO_GATES, SCORES_ONLY))
    return outcomes


def _gate(line: GateLine) -> GateOutcome:
    gate, measured = line.gate, line.measured
    counts = f" ({measured.counts})" if measured.counts else ""
    interval = f", interval {measured.interval}" if measured.interval is not None else ""
    details = (f"{line.metric} is {measured}{counts}{interval}", f"the gate is {gate.bounds()}", *line.cause_words)
    kind: OutcomeKind = "passed" if line.verdict == Verdict.PASS else "warning" if _only_warns(line) else "failed"
    file, number = next(((cause.file, cause.line) for cause in line.causes if cause.file), ("", None))
    return GateOutcome(line.metric, kind, line.verdict, line.reason, details, file, number)


def _error(page: Page) -> GateOutcome:
    pairs = {
        str(pair.label): ", ".join(pair.parts)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, LabelList)
        for pair in block.rows
    }
    message, code = pairs.pop("message", "the command failed"), pairs.pop("code", Verdict.SYSTEM_ERROR)
    return GateOutcome("evaluation", "error", code, message, tuple(f"{label}: {text}" for label, text in pairs.items()))


SHOWN_FINDINGS = 50
SHOWN_PLACES = 3  # of a finding that is there several times


def describe_check(report: Mapping[str, Any], summary: str) -> Page:
    """The verdict and the summary, the worst findings, and how many there were of each code."""
    entries: list[Any] = [{"pointer": entry.get("field") or "", **entry} for entry in report["findings"]]
    findings = finding_lines(entries)
    lines = _merge_repeated(findings)
    codes = Counter(finding.code for finding in findings)
    by_code = Table((Column("code"), Column("times")), tuple((Name(c), MeasuredValue(n)) for c, n in codes.items()))
    sections = (
        Section("Findings, the worst first", (FindingList(lines, limit=SHOWN_FINDINGS),)),
        Section("How often", (by_code,)),
    )
    return Page(suite=report["suite"], verdict=report["status"], subject=summary, sections=sections if findings else ())


def _merge_repeated(findings: Iterable[FindingLine]) -> tuple[FindingLine, ...]:
    """The findings, those that say the same as one line, with how many there are and the first places."""
    groups: dict[tuple[str, str, str], list[FindingLine]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.code, finding.message), []).append(finding)
    return tuple(lines[0]._replace(place=_first_places(lines)) for lines in groups.values())


def _first_places(lines: Sequence[FindingLine]) -> str:
    if len(lines) == 1:
        return lines[0].place
    places = ", ".join(line.place for line in lines[:SHOWN_PLACES])
    return f"{len(lines)} times: {places}{', …' if len(lines) > SHOWN_PLACES else ''}"


_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_ELEMENTS = {"failed": "failure", "error": "error", "warning": "skipped"}
_NO_TIME = 'timestamp="1970-01-01T00:00:00" time="0" hostname="localhost"'


def render_junit(page: Page) -> str:
    """One suite, whose cases are the gates: `failure` where a gate failed, `skipped` where it only warns, `error` where
    nothing could be measured."""
    outcomes = gate_outcomes(page)
    counts = {name: sum(_ELEMENTS.get(each.kind) == name for each in outcomes) for name in _ELEMENTS.values()}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'  <testsuite id="0" name="{_value(_class_name(page))}" package="goldgate" {_NO_TIME} tests="{len(outcomes)}"'
        f' failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}">',
        *_properties(page),
        *(line for each in outcomes for line in _case(page, each)),
        f"    <system-out>{_lines(page.remarks)}</system-out>",
        "    <system-err></system-err>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _class_name(page: Page) -> str:
    """What the test cases are grouped by: the suite, so that a gate keeps its history when the protocol changes."""
    return f"goldgate.{page.suite}"


def _properties(page: Page) -> Iterator[str]:
    values = {"status": page.verdict, "subject": page.subject, "protocol": page.protocol}
    if page.origin is not None:
        values["signature"] = page.origin.signature
    yield "    <properties>"
    for name, value in values.items():
        if value:
            yield f'      <property name="{name}" value="{_value(value)}"/>'
    yield "    </properties>"


def _case(page: Page, outcome: GateOutcome) -> Iterator[str]:
    case = f'    <testcase name="{_value(outcome.name)}" classname="{_value(_class_name(page))}" time="0"'
    element = _ELEMENTS.get(outcome.kind)
    if element is None:
        yield f"{case}/>"
        return
    yield f"{case}>"
    message = f"{outcome.word} (warn): {outcome.reason}" if outcome.kind == "warning" else outcome.reason
    body = _lines((outcome.reason, *outcome.details))
    yield f'      <{element} type="{_value(outcome.word)}" message="{_value(message)}">{body}</{element}>'
    yield "    </testcase>"


def _value(text: str) -> str:
    """An attribute's value; its blanks are kept apart from those that a reader may collapse."""
    return _ascii(visible_name(text).translate(_MARKUP))


def _lines(texts: tuple[str, ...]) -> str:
    return _ascii("\n".join(visible(text) for text in texts).translate(_MARKUP))


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()


MAX_ANNOTATIONS = 10  # of a kind in a step; GitHub drops the others without a word
MAX_SUMMARY_BYTES = 1 << 20  # of a step; GitHub drops a larger summary as a whole
_LEVELS = {"failed": "error", "error": "error", "warning": "warning"}
_CUT = "\n\n… cut here: GitHub shows one megabyte. `report.md` has all of it.\n"


def render_github(page: Page) -> str:
    """An `error` for each gate that failed, a `warning` for each that only warns, a `notice` with the verdict and for
    what stands out; of each kind at most as many as are shown, of which the last says how many there are more."""
    outcomes = gate_outcomes(page)
    title = f"goldgate {page.suite}"
    by_level: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for each in outcomes:
        if each.kind in _LEVELS:
            about = [each.reason, *(each.details[2:] if each.kind == "failed" else each.details)]
            word, text = each.word, f"{each.name}: {'; '.join(about)}"
            if each.kind == "error":
                word, text = f"{Verdict.SYSTEM_ERROR} {each.word}", "; ".join(about)
            command = _workflow_command(_LEVELS[each.kind], f"{title}: {word}", text, each.file, each.line)
            by_level[_LEVELS[each.kind]].append(command)
    if page.verdict == Verdict.PASS:
        by_level["notice"].append(_workflow_command("notice", f"{title}: PASS", _passed(page)))
    by_level["notice"] += [_workflow_command("notice", f"{title}: what stands out", text) for text in page.remarks]
    lines = [line for level, lines in by_level.items() for line in _first_outcomes(level, title, lines)]
    return "".join(f"{line}\n" for line in lines)


def step_summary(markdown: str, used: int) -> str:
    """The report for the summary page of a step, cut to the bytes that are left after `used`."""
    room = MAX_SUMMARY_BYTES - used
    whole = markdown.encode("utf-8", "backslashreplace")
    if len(whole) <= room:
        return whole.decode()
    kept = whole[: max(0, room - len(_CUT.encode()))].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1] + _CUT if "\n" in kept else ""


def _passed(page: Page) -> str:
    passed = [each for each in gate_outcomes(page) if each.kind == "passed"]
    names = ", ".join(each.name for each in passed)
    return f"{page.subject}: {count_text(len(passed), 'gate')} passed: {names}"


def _first_outcomes(level: str, title: str, lines: list[str]) -> list[str]:
    if len(lines) <= MAX_ANNOTATIONS:
        return lines
    kept = lines[: MAX_ANNOTATIONS - 1]
    return [*kept, _workflow_command(level, title, f"and {len(lines) - len(kept)} more of these; the report has all")]


def _workflow_command(level: str, title: str, text: str, file: str = "", line: int | None = None) -> str:
    place = {"file": file, "line": "" if line is None else str(line), "title": title}
    properties = ",".join(f"{name}={_property(visible_name(value))}" for name, value in place.items() if value)
    return f"::{level} {properties}::{_data(visible_name(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
