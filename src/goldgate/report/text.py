"""A report for the terminal: plain text in 80 columns, aligned also where names are Chinese."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from goldgate.report import display as shown
from goldgate.report.escape import apart, named, visible, width

COLUMNS = 80
SHOWN_TYPES = 20
SHOWN_FILES = 5
SHOWN_DIGEST = 12  # hex digits, enough to tell files apart
_INDENT = "  "
_NARROWEST_NAME = 12

Row = Sequence[str]


def render_text(report: dict[str, Any]) -> str:
    """Status and gates first, chain of thought last, then what the numbers came from."""
    if report.get("error"):
        return render_error(report["error"])
    sections = [
        _headline(report),
        _gates(report),
        _generation(report),
        _stacked("Scores", shown.scores(report).items()),
        *(_group(group) for group in shown.groups(report)),
        _stands_out(report),
        _mistakes(report),
        _reading(report),
        _hints(report),
        _event_types(report),
        _stacked("Macro averages", shown.macro(report)),
        _group(shown.diagnostics(report)),
        _origin(report),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def render_error(error: dict[str, Any]) -> str:
    """Why there are no numbers: code, place, what was expected and found, what to do."""
    lines = ["SYSTEM_ERROR"]
    for label, text in shown.error_lines(error):
        lines += _labelled(label, visible(text).split(" "), " ", label_width=8)
    return "\n".join(lines) + "\n"


def table(rows: Sequence[Row], left: int = 1) -> list[str]:
    """Rows with aligned columns: the first `left` to the left, the rest to the right."""
    return _aligned([[visible(cell) for cell in row] for row in rows], left)


def _aligned(cells: Sequence[Row], left: int = 1) -> list[str]:
    """The same of cells that are safe to show already."""
    widths = [max(width(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = []
    for row in cells:
        padded = (_pad(cell, widths[n], to_left=n < left) for n, cell in enumerate(row))
        lines.append((_INDENT + "  ".join(padded)).rstrip())
    return lines


def _headline(report: dict[str, Any]) -> list[str]:
    total = shown.counted(report["metrics"]["main"]["total_samples"]["value"], "sample")
    protocol = report["protocol"]
    return [
        f"{report['status']}  goldgate {report['suite']}, {total}, "
        + f"protocol {named(protocol['name'])} {named(protocol['version'])}"
    ]


def _gates(report: dict[str, Any]) -> list[str]:
    if not report["gates"]:
        return ["Gates", _INDENT + "none: nothing was judged, and nothing can fail"]
    rows = [
        (
            gate["verdict"] + (" (warn)" if gate["severity"] == "warn" else ""),
            gate["metric"],
            shown.shown(gate["measured"]).value,
            gate["reason"],
        )
        for gate in report["gates"]
    ]
    values = max(len(row[2]) for row in rows)
    return ["Gates", *table([(verdict, name, value.rjust(values), reason) for verdict, name, value, reason in rows], 4)]


def _generation(report: dict[str, Any]) -> list[str]:
    from goldgate.report.generation import generation_text  # it is laid out with the tables from here

    return generation_text(report.get("generation"))


def _stacked(title: str, families: Iterable[tuple[str, list[shown.Shown]]]) -> list[str]:
    """Precision, recall and F1 in columns, the counts under each value: fits whatever the counts are."""
    rows: list[Row] = [("", "precision", "recall", "f1")]
    reasons = []
    for label, rates in families:
        rows.append((label, *(rate.value for rate in rates)))
        rows.append(("", *(rate.counts for rate in rates)))
        for name, rate in zip(shown.RATES, rates, strict=True):
            if rate.reason:
                reasons.append(_INDENT + visible(f"n/a: {label} {name}: {rate.reason}"))
    return [title, *table(rows), *reasons]


def _group(group: shown.Group) -> list[str]:
    reason = shown.same_reason(group)
    if reason is not None:
        return [group.title, *_wrapped([*group.metrics], ", ", _INDENT), f"{_INDENT}n/a: {visible(reason)}"]
    rows = [(name, metric.value, metric.reason or metric.counts) for name, metric in group.metrics.items()]
    values = max(len(row[1]) for row in rows)
    return [group.title, *table([(name, value.rjust(values), counts) for name, value, counts in rows], 3)]


def _stands_out(report: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for message in shown.stands_out(report):
        first, *others = _wrapped(visible(message).split(" "), " ", _INDENT * 2)
        lines += [f"{_INDENT}- {first.lstrip(' ')}", *others]
    return ["What stands out", *lines] if lines else []


def _mistakes(report: dict[str, Any]) -> list[str]:
    rows: list[Row] = [("", "FP", "FN")]
    rows += [(name, str(positives), str(negatives)) for name, positives, negatives in shown.mistakes(report)]
    return ["Errors by name", *table(rows)]


def _reading(report: dict[str, Any]) -> list[str]:
    lines = ["How answers were read"]
    for label, entries in shown.reading(report).items():
        lines += _labelled(label, [visible(entry) for entry in entries] or ["none"], ", ", label_width=10)
    return lines


def _hints(report: dict[str, Any]) -> list[str]:
    """A paragraph for each hint; no section where there is none."""
    found = [visible(f"{what}: {setting}").split(" ") for what, setting in shown.hints(report)]
    lines = [line for words in found for line in _wrapped([f"{word} " for word in words], "", _INDENT)]
    return ["Hints (they change no number)", *lines] if lines else []


def _event_types(report: dict[str, Any]) -> list[str]:
    entries = shown.event_types(report)
    if not entries:
        return ["Event types", _INDENT + "no event has an argument: see type above"]
    heads = [
        ["", "strict", "", "", "relaxed", "", "", "", ""],
        ["", "P", "R", "F1", "P", "R", "F1", "pred", "gold"],
    ]
    entries, left_out = entries[:SHOWN_TYPES], len(entries) - SHOWN_TYPES
    rows = [
        [entry["event_type"], *shown.rates_of(entry), str(entry["predicted"]), str(entry["gold"])] for entry in entries
    ]
    others = sum(2 + max(len(row[column]) for row in [*heads, *rows]) for column in range(1, len(heads[0])))
    room = max(_NARROWEST_NAME, COLUMNS - len(_INDENT) - others)
    names = apart((row[0] for row in rows), room)
    lines = ["Event types", *_aligned([*heads, *([names[row[0]], *row[1:]] for row in rows)])]
    if left_out > 0:
        lines.append(f"{_INDENT}… and {left_out} more (Markdown and JSON have all)")
    return lines


def _origin(report: dict[str, Any]) -> list[str]:
    protocol = report["protocol"]
    lines = ["Where the numbers come from"]
    lines += _labelled("protocol.version", [f"{named(protocol['version'])} ({named(protocol['name'])})"], "")
    lines += _labelled("metrics.version", [visible(report["metrics"]["version"])], "")
    lines += _labelled("signature", visible(report["signature"]).split("|"), "|")
    listed = dict.fromkeys(("gold", "predictions", "schema", "protocol"), 0)
    for kind, digest, samples in shown.inputs(report):
        listed[kind] += 1
        if listed[kind] <= SHOWN_FILES:
            lines += _labelled(kind, [f"sha256 {digest[:SHOWN_DIGEST]}  {samples}".rstrip()], "")
    lines += [
        f"{_INDENT}… and {count - SHOWN_FILES} more {kind} files"
        for kind, count in listed.items()
        if count > SHOWN_FILES
    ]
    return lines


def _labelled(label: str, parts: list[str], separator: str, label_width: int = 16) -> list[str]:
    """A label, and beside it the parts, on as many lines as they need."""
    indent = _INDENT + " " * (label_width + 2)
    lines = _wrapped(parts, separator, indent)
    return [f"{_INDENT}{label:<{label_width}}  {lines[0].lstrip(' ')}", *lines[1:]]


def _wrapped(parts: Sequence[str], separator: str, indent: str) -> list[str]:
    lines, line = [], indent
    for number, part in enumerate(parts):
        piece = part + (separator if number < len(parts) - 1 else "")
        if line != indent and width(line) + width(piece.rstrip()) > COLUMNS:
            lines.append(line.rstrip())
            line = indent
        line += piece
    return [*lines, line.rstrip()]


def _pad(cell: str, columns: int, *, to_left: bool) -> str:
    blanks = " " * (columns - width(cell))
    return cell + blanks if to_left else blanks + cell
