r"""A page as LaTeX: a table with booktabs for each section that has one, ready to paste, the signature as a comment.

Whatever comes from data is text: no command, no comment, no end of a table. Names in Chinese need XeLaTeX or LuaLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goldgate.core.page import Cell, Measured, Name, Page, Pairs, Paragraph, Section, Table, Values
from goldgate.report.escape import apart, as_latex, latex, visible
from goldgate.report.said_once import gate_columns

_PREAMBLE = r"\usepackage{booktabs}"
_SLUG = re.compile(r"[^a-z0-9]+")


def render_latex(page: Page) -> str:
    """The gates and the tables of the sections, without details; notes to a table stand under it, pairs are comments."""
    tables = [*_gates(page)]
    for section in page.sections:
        if not section.is_detail:
            tables += _section(section, page)
    return "\n".join([*_head(page), *(line for table in tables for line in ("", *table))]) + "\n"


def _head(page: Page) -> Iterator[str]:
    title = ": ".join(part for part in (page.verdict, f"goldgate {page.suite}".rstrip(), page.subject) if part)
    yield _comment(title)
    if page.origin is not None:
        yield _comment(f"signature: {page.origin.signature}")
        for given in page.origin.inputs:
            yield _comment(f"{given.kind}: sha256 {given.sha256}")
    yield f"% {_PREAMBLE}"


def _comment(text: str) -> str:
    return "% " + visible(text)


def _gates(page: Page) -> Iterator[list[str]]:
    if page.gates:
        columns = gate_columns(page.gates)
        heads = [title or "verdict" for title in columns]
        rows = [[latex(show(gate)) for show in columns.values()] for gate in page.gates]
        yield _table("Gates", heads, rows, [title == "value" for title in columns], [], page)


def _section(section: Section, page: Page) -> Iterator[list[str]]:
    notes = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    for block in section.blocks:
        title = section.title or page.suite
        if isinstance(block, Table) and block.rows:
            yield _of_table(block, title, notes, page)
            notes = []
        elif isinstance(block, Pairs):
            yield [_comment(f"{_label(pair.label)}: {', '.join(pair.parts)}") for pair in block.rows]
        elif isinstance(block, Values) and block.rows:
            rows = [[latex(name.text), *_numbers(value)] for name, value in block.rows]
            yield _table(title, ["metric", "value", "interval", "counts"], rows, [False, True, True, True], notes, page)
            notes = []


def _label(label: str | Name) -> str:
    return label.text if isinstance(label, Name) else label


def _of_table(block: Table, title: str, notes: Sequence[str], page: Page) -> list[str]:
    rows, columns = block.rows[: block.limit], list(zip(*block.rows, strict=True))
    names = [apart(cell.text for cell in column if isinstance(cell, Name)) for column in columns]
    cells = [[_cell(cell, names[n]) for n, cell in enumerate(row)] for row in rows]
    right = [any(isinstance(cell, Measured) for cell in column) for column in columns]
    heads = [f"{column.group} {column.title}".strip() for column in block.columns]
    shown = _table(title, heads, cells, right, notes, page)
    left_out = len(block.rows) - len(rows)
    return [*([f"% {left_out} more rows: --format csv or json has all"] if left_out else []), *shown]


def _cell(cell: Cell, names: dict[str, str]) -> str:
    if isinstance(cell, Name):
        return as_latex(names[cell.text])
    if isinstance(cell, Measured):
        value, interval, _ = _numbers(cell)
        value = rf"\textbf{{{value}}}*" if cell.best else value
        return f"{value} {interval}".rstrip()
    return latex(cell)


def _numbers(value: Measured) -> tuple[str, str, str]:
    interval = "" if value.interval is None else _signed(latex(str(value.interval)))
    return _signed(latex(str(value))), interval, latex(value.counts or value.reason or "")


def _signed(number: str) -> str:
    """A minus sign in place of a hyphen."""
    return re.sub(r"-(?=\d)", "$-$", number)


def _table(
    title: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    notes: Sequence[str],
    page: Page,
) -> list[str]:
    """A table; the cells are LaTeX already."""
    label = _SLUG.sub("-", f"{page.suite} {title}".lower()).strip("-")
    return [
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{latex(title)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if to_the_right else 'l' for to_the_right in right)}}}",
        r"\toprule",
        _row([latex(head) for head in heads]),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {latex(note)}}}" for note in notes),
        r"\end{table}",
    ]


def _row(cells: Sequence[str]) -> str:
    # \\ takes what follows in brackets, or a star, for an option of its own.
    return " & ".join(f"{{}}{cell}" if cell.startswith(("[", "*")) else cell for cell in cells) + r" \\"
