"""A research report for the terminal: the gates with their numbers first, then the worst findings, in 80 columns."""

from __future__ import annotations

import textwrap
from typing import Any

from goldgate.report import research_shown
from goldgate.report.display import shown
from goldgate.report.escape import shortened, shortened_apart, visible
from goldgate.report.text import COLUMNS, SHOWN_DIGEST, render_error, table

SHOWN_FINDINGS = 15
SHOWN_IGNORED = 5
SHOWN_PROBLEMS = 20
SHOWN_LINES = 3  # of one finding
_INDENT = "  "


def render_research_text(report: dict[str, Any]) -> str:
    """Status and gates, evidence, companions, findings, counts, origin."""
    if report.get("error"):
        return render_error(report["error"]) + render_problems(report["error"])
    sections = [
        _headline(report),
        _gates(report),
        _evidence(report),
        _companions(report),
        _findings(report),
        _ignored(report),
        ["Counts", *(shortened(line, COLUMNS) for line in table(research_shown.counts(report), 2))],
        _origin(report),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def render_problems(error: dict[str, Any]) -> str:
    """All problems of an input, a line each; empty if the error is a single one."""
    problems = error.get("problems") or []
    if len(problems) < 2:
        return ""
    lines = [
        line
        for problem in problems[:SHOWN_PROBLEMS]
        for line in _wrapped(
            f"{problem['pointer'] or '(the whole file)'}: expected {problem['expected']}, found {problem['found']}",
            _INDENT,
        )
    ]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"{_INDENT}… and {len(problems) - SHOWN_PROBLEMS} more (the JSON report has all)")
    return "\n".join(["All problems", *lines]) + "\n"


def _headline(report: dict[str, Any]) -> list[str]:
    judged = f"{report['status']}  goldgate research: {research_shown.headline(report)}"
    protocol = visible(f"protocol {report['protocol']['name']} {report['protocol']['version']}")
    if len(judged) + len(protocol) + 2 <= COLUMNS:
        return [f"{judged}, {protocol}"]
    return [judged, _fitted(f"    {protocol}")]


def _gates(report: dict[str, Any]) -> list[str]:
    rows: list[tuple[str, ...]] = [("", "", "value", "counts", "gate", "bound", "at 95 %")]
    notes = []
    for gate in report["gates"]:
        measured = shown(gate["measured"])
        verdict = gate["verdict"] + ("*" if gate["severity"] == "warn" else "")
        bound = research_shown.lower_bound(gate, report)
        metric = gate["metric"]
        rows.append(
            (
                verdict,
                metric,
                measured.value,
                measured.counts,
                research_shown.bounds(gate),
                bound,
                gate["support"] or "",
            )
        )
        if gate["verdict"] == "FAIL" and (measured.reason or ";" in gate["reason"]):
            notes += _wrapped(f"{metric}: {gate['reason']}", _INDENT)
    if any(gate["severity"] == "warn" for gate in report["gates"]):
        notes.append(f"{_INDENT}* a warning: it does not fail the evaluation")
    lines = table(rows, 7)
    if max(map(len, lines)) > COLUMNS:  # large counts: the bounds go below
        lines = table([(*row[:5], row[6]) for row in rows], 6)
        if max(map(len, lines)) > COLUMNS:  # still larger: so do the counts
            lines = table([(*row[:3], row[4], row[6]) for row in rows], 5)
            notes = _wrapped("counts: " + ", ".join(f"{row[1]} {row[3]}" for row in rows[1:]), _INDENT) + notes
        notes = _wrapped("bounds: " + ", ".join(f"{row[1]} {row[5]}" for row in rows[1:]), _INDENT) + notes
    return ["Gates", *lines, *notes]


def _evidence(report: dict[str, Any]) -> list[str]:
    failed = research_shown.failures(report)
    return [
        "Evidence records",
        *table(
            [
                ("checked to", ", ".join(research_shown.levels(report))),
                ("failed", ", ".join(failed) or "none"),
            ],
            2,
        ),
        *(_wrapped(note, _INDENT, most=6) if (note := report["evidence"]["note"]) else ()),
    ]


def _companions(report: dict[str, Any]) -> list[str]:
    rows = [
        (name, metric.value, metric.reason or metric.counts)
        for name, metric in research_shown.companions(report).items()
    ]
    return ["Companions", *table(rows, 3)]


def _findings(report: dict[str, Any]) -> list[str]:
    found = research_shown.findings(report)
    if not found:
        return ["Findings", _INDENT + "none"]
    lines = ["Findings, the worst first"]
    for finding in found[:SHOWN_FINDINGS]:
        lines.append(_fitted(f"{finding['severity']:7}  {finding['code']}  {research_shown.place(finding)}"))
        lines += _wrapped(finding["message"], _INDENT + " " * 9)
    if len(found) > SHOWN_FINDINGS:
        lines.append(f"{_INDENT}… and {len(found) - SHOWN_FINDINGS} more (Markdown and JSON have all)")
    return lines


def _ignored(report: dict[str, Any]) -> list[str]:
    ignored = report["ignored"]
    if not ignored:
        return []
    lines = [_fitted(f"{entry['path']}: {entry['reason']}") for entry in ignored[:SHOWN_IGNORED]]
    if len(ignored) > SHOWN_IGNORED:
        lines.append(f"{_INDENT}… and {len(ignored) - SHOWN_IGNORED} more (Markdown and JSON have all)")
    return ["Ignored", *lines]


def _origin(report: dict[str, Any]) -> list[str]:
    rows = [("metrics.version", report["metrics"]["version"])]
    rows += [(name, f"sha256 {digest[:SHOWN_DIGEST]}") for name, digest in research_shown.inputs(report)]
    lines = ["Where the numbers come from", *table(rows, 2)]
    label, room = f"{_INDENT}signature        ", COLUMNS - len(_INDENT) - 17
    signature = visible(report["signature"])
    while signature:  # cut behind a `|` if there is one: it can be put together again by joining the lines
        cut = len(signature) if len(signature) <= room else signature.rfind("|", 0, room) + 1 or room
        lines.append(label + signature[:cut])
        label, signature = " " * len(label), signature[cut:]
    return lines


def _wrapped(text: str, indent: str, most: int = SHOWN_LINES) -> list[str]:
    """The text on as many lines as it needs, up to a few."""
    room = COLUMNS - len(indent)
    lines = textwrap.wrap(visible(text), room) or [""]
    if len(lines) > most:
        lines[most - 1] += " …"
    return [indent + shortened(line, room) for line in lines[:most]]


def _fitted(text: str) -> str:
    return _INDENT + shortened_apart(visible(text), COLUMNS - len(_INDENT))
