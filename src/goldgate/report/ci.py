"""A page for CI systems: JUnit XML for Jenkins and GitLab, annotations and a step summary for GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.core.gate import Verdict
from goldgate.core.page import Page, count_text
from goldgate.report.escape import visible, visible_name
from goldgate.report.verdicts import GateOutcome, gate_outcomes

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


MOST_ANNOTATIONS = 10  # of a kind in a step; GitHub drops the others without a word
MOST_SUMMARY_BYTES = 1 << 20  # of a step; GitHub drops a larger summary as a whole
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
            about = [each.reason] if each.kind == "failed" else [each.reason, *each.details]
            word, text = each.word, f"{each.name}: {'; '.join(about)}"
            if each.kind == "error":
                word, text = f"{Verdict.SYSTEM_ERROR} {each.word}", "; ".join(about)
            by_level[_LEVELS[each.kind]].append(_workflow_command(_LEVELS[each.kind], f"{title}: {word}", text))
    if page.verdict == Verdict.PASS:
        by_level["notice"].append(_workflow_command("notice", f"{title}: PASS", _passed(page)))
    by_level["notice"] += [_workflow_command("notice", f"{title}: what stands out", text) for text in page.remarks]
    lines = [line for level, lines in by_level.items() for line in _first_outcomes(level, title, lines)]
    return "".join(f"{line}\n" for line in lines)


def step_summary(markdown: str, used: int) -> str:
    """The report for the summary page, cut where a step with so many bytes on it already has no room for more."""
    room = MOST_SUMMARY_BYTES - used
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
    if len(lines) <= MOST_ANNOTATIONS:
        return lines
    kept = lines[: MOST_ANNOTATIONS - 1]
    return [*kept, _workflow_command(level, title, f"and {len(lines) - len(kept)} more of these; the report has all")]


def _workflow_command(level: str, title: str, text: str) -> str:
    return f"::{level} title={_property(visible_name(title))}::{_data(visible_name(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
