"""A research report's values as they are shown, in their order; text and Markdown lay them out."""

from __future__ import annotations

from typing import Any

from goldgate.core.finding import SEVERITIES
from goldgate.report.display import Shown, counted, shown

_SIGNS = (("min", "≥"), ("max", "≤"), ("equals", "="))


def headline(report: dict[str, Any]) -> str:
    """What was judged, in a few words."""
    balance = report["conservation"]
    queries, runs = balance["queries"], balance["runs"]
    asked = "1 query" if queries["total"] == 1 else f"{queries['total']} queries"
    parts = [asked, counted(runs["total"], "run")]
    if queries["missing"]:
        parts[0] += f" ({queries['missing']} without a run)"
    if runs["broken"]:
        parts[1] += f" ({runs['broken']} broken)"
    return ", ".join(parts)


def bounds(gate: dict[str, Any]) -> str:
    """A gate's bounds: `≥ 0.95`."""
    return " and ".join(f"{sign} {gate[name]}" for name, sign in _SIGNS if name in gate)


def lower_bound(gate: dict[str, Any], report: dict[str, Any]) -> str:
    """The bound beside a gate's rate, four decimals, cut."""
    metrics = report["metrics"]
    metric = {**metrics["main"], **metrics["companions"]}[gate["metric"]]
    bound = metric.get("lower_bound")
    if bound is None:
        return "n/a"
    cut = round(bound * 1_000_000) // 100  # stored with six decimals
    return f"{cut // 10_000}.{cut % 10_000:04d}"


def companions(report: dict[str, Any]) -> dict[str, Shown]:
    return {name: shown(metric) for name, metric in report["metrics"]["companions"].items()}


def levels(report: dict[str, Any]) -> list[str]:
    """How many valid records were checked to which level."""
    return [f"{level} {count}" for level, count in report["evidence"]["levels"].items()]


def failures(report: dict[str, Any]) -> list[str]:
    """How many records failed under each name."""
    return [f"{name} {count}" for name, count in report["evidence"]["failures"].items()]


def findings(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The worst first; in the report's order within a severity."""
    found: list[dict[str, Any]] = report["findings"]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding["severity"]))


def place(finding: dict[str, Any]) -> str:
    """File, line and JSON pointer of a finding."""
    line = f":{finding['line']}" if finding["line"] is not None else ""
    pointer = f" {finding['pointer']}" if finding["pointer"] else ""
    return f"{finding['file']}{line}{pointer}".strip()


def counts(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Each total and its parts."""
    balance = report["conservation"]
    parts = {
        "queries": ("answered", "missing"),
        "trials": ("runs", "missing"),
        "directories": ("runs", "ignored"),
        "runs": ("evaluated", "broken"),
        "claims": ("verified", "candidate", "retracted"),
        "evidence": ("valid", "failed"),
        "steps": ("with_manifest", "without_manifest"),
    }
    return [
        (name, f"{balance[name]['total']} = " + " + ".join(f"{balance[name][part]} {part}" for part in names))
        for name, names in parts.items()
    ]


def inputs(report: dict[str, Any]) -> list[tuple[str, str]]:
    """What it was, and its sha256."""
    given = report["inputs"]
    rows = [(name, given[name]["sha256"]) for name in ("golden", "outputs", "corpus") if given[name] is not None]
    return rows + [(name, given[name]) for name in ("protocol", "baseline") if given[name] is not None]
