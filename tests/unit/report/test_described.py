"""What the suites and the commands describe: no fact of a report is lost, and no line is too wide."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from goldgate import render
from goldgate.core.page import Page, Table
from goldgate.generation.results import describe_seeds
from goldgate.report import PAGE_FORMATS, describe_report, render_page
from goldgate.report.escape import display_width
from goldgate.report.svg import page_pictures, render_svg
from goldgate.report.verdicts import describe_check
from goldgate.runs.baseline import describe_baseline
from goldgate.runs.trend import describe_trend
from tests.cases import cases

GOLDEN = Path(__file__).parents[2] / "golden"
REPORTS = ("model-a", "model-b", "research-passing", "research-failing")
reports = pytest.mark.parametrize("name", REPORTS)


def load(name: str) -> Any:
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def metrics_of(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    sections = [section for section in report["metrics"].values() if isinstance(section, dict)]
    return {name: metric for section in sections for name, metric in section.items()}


@reports
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_no_line_of_a_report_is_wider_than_the_terminal(name: str, columns: int) -> None:
    report = load(name)
    report["protocol"]["name"] = "质押 " * 40
    report["signature"] += "|long:" + "x" * 200
    shown = render(report, columns=columns)
    assert [line for line in shown.splitlines() if display_width(line) > columns] == []


@reports
@pytest.mark.parametrize("format", PAGE_FORMATS)
def test_every_metric_and_gate_is_shown(name: str, format: str) -> None:
    report = load(name)
    shown = re.sub(r"[\\`]", "", render(report, format))  # type: ignore[arg-type]  # a name of a format
    shown = unescape(shown) if format == "html" else shown
    for metric in metrics_of(report).values():
        if "denominator" in metric:
            assert f"{metric['numerator']}/{metric['denominator']}" in shown
    for gate in report["gates"]:
        assert gate["metric"] in shown
        assert all(gate[bound] in shown for bound in ("min", "max", "equals") if bound in gate)
    assert report["signature"].replace("|", "") in re.sub(r"[|\s]", "", shown)


def test_the_long_format_has_every_role_run_query_and_finding() -> None:
    roles = render(load("model-b"), "markdown")
    assert all(f"| `{entry['role']}` |" in roles for entry in load("model-b")["breakdown"]["roles"])
    failing = load("research-failing")
    shown = render(failing, "markdown").replace("\\", "")
    assert all(f"`{run['run']}`" in shown for run in failing["runs"])
    assert all(query["objective"] in shown for query in failing["queries"])
    assert all(finding["message"] in shown for finding in failing["findings"])


@reports
@pytest.mark.parametrize("format", ["text", "markdown"])
def test_what_stands_out_is_right_under_the_gates(name: str, format: str) -> None:
    report = load(name)
    report["stands_out"] = [{"code": "x", "message": "this stands out", "counts": {}}]
    titles = re.findall(r"(?m)^(?:## )?([A-Z][a-z].*[^.\n])$", render(report, format))  # type: ignore[arg-type]
    assert titles[:2] == ["Gates", "What stands out"]
    report["stands_out"] = []
    assert "this stands out" not in render(report, format)  # type: ignore[arg-type]


@cases("format", [*PAGE_FORMATS])
def test_generation_is_shown_with_its_bounds(format: str) -> None:
    report = load("model-b")
    rate = {"value": 0.5, "numerator": 1, "denominator": 2}
    report["generation"] = {
        "coverage": {"value": 0.975, "numerator": 78, "denominator": 80},
        "missing": {"timeout": 2},
        "bounds": {side: {"strict_f1": rate, "strict_recall": rate} for side in ("all_wrong", "all_right")},
        "cost": {"amount": "0.0123", "currency": "EUR"},
    }
    shown = re.sub(r"[\\`]", "", render(report, format))  # type: ignore[arg-type]
    shown = re.sub("<[^>]*>", "", shown) if format == "html" else shown
    for fact in ("0.9750", "78/80", "missing: timeout", "all wrong", "0.0123 EUR"):
        assert fact in shown
    (generation,) = [section for section in describe_report(report).sections if section.title == "Generation"]
    (bounds,) = [block for block in generation.blocks if isinstance(block, Table)]
    assert len(bounds.rows) == 1  # of the headline metrics only


def test_an_error_of_any_suite_is_a_page() -> None:
    names = ("code", "message", "file", "line", "field", "expected", "found", "advice")
    problems = [{"pointer": f"/{n}", "expected": "a number", "found": "null"} for n in range(30)]
    for suite in ("extraction", "research", "check"):
        report = {"suite": suite, "error": {**dict.fromkeys(names), "code": "x.y", "problems": problems}}
        text, page = (render(report, format) for format in ("text", "markdown"))
        assert text.startswith(f"SYSTEM_ERROR  goldgate {suite}\n  code  x.y\n")
        assert "/19: expected a number" in text
        assert "… and 10 more" in text
        assert "- `/29`: expected a number, found null" in page


SEEDS: Any = {
    "seeds": [1, 2, 3],
    "metrics": {
        "strict_f1": {"mean": 0.99999, "standard_deviation": None, "min": 0.66666, "max": 1.0},
        "parse_errors": {"mean": 1.0, "standard_deviation": 0.0, "min": 1.0, "max": 1.0},
    },
}


def test_a_rate_that_misses_its_gate_looks_so_in_every_format_and_place() -> None:
    interval = {"level": 0.95, "low": 0.12396, "high": 0.1244, "method": "wilson-t", "unit": "sample", "units": 9}
    rate = {"value": 0.123996, "numerator": 30_999, "denominator": 250_000, "interval": interval}
    report = load("model-b")
    report["metrics"]["main"]["strict_f1"] = rate
    report["gates"][0] |= {"min": "0.124", "reason": "30999/250000 is not ≥ 0.124", "measured": rate}
    for format in (*PAGE_FORMATS, "junit"):
        text = render(report, format)  # type: ignore[arg-type]  # the names of the formats
        assert "0.123996" in text, format
        assert not re.search(r"\b0\.1240\b", re.sub(r"(?s)<svg.*?</svg>", "", text)), format  # a scale may have it
        assert "0.12396, 0.124" in text, format
    pictures = [render_svg(picture) for picture in page_pictures(describe_report(report), "b")]
    assert [picture.count(">0.123996<") for picture in pictures[:2]] == [1, 1]  # gates, scores


def test_a_trend_shows_values_beside_their_gates() -> None:
    rate = {"value": 0.79996, "numerator": 19_999, "denominator": 25_000}
    point = {"measured": rate, "change": -2 / 3, "gate": {"min": "0.80"}, "verdict": "FAIL"}
    report = {"name": "may", "status": "FAIL", "signature": "s", "differs_in": [], "metrics": {"strict_f1": point}}
    page = describe_trend({"suite": "extraction", "reports": [report]})  # type: ignore[typeddict-item]
    assert "strict_f1  may     0.79996  -0.6667  FAIL" in render_page(page)


def check(severity: str, message: str) -> dict[str, Any]:
    finding = {"code": "a.code", "severity": severity, "file": "f.json", "line": 3, "message": message}
    return {"suite": "check", "status": "FAIL", "findings": [{**finding, "pointer": "/x", "field": "y", "id": "n"}]}


@cases("format", [*PAGE_FORMATS])
@cases("columns", [60, 80, 120])
def test_checks_and_records_are_pages_too(format: str, columns: int) -> None:
    long = "a long message " * 40
    proposal = {"threshold": "0.9", "count": 9, "arithmetic": long}
    entry = {"observed": "0.666666", "numerator": 2, "denominator": 3, "default": "≥ 0.95", "caution": "only 3 trials"}
    record: Any = {
        "format_version": 1,
        "suite": "research",
        "metrics": {
            "a_rate": {**entry, "proposal": proposal},
            "b": {**entry, "numerator": 0, "denominator": 0, "proposal": None},
        },
        "reports": [{}],
        "runs": 2,
        "objectives": 1,
        "false_alarm_rate": "0.05",
    }
    pages: list[tuple[Page, tuple[str, ...]]] = [
        (describe_check(check("error", long), "a summary, " * 20), ("a.code", "f.json:3 (n) /x", "a long message")),
        (
            describe_baseline(record),
            ("1 report, 2 runs, 1 objective", "0.6667", "2/3", "≥ 0.9", "n/a", "no trials", "only 3 trials"),
        ),
        (describe_seeds(SEEDS, ["strict_f1"]), ("0.99999",)),
    ]
    for page, facts in pages:
        shown = render_page(page, format, columns=columns)
        flat = " ".join(re.sub(r"[\\`]", "", shown.replace(r"$\geq$", "≥")).split())
        assert all(fact in flat for fact in facts)
        assert format != "text" or max(map(display_width, shown.splitlines())) <= columns
