"""JUnit XML: what Jenkins and GitLab make of it, for every outcome, and for names that are hostile."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from typing import Literal

from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.core.evaluation import error_report
from goldgate.core.gate import Gate
from goldgate.core.page import GateLine, MeasuredValue, Page
from goldgate.errors import InputError, Place
from goldgate.report import describe_report, render_page
from tests.cases import cases
from tests.unit.report.pages import page as full_page

from .schema import problems

Effect = Literal["", "failure", "skipped"]
RATE = MeasuredValue(0.75, 3, 4)


def line(verdict: str, metric: str = "strict_f1", **gate: object) -> GateLine:
    bounds = Gate(min=Decimal("0.80"), **gate)  # type: ignore[arg-type]
    return GateLine(metric, bounds, RATE, verdict, f"because {verdict}")


def judged(*lines: GateLine, verdict: str = "FAIL") -> Page:
    return Page(suite="extraction", verdict=verdict, subject="3 samples", protocol="release 1.0", gates=lines)


def parsed(page: Page) -> ElementTree.Element:
    text = render_page(page, "junit")
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert problems(root) == []
    return root


@cases(
    ("gate", "effect"),
    [
        (line("PASS"), ""),
        (line("FAIL"), "failure"),
        (line("FAIL", severity="warn"), "skipped"),
        (line("INCONCLUSIVE", confidence=Decimal("0.95")), "failure"),  # the exit status is 1
        (line("INCONCLUSIVE", confidence=Decimal("0.95"), on_inconclusive="warn"), "skipped"),
        (line("INCONCLUSIVE", confidence=Decimal("0.95"), on_inconclusive="pass"), "skipped"),
        (line("INCONCLUSIVE", confidence=Decimal("0.95"), severity="warn"), "skipped"),
    ],
)
def test_a_gate_is_a_test_case_that_fails_when_the_exit_status_does(gate: GateLine, effect: Effect) -> None:
    suite = parsed(judged(gate))[0]
    (case,) = suite.iter("testcase")
    assert (case.get("name"), case.get("classname")) == ("strict_f1", "goldgate.extraction")
    assert [child.tag for child in case] == ([effect] if effect else [])
    for child in case:
        assert gate.reason in str(child.get("message"))
        assert "strict_f1 is 0.7500 (3/4)" in str(child.text)
        assert child.get("type") == gate.verdict
    counted = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    one = {"failure": "failures", "skipped": "skipped"}.get(effect)
    assert counted == {"tests": "1", "failures": "0", "errors": "0", "skipped": "0"} | ({one: "1"} if one else {})


def test_without_gates_there_is_a_case_that_is_skipped() -> None:
    """Jenkins calls a file without cases broken, and nobody looks for what is not there."""
    suite = parsed(judged(verdict="NO_GATES"))[0]
    (case,) = suite.iter("testcase")
    assert case.get("name") == "gates"
    assert "no gates set; scores only" in str(case[0].get("message"))
    assert suite.get("failures") == suite.get("errors") == "0"


def test_what_could_not_be_carried_out_is_an_error_and_no_failure() -> None:
    error = InputError("gold.bad_id", "no id", place=Place("gold.jsonl", 3, "id"), found="\x1b]0;<&\"'")
    suite = parsed(describe_report(error_report("extraction", error)))[0]
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("1", "1", "0")
    (case,) = suite.iter("testcase")
    assert case[0].get("type") == "gold.bad_id"
    assert "gold.jsonl:3" in str(case[0].text)


@example("]]>")
@example("<!-- &#0;")
@example("\x00\ud800\ufffe")
@example('a\nb"')
@example("::error::x ##[x]")
@given(st.text(st.characters(), min_size=1))
def test_any_name_gives_a_valid_file_that_names_it_apart_from_others(name: str) -> None:
    text = render_page(judged(line("FAIL", name)), "junit")
    assert ("::" in text, "##" in text) == (False, False)
    other = full_page(name)._replace(gates=(line("FAIL", name), line("PASS", f"{name} "), line("FAIL", f"{name}x")))
    for page in (full_page(name), other):
        root = parsed(page)
        names = [case.get("name") for case in root.iter("testcase")]
        assert len({*names}) == len(names)


def test_the_same_page_gives_the_same_bytes_and_has_no_clock() -> None:
    page = full_page("x")
    assert render_page(page, "junit") == render_page(page, "junit")
    assert 'timestamp="1970-01-01T00:00:00"' in render_page(page, "junit")
