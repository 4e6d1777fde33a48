"""A judged page as JUnit XML, as Jenkins and GitLab read it: a test case for each gate, with the reason.

The file fits the schema of Ant's JUnit task, which is the strictest in use, and that of Jenkins' xUnit plugin. They
ask for a time and a host; a report has neither, so that the same inputs give the same bytes: what stands there is what
stands for "unknown". All characters beyond ASCII are references: no encoding of a log can spoil them.
"""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.core.page import Page
from goldgate.report.escape import named, visible
from goldgate.report.outcomes import Outcome, outcomes

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})
_ELEMENTS = {"failed": "failure", "error": "error", "warning": "skipped"}
_NO_TIME = 'timestamp="1970-01-01T00:00:00" time="0" hostname="localhost"'


def render_junit(page: Page) -> str:
    """One suite, whose cases are the gates: `failure` where a gate failed, `skipped` where it only warns, `error` where
    nothing could be measured."""
    found = outcomes(page)
    counts = {name: sum(_ELEMENTS.get(each.kind) == name for each in found) for name in _ELEMENTS.values()}
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'  <testsuite id="0" name="{_value(_class_name(page))}" package="goldgate" {_NO_TIME} tests="{len(found)}"'
        f' failures="{counts["failure"]}" errors="{counts["error"]}" skipped="{counts["skipped"]}">',
        *_properties(page),
        *(line for each in found for line in _case(page, each)),
        f"    <system-out>{_lines(page.stands_out)}</system-out>",
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


def _case(page: Page, outcome: Outcome) -> Iterator[str]:
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
    return _ascii(named(text).translate(_MARKUP))


def _lines(texts: tuple[str, ...]) -> str:
    return _ascii("\n".join(visible(text) for text in texts).translate(_MARKUP))


def _ascii(text: str) -> str:
    return text.encode("ascii", "xmlcharrefreplace").decode()
