"""What a check found, as a page: `validate`, `lint-golden` and `check-gold` print these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from goldgate.core.frame import finding_lines
from goldgate.core.page import Column, Findings, Measured, Name, Page, Section, Table, counted

SHOWN_FINDINGS = 50


def describe_check(report: Mapping[str, Any], summary: str) -> Page:
    """The verdict and the summary, the worst findings, and how many there were of each code."""
    found = finding_lines(report["findings"])
    codes = Counter(finding.code for finding in found)
    by_code = Table((Column("code"), Column("times")), tuple((Name(c), Measured(n)) for c, n in codes.items()))
    sections = (
        Section("Findings, the worst first", (Findings(found, limit=SHOWN_FINDINGS),)),
        Section("How often", (by_code,)),
    )
    return Page(suite=report["suite"], verdict=report["status"], subject=summary, sections=sections if found else ())


def describe_gold_check(report: Mapping[str, Any]) -> Page:
    """What check-gold found, with how much it read."""
    forms = "".join(f" of {form}" for form in sorted({each["form"] for each in report["inputs"] if "form" in each}))
    read = f"{counted(report['records'], 'record')}{forms}, {report['records_without_events']} without events"
    page = describe_check(report, f"{read}; {counted(report['errors'], 'error')}, {counted(report['notes'], 'note')}")
    if report["types_checked"]:
        return page
    unchecked = "event types and roles were not checked: no event schema was given (--schema)"
    return page._replace(stands_out=(unchecked,))
