"""A page as CSV: a line for each row of each table, under the columns of all of them, with every digit.

Lines begin with the section that they are from. A spreadsheet takes a text that begins with =, +, - or @ for a
formula; here such a text has an apostrophe before it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from goldgate.core.page import (
    Block,
    Cell,
    FindingList,
    LabelList,
    Matrix,
    MeasuredValue,
    MetricValues,
    Notes,
    Page,
    Paragraph,
    Table,
)
from goldgate.report.escape import visible

CsvRow = dict[str, str]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # some take the wide forms for the same


def render_csv(page: Page) -> str:
    """Gates, metrics and tables of every section; at last the signature."""
    rows: list[CsvRow] = [{"section": "Verdict", "text": _text(page.verdict)}] if page.verdict else []
    rows += _gates(page)
    rows += [{"section": "What stands out", "text": _text(message)} for message in page.remarks]
    for section in page.sections:
        title = {"section": _text(section.title)}
        rows += [{**title, **row} for block in section.blocks for row in _block(block)]
    if page.origin is not None:
        rows.append(
            {"section": "Where the numbers come from", "metric": "signature", "text": _text(page.origin.signature)}
        )
    columns = list(dict.fromkeys(column for row in rows for column in row))
    lines = io.StringIO()
    writer = csv.DictWriter(lines, columns or ["section"], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return lines.getvalue()


def _gates(page: Page) -> Iterator[CsvRow]:
    for gate in page.gates or ():
        yield {
            "section": "Gates",
            "metric": _text(gate.metric),
            **_measured("value", gate.measured),
            "gate": _text(gate.gate.bounds()),
            "verdict": _text(gate.verdict),
            "text": _text(gate.reason if gate.says_more else ""),
        }
    if page.gates_note:
        yield {"section": "Gates", "text": _text(page.gates_note)}


def _block(block: Block) -> Iterator[CsvRow]:
    match block:
        case Table():
            yield from _table(block)
        case Matrix():
            yield from _table(block.as_table())
        case MetricValues():
            for metric, value in block.rows:
                yield {"metric": _text(metric.text), **_measured("value", value)}
        case LabelList():
            for pair in block.rows:
                yield {"metric": _text(str(pair.label)), "text": _text(", ".join(pair.parts))}
        case FindingList():
            for severity, code, place, message, _ in block.rows:
                text = _text(f"{place}: {message}" if place else message)
                yield {"metric": _text(code), "verdict": _text(severity), "text": text}
            if not block.rows:
                yield {"text": "none"}
        case Paragraph():
            yield {"text": _text(block.text)}
        case Notes():
            yield from ({"text": _text("".join(map(str, item)))} for item in block.items)


def _table(table: Table) -> Iterator[CsvRow]:
    titles = [_text(" ".join(part for part in (c.group, c.title) if part) or "text") for c in table.columns]
    for cells in table.rows:
        row: CsvRow = {}
        for title, cell in zip(titles, cells, strict=True):
            row |= _cell(title, cell, with_counts=table.with_counts)
        yield row
    if not table.rows:
        yield {"text": _text(table.empty)}


def _cell(name: str, cell: Cell, *, with_counts: bool) -> CsvRow:
    if isinstance(cell, MeasuredValue):
        return _measured(name, cell, with_counts=with_counts)
    return {name: _text(str(cell))}


def _measured(name: str, value: MeasuredValue, *, with_counts: bool = True) -> CsvRow:
    """The value with all its digits, its interval, and the counts behind it."""
    prefix = "" if name == "value" else f"{name} "
    row = {name: "" if value.value is None else repr(value.value)}
    if value.interval is not None:
        row |= {f"{prefix}low": repr(value.interval.low), f"{prefix}high": repr(value.interval.high)}
    if value.denominator is not None and with_counts:
        row |= {f"{prefix}numerator": str(value.numerator), f"{prefix}denominator": str(value.denominator)}
    if value.best:
        row[f"{prefix}best"] = "yes"
    if value.reason:
        row[f"{prefix}reason"] = _text(value.reason)
    return row


def _text(text: str) -> str:
    plain = visible(text)
    return f"'{plain}" if plain.lstrip(" ").startswith(_FORMULA) else plain
