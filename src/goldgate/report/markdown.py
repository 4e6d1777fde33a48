"""A page as Markdown: every section and row, and whole digests."""

from __future__ import annotations

from collections.abc import Sequence

from goldgate.core.page import (
    Block,
    Cell,
    FindingList,
    LabelList,
    Matrix,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    Phrase,
    ReportOrigin,
    Table,
    undefined_lines,
)
from goldgate.report.escape import distinct_names, escape_markdown, markdown_code
from goldgate.report.verdicts import gate_columns, gate_notes


def render_markdown(page: Page) -> str:
    """The verdict and the gates first, then the remarks, the sections, and what the numbers came from."""
    parts = [*_headline(page), *_blocks(page.headline_blocks), *_gates(page)]
    if page.remarks:
        parts += ["## What stands out", _list([(message,) for message in page.remarks])]
    for section in page.titled_sections:
        parts += [f"## {escape_markdown(section.title)}", *_blocks(section.blocks)]
    return "\n\n".join([*parts, *_origin(page.origin)]) + "\n"


def _headline(page: Page) -> list[str]:
    title = ": ".join(part for part in (page.verdict, f"goldgate {escape_markdown(page.suite)}".rstrip()) if part)
    about = [escape_markdown(page.subject)] if page.subject else []
    about += [f"protocol {escape_markdown(page.protocol)}"] if page.protocol else []
    return [f"# {title}", *([", ".join(about) + "."] if about else [])]


def _gates(page: Page) -> list[str]:
    if page.gates is None:
        return []
    if not page.gates:
        return ["## Gates", "None."]
    columns = gate_columns(page.gates)
    own, shared = gate_notes(page.gates)
    heads = [title or "verdict" for title in columns] + (["reason"] if own else [])
    rows = []
    for gate in page.gates:
        row = [
            markdown_code(gate.metric) if title == "metric" else escape_markdown(text(gate))
            for title, text in columns.items()
        ]
        rows.append(row + ([escape_markdown(own.get(gate.metric, ""))] if own else []))
    notes = [
        f"{', '.join(markdown_code(name, in_table=False) for name in names)}: {escape_markdown(reason)}"
        for reason, names in shared.items()
    ]
    together = [escape_markdown(page.gates_note)] if page.gates_note else []
    return ["## Gates", markdown_table(heads, rows, [title == "value" for title in heads]), *notes, *together]


def _blocks(blocks: Sequence[Block]) -> list[str]:
    return [text for block in blocks for text in _block(block)]


def _block(block: Block) -> list[str]:
    match block:
        case Table():
            return _table(block)
        case Matrix():
            return _table(block.as_table())
        case MetricValues():
            return _values(block)
        case LabelList():
            return [
                "\n".join(f"- {_label(pair.label)}: {escape_markdown(', '.join(pair.parts))}" for pair in block.rows)
            ]
        case Paragraph():
            return [escape_markdown(block.text)]
        case Notes():
            return [_list(block.items)]
        case FindingList():
            return _findings(block)


def _table(block: Table) -> list[str]:
    if not block.rows:
        return [f"{escape_markdown(block.empty[:1].upper() + block.empty[1:])}."]
    names = [
        distinct_names(cell.text for cell in column if isinstance(cell, Name))
        for column in zip(*block.rows, strict=True)
    ]
    rows = [
        [_cell(cell, names[n], with_counts=block.with_counts) for n, cell in enumerate(row)]
        for row in block.rows[: block.most]
    ]
    groups = ["", *(column.group for column in block.columns)]
    heads = [  # the first of a group names it
        escape_markdown(f"{column.group} {column.title}" if column.group not in ("", before) else column.title)
        for before, column in zip(groups, block.columns, strict=False)
    ]
    table = markdown_table(heads, rows, block.number_columns())
    return [table, *_more_note(len(block.rows) - len(rows)), *map(escape_markdown, undefined_lines(block.reasons()))]


def _cell(cell: Cell, names: dict[str, str], *, with_counts: bool) -> str:
    if isinstance(cell, Name):
        return markdown_code(names[cell.text], is_visible=True)
    if not isinstance(cell, MeasuredValue):
        return escape_markdown(cell)
    value = f"{escape_markdown(str(cell))}\\*" if cell.best else escape_markdown(str(cell))
    interval = "" if cell.interval is None else escape_markdown(str(cell.interval))
    if with_counts and cell.counts:
        return f"{value} ({', '.join(filter(None, (interval, escape_markdown(cell.counts))))})"
    return f"{value} {interval}" if interval else value


def _values(block: MetricValues) -> list[str]:
    rows = []
    for line in block.lines():
        interval = [escape_markdown(line.interval)] if block.has_intervals else []
        rows.append([markdown_code(line.name), line.value, *interval, escape_markdown(line.counts)])
    heads = ["metric", "value", *(["interval"] if block.has_intervals else []), "counts"]
    reasons = map(escape_markdown, undefined_lines(block.shared_reasons()))
    return [markdown_table(heads, rows, [head != "metric" for head in heads]), *reasons]


def _findings(block: FindingList) -> list[str]:
    if not block.rows:
        return ["None."]
    rows = [
        [escape_markdown(severity), markdown_code(name), markdown_code(place), escape_markdown(message)]
        for severity, name, place, message, *_ in block.rows[: block.most]
    ]
    return [markdown_table(block.heads, rows), *_more_note(len(block.rows) - len(rows))]


def _list(items: Sequence[Phrase]) -> str:
    return "\n".join("- " + "".join(map(_words, item)) for item in items)


def _label(label: str | Name) -> str:
    return markdown_code(label.text, in_table=False) if isinstance(label, Name) else escape_markdown(label)


def _words(part: str | Name) -> str:
    """Part of a line: blanks at its ends stand between words."""
    if isinstance(part, Name):
        return _label(part)
    inner = part.strip(" ")
    start = part[: len(part) - len(part.lstrip(" "))]
    return f"{start}{escape_markdown(inner)}{part[len(start) + len(inner) :]}"


def _more_note(count: int) -> list[str]:
    return [f"… and {count} more; the JSON report has all."] if count > 0 else []


def _origin(origin: ReportOrigin | None) -> list[str]:
    if origin is None:
        return []
    lines = [
        f"- {markdown_code(label, in_table=False)}: {escape_markdown(version)}" for label, version in origin.versions
    ]
    # A code span, and outside a table: it can be copied as it is.
    lines.append(f"- signature: {markdown_code(origin.signature, in_table=False)}")
    rows = [["input", "sha256", ""]]
    rows += [
        [escape_markdown(file.kind), markdown_code(file.sha256), escape_markdown(file.size)] for file in origin.inputs
    ]
    width = 3 if any(file.size for file in origin.inputs) else 2
    heads, *rows = [row[:width] for row in rows]
    inputs = [markdown_table(heads, rows, [False, False, True][:width])] if rows else []
    return ["## Where the numbers come from", "\n".join(lines), *inputs]


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """A table; the cells are Markdown already."""
    rule = ["---:" if to_the_right else "---" for to_the_right in right or [False] * len(heads)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))
