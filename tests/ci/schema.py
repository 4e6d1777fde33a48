"""What the schemas for JUnit files ask for, put together: Ant's (Windy Road), and that of Jenkins' xUnit plugin.

Where they differ, the narrower rule stands here; a file that has none of these problems fits both.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

_NUMBER = re.compile(r"\d+")
_SUITE = {
    "id": _NUMBER,
    "name": re.compile(r"(?s).+"),
    "package": re.compile(".+"),
    "timestamp": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"),
    "hostname": re.compile(".+"),
    "tests": _NUMBER,
    "failures": _NUMBER,
    "errors": _NUMBER,
    "skipped": _NUMBER,
    "time": re.compile(r"\d{1,3}(\.\d+)?"),
}
_CASE = {"name": re.compile(r"(?s).+"), "classname": re.compile(r"(?s).+"), "time": re.compile(r"\d+(\.\d+)?")}
_RESULT = {"type": re.compile("(?s).+"), "message": re.compile("(?s).*")}
_PROPERTY = {"name": re.compile(".+"), "value": re.compile("(?s).*")}
# How many of each child, in this order.
_ORDER = re.compile("(properties )(testcase )*(system-out )(system-err )")


def problems(root: ElementTree.Element) -> list[str]:
    """Everything in which a document departs from the schemas."""
    return [*_problems(root)]


def _problems(root: ElementTree.Element) -> Iterator[str]:
    if root.tag != "testsuites" or root.attrib or not all(suite.tag == "testsuite" for suite in root):
        yield "the root is no plain testsuites"
    for suite in root:
        yield from _attributes(suite, _SUITE)
        if not _ORDER.fullmatch("".join(f"{child.tag} " for child in suite)):
            yield f"children of the suite: {[child.tag for child in suite]}"
        for entry in suite.iterfind("properties/*"):
            yield from _attributes(entry, _PROPERTY)
        cases = suite.findall("testcase")
        for case in cases:
            yield from _attributes(case, _CASE)
            if len(case) > 1:
                yield "a case has more than one result"
            for result in case:
                yield from _attributes(result, _RESULT)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            found = sum(case.find(tag) is not None for case in cases)
            if suite.get(name) != str(found):
                yield f"{name} is {suite.get(name)}, and there are {found}"
        if suite.get("tests") != str(len(cases)):
            yield "tests is not the number of cases"


def _attributes(element: ElementTree.Element, wanted: dict[str, re.Pattern[str]]) -> Iterator[str]:
    if element.attrib.keys() != wanted.keys():
        yield f"attributes of {element.tag}: {sorted(element.attrib)}"
    for name, pattern in wanted.items():
        if not pattern.fullmatch(element.get(name, "")):
            yield f"{element.tag} {name}={element.get(name)!r}"
