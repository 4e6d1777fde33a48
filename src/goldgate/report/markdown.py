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
    Section,
    Table,
)
from goldgate.report.escape import distinct_names, escape_markdown, markdown_code, markdown_code_of_visible
from goldgate.report.verdicts import gate_columns, gate_notes, group_reasons, undefined_cells


def render_markdown(page: Page) -> str:
    """The verdict and the gates first, then what stands out, the sections, and what the numbers came from."""
    untitled = [section for section in page.sections if not section.title]
    titled = [section for section in page.sections if section.title]
    parts = [
        *_headline(page),
        *(text for section in untitled for text in _blocks(section)),
        *_gates(page),
        *_stands_out(page),
        *(text for section in titled for text in (f"## {escape_markdown(section.title)}", *_blocks(section))),
        *_first_samples(page),
        *_origin(page.origin),
    ]
    return "\n\n".join(parts) + "\n"


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
            markdown_code(gate.metric) if title == "metric" else escape_markdown(show(gate))
            for title, show in columns.items()
        ]
        rows.append(row + ([escape_markdown(own.get(gate.metric, ""))] if own else []))
    notes = [
        f"{', '.join(markdown_code(name, in_table=False) for name in names)}: {escape_markdown(reason)}"
        for reason, names in shared.items()
    ]
    together = [escape_markdown(page.gates_note)] if page.gates_note else []
    return ["## Gates", markdown_table(heads, rows, [title == "value" for title in heads]), *notes, *together]


def _stands_out(page: Page) -> list[str]:
    return ["## What stands out", _list([(message,) for message in page.stands_out])] if page.stands_out else []


def _blocks(section: Section) -> list[str]:
    return [text for block in section.blocks for text in _block(block)]


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
    rows, columns = block.rows[: block.most], list(zip(*block.rows, strict=True))
    names = [distinct_names(cell.text for cell in column if isinstance(cell, Name)) for column in columns]
    cells = [[_cell(cell, names[n], block) for n, cell in enumerate(row)] for row in rows]
    right = [any(isinstance(cell, MeasuredValue) for cell in column) for column in columns]
    shown = [markdown_table(_heads(block), cells, right), *_more_note(len(block.rows) - len(rows))]
    return [*shown, *(_reasons(group_reasons(undefined_cells(block))) if block.with_counts else [])]


def _heads(block: Table) -> list[str]:
    """The titles; the first of a group names it."""
    groups = ["", *(column.group for column in block.columns)]
    return [
        escape_markdown(f"{column.group} {column.title}" if column.group not in ("", before) else column.title)
        for before, column in zip(groups, block.columns, strict=False)
    ]


def _cell(cell: Cell, names: dict[str, str], block: Table) -> str:
    if isinstance(cell, Name):
        return markdown_code_of_visible(names[cell.text])
    if isinstance(cell, MeasuredValue):
        behind = [str(cell.interval)] if cell.interval is not None else []
        behind += [cell.counts] if block.with_counts and cell.counts else []
        value = f"{escape_markdown(str(cell))}\\*" if cell.best else escape_markdown(str(cell))
        if behind == [str(cell.interval)]:
            return f"{value} {escape_markdown(behind[0])}"
        return f"{value} ({escape_markdown(', '.join(behind))})" if behind else value
    return escape_markdown(cell)


def _values(block: MetricValues) -> list[str]:
    reasons = group_reasons((name.text, value.reason) for name, value in block.rows)
    shared = {reason: names for reason, names in reasons.items() if len(names) > 1}
    with_interval = any(value.interval for _, value in block.rows)
    rows = []
    for name, value in block.rows:
        interval = [escape_markdown("" if value.interval is None else str(value.interval))] if with_interval else []
        said = value.reason if value.reason not in shared else ""
        rows.append([markdown_code(name.text), str(value), *interval, escape_markdown(said or value.counts)])
    heads = ["metric", "value", *(["interval"] if with_interval else []), "counts"]
    return [markdown_table(heads, rows, [head != "metric" for head in heads]), *_reasons(shared)]


def _reasons(reasons: dict[str, list[str]]) -> list[str]:
    return [f"n/a: {escape_markdown(', '.join(names))}: {escape_markdown(reason)}" for reason, names in reasons.items()]


def _findings(block: FindingList) -> list[str]:
    if not block.rows:
        return ["None."]
    rows = [
        [escape_markdown(severity), markdown_code(name), markdown_code(place), escape_markdown(message)]
        for severity, name, place, message in block.rows[: block.most]
    ]
    return [markdown_table(["severity", "code", "where", "message"], rows), *_more_note(len(block.rows) - len(rows))]


def _list(items: Sequence[Phrase]) -> str:
    return "\n".join(
        "- "
        + "".join(markdown_code(part.text, in_table=False) if isinstance(part, Name) else _words(part) for part in item)
        for item in items
    )


def _words(text: str) -> str:
    """Part of a line: blanks at its ends stand between words."""
    inner = text.strip(" ")
    start = text[: len(text) - len(text.lstrip(" "))]
    return f"{start}{escape_markdown(inner)}{text[len(start) + len(inner) :]}"


def _label(label: str | Name) -> str:
    return markdown_code(label.text, in_table=False) if isinstance(label, Name) else escape_markdown(label)


def _more_note(count: int) -> list[str]:
    return [f"… and {count} more; the JSON report has all."] if count > 0 else []


def _first_samples(page: Page) -> list[str]:
    if page.samples is None or not page.samples.first:
        return []
    names = distinct_names(sample.id for sample in page.samples.first)
    rows = [[markdown_code_of_visible(names[sample.id]), escape_markdown(sample.word)] for sample in page.samples.first]
    title = escape_markdown(f"Look at these first, of {page.samples.count} in {page.samples.file}")
    return [f"## {title}", markdown_table(["sample", "why"], rows)]


def _origin(origin: ReportOrigin | None) -> list[str]:
    if origin is None:
        return []
    lines = [
        f"- {markdown_code(label, in_table=False)}: {escape_markdown(version)}" for label, version in origin.versions
    ]
    # A code span, and outside a table: it can be copied as it is.
    lines.append(f"- signature: {markdown_code(origin.signature, in_table=False)}")
    rows = [
        [escape_markdown(given.kind), markdown_code(given.sha256), escape_markdown(given.size)]
        for given in origin.inputs
    ]
    shown = 3 if any(given.size for given in origin.inputs) else 2
    cut = [row[:shown] for row in (["input", "sha256", ""], *rows)]
    inputs = [markdown_table(cut[0], cut[1:], [False, False, True][:shown])] if rows else []
    return ["## Where the numbers come from", "\n".join(lines), *inputs]


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool] | None = None) -> str:
    """A table; the cells are Markdown already."""
    rule = ["---:" if to_the_right else "---" for to_the_right in right or [False] * len(heads)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, rule, *rows))
