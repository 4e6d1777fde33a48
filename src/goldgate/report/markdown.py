"""A report for a page: Markdown with every event type and role, and whole digests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from goldgate.report import display as shown
from goldgate.report.escape import apart, as_markdown, code, markdown
from goldgate.report.generation import generation_markdown

_RATE_COLUMNS = ("strict P", "R", "F1", "relaxed P", "R", "F1")
_COUNT_COLUMNS = ("strict hits", "relaxed hits", "predicted", "gold")
_COUNTS = ("strict_hits", "relaxed_hits", "predicted", "gold")


def render_markdown(report: dict[str, Any]) -> str:
    """Status and gates first, chain of thought last, then what the numbers came from."""
    if report.get("error"):
        return _error(report)
    blocks = [
        *_headline(report),
        *_gates(report),
        *generation_markdown(report.get("generation")),
        "## Scores",
        _rates(shown.scores(report).items()),
        *(block for group in shown.groups(report) for block in _group(group)),
        *_stands_out(report),
        "## Errors by name",
        _table(("error", "FP", "FN"), [(code(name), str(fp), str(fn)) for name, fp, fn in shown.mistakes(report)]),
        "## How answers were read",
        "\n".join(
            f"- {heading}: {markdown(', '.join(entries) or 'none')}"
            for heading, entries in shown.reading(report).items()
        ),
        *_hints(report),
        *_breakdown(report),
        "## Macro averages",
        _rates(shown.macro(report)),
        *_group(shown.diagnostics(report)),
        *_origin(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _error(report: dict[str, Any]) -> str:
    lines = [f"- {label}: {markdown(text)}" for label, text in shown.error_lines(report["error"])]
    return "\n".join([f"# SYSTEM_ERROR: goldgate {markdown(report['suite'])}", "", *lines]) + "\n"


def _headline(report: dict[str, Any]) -> list[str]:
    total = shown.counted(report["metrics"]["main"]["total_samples"]["value"], "sample")
    protocol = report["protocol"]
    name = markdown(f"{protocol['name']} {protocol['version']}")
    return [f"# {report['status']}: goldgate {markdown(report['suite'])}", f"{total}, protocol {name}."]


def _gates(report: dict[str, Any]) -> list[str]:
    if not report["gates"]:
        return ["## Gates", "None: nothing was judged, and nothing can fail."]
    rows = [
        (
            gate["verdict"] + (" (warn)" if gate["severity"] == "warn" else ""),
            code(gate["metric"]),
            shown.shown(gate["measured"]).value,
            markdown(gate["reason"]),
        )
        for gate in report["gates"]
    ]
    return ["## Gates", _table(("verdict", "metric", "value", "reason"), rows, right=(2,))]


def _rates(families: Iterable[tuple[str, list[shown.Shown]]]) -> str:
    return _table(("", *shown.RATES), [(label, *(_with_counts(rate) for rate in rates)) for label, rates in families])


def _group(group: shown.Group) -> list[str]:
    rows = [
        (code(name), metric.value, markdown(metric.reason or metric.counts)) for name, metric in group.metrics.items()
    ]
    return [f"## {group.title}", _table(("metric", "value", "counts"), rows)]


def _hints(report: dict[str, Any]) -> list[str]:
    found = [f"- {markdown(what)}: {code(setting, in_table=False)}" for what, setting in shown.hints(report)]
    return ["## Hints", "They change no number.", "\n".join(found)] if found else []


def _stands_out(report: dict[str, Any]) -> list[str]:
    found = shown.stands_out(report)
    return ["## What stands out", "\n".join(f"- {markdown(message)}" for message in found)] if found else []


def _breakdown(report: dict[str, Any]) -> list[str]:
    types, roles = shown.event_types(report), report["breakdown"]["roles"]
    type_names = _names(entry["event_type"] for entry in [*types, *roles])
    role_names = _names(entry["role"] for entry in roles)
    type_rows = [(type_names[entry["event_type"]], *_numbers(entry)) for entry in types]
    role_rows = [(type_names[entry["event_type"]], role_names[entry["role"]], *_numbers(entry)) for entry in roles]
    return [
        "## Event types",
        _table(("event type", *_RATE_COLUMNS, *_COUNT_COLUMNS), type_rows),
        "## Roles",
        _table(("event type", "role", *_RATE_COLUMNS, *_COUNT_COLUMNS), role_rows, left=2),
    ]


def _names(names: Iterable[str]) -> dict[str, str]:
    return {text: as_markdown(form) for text, form in apart(names).items()}


def _numbers(entry: dict[str, Any]) -> list[str]:
    return [*shown.rates_of(entry), *(str(entry[name]) for name in _COUNTS)]


def _origin(report: dict[str, Any]) -> list[str]:
    versions = (
        f"- `protocol.version`: {markdown(report['protocol']['version'])}\n"
        f"- `metrics.version`: {markdown(report['metrics']['version'])}\n"
        # A code span, and outside a table: it can be copied as it is.
        f"- signature: {code(report['signature'], in_table=False)}"
    )
    rows = [(kind, code(digest), samples) for kind, digest, samples in shown.inputs(report)]
    return [
        "## Where the numbers come from",
        versions,
        *([_table(("input", "sha256", ""), rows, right=(2,))] if rows else []),
    ]


def _with_counts(rate: shown.Shown) -> str:
    return f"{rate.value} ({markdown(rate.reason or rate.counts)})"


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, right: Sequence[int] | None = None
) -> str:
    """A table; numbers to the right. The cells are Markdown already."""
    aligned_right = range(left, len(head)) if right is None else right
    rule = ["---:" if column in aligned_right else "---" for column in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))
