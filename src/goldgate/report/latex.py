r"""A page as LaTeX: a table with booktabs for each section that has one, ready to paste, the signature as a comment.

Whatever comes from data is text: no command, no comment, no end of a table. It compiles with pdfLaTeX, which has no
font for Chinese and shows code points, and with XeLaTeX and LuaLaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from goldgate.core.page import (
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
    Reasons,
    Section,
    Table,
    join_names,
)
from goldgate.report.escape import LATEX_TEXT, distinct_names, escape_latex, visible
from goldgate.report.verdicts import gate_columns, gate_notes

_PREAMBLE = r"\usepackage{booktabs}"
_COMMENT = "% Letters that pdfLaTeX has no font for: it shows their code points, XeLaTeX and LuaLaTeX the letters."
_SLUG = re.compile(r"[^a-z0-9]+")


def render_latex(page: Page) -> str:
    """The gates and the tables of the sections, without details. Notes stand under a table; pairs are comments."""
    tables = [*_gates(page)]
    for section in page.sections:
        if not section.is_detail:
            tables += _section(section, page)
    lines = [line for table in tables for line in ("", *table)]
    if any("goldgatetext" in line for line in lines):
        lines = [_COMMENT, LATEX_TEXT, *lines]
    return "\n".join([*_head(page), *lines]) + "\n"


def _head(page: Page) -> Iterator[str]:
    title = ": ".join(part for part in (page.verdict, f"goldgate {page.suite}".rstrip(), page.subject) if part)
    yield _comment(title)
    if page.origin is not None:
        yield _comment(f"signature: {page.origin.signature}")
        for each in page.origin.inputs:
            yield _comment(f"{each.kind}: sha256 {each.sha256}")
    for message in page.remarks:
        yield _comment(f"stands out: {message}")
    yield f"% {_PREAMBLE}"


def _comment(text: str) -> str:
    return "% " + visible(text)


def _gates(page: Page) -> Iterator[list[str]]:
    if page.gates:
        columns = gate_columns(page.gates)
        own, shared = gate_notes(page.gates)
        heads = [title or "verdict" for title in columns]
        rows = [[_signed(escape_latex(text(gate))) for text in columns.values()] for gate in page.gates]
        notes = [f"{metric}: {reason}" for metric, reason in own.items()] + _reasons(shared)
        yield _table("Gates", heads, rows, [title == "value" for title in columns], notes, page)


def _section(section: Section, page: Page) -> Iterator[list[str]]:
    """Its blocks. Sentences are notes to the first table, or stand for themselves where there is none."""
    title = section.title or page.suite
    notes = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    blocks = [block.as_table() if isinstance(block, Matrix) else block for block in section.blocks]
    tables = [block for block in blocks if isinstance(block, (Table, MetricValues)) and block.rows]
    for block in blocks:
        match block:
            case Table() if block.rows:
                yield _of_table(block, title, notes if block is tables[0] else [], page)
            case MetricValues() if block.rows:
                yield _of_values(block, title, notes if block is tables[0] else [], page)
            case LabelList():
                yield [_comment(f"{pair.label}: {', '.join(pair.parts)}") for pair in block.rows]
            case Paragraph():
                if not tables:
                    yield [escape_latex(block.text)]
            case Notes():
                yield _list(["".join(map(str, item)) for item in block.items[: block.limit]])
            case FindingList():
                yield _list([" ".join(filter(None, row[:4])) for row in block.rows[: block.limit]])
            case _:
                yield [_comment(f"{title}: none")]


def _list(items: Sequence[str]) -> list[str]:
    if not items:
        return [_comment("none")]
    return [r"\begin{itemize}", *(rf"\item {{}}{escape_latex(item)}" for item in items), r"\end{itemize}"]


def _of_values(block: MetricValues, title: str, notes: Sequence[str], page: Page) -> list[str]:
    rows = [[escape_latex(name.text), *_numbers(value), escape_latex(value.counts)] for name, value in block.rows]
    heads = ["metric", "value", "interval", "counts"]
    return _table(title, heads, rows, [False, True, True, True], [*notes, *_reasons(block.reasons())], page)


def _of_table(block: Table, title: str, notes: Sequence[str], page: Page) -> list[str]:
    names = [
        distinct_names(cell.text for cell in column if isinstance(cell, Name))
        for column in zip(*block.rows, strict=True)
    ]
    rows = [[_cell(cell, names[n], block) for n, cell in enumerate(row)] for row in block.rows[: block.limit]]
    heads = [f"{column.group} {column.title}".strip() for column in block.columns]
    table = _table(title, heads, rows, block.number_columns(), [*notes, *_reasons(block.reasons())], page)
    left_out = len(block.rows) - len(rows)
    return [*([f"% {left_out} more rows: --format json has all"] if left_out else []), *table]


def _reasons(reasons: Reasons) -> list[str]:
    return [f"{join_names(names)}: {reason}" for reason, names in reasons.items()]


def _cell(cell: Cell, names: dict[str, str], block: Table) -> str:
    if isinstance(cell, Name):
        return escape_latex(names[cell.text], is_visible=True)
    if isinstance(cell, MeasuredValue):
        value, interval = _numbers(cell)
        value = rf"\textbf{{{value}}}*" if cell.best else value
        counts = escape_latex(f"({cell.counts})") if block.with_counts and cell.counts else ""
        return " ".join(part for part in (value, interval, counts) if part)
    return escape_latex(cell)


def _numbers(value: MeasuredValue) -> tuple[str, str]:
    """The value and its interval."""
    interval = "" if value.interval is None else _signed(escape_latex(str(value.interval)))
    return _signed(escape_latex(str(value))), interval


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
        rf"\caption{{{escape_latex(title)}}}",
        rf"\label{{tab:{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if to_the_right else 'l' for to_the_right in right)}}}",
        r"\toprule",
        _row([escape_latex(head) for head in heads]),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        *(rf"\par\smallskip{{\footnotesize {escape_latex(note)}}}" for note in notes),
        r"\end{table}",
    ]


def _row(cells: Sequence[str]) -> str:
    # \\ takes what follows in brackets, or a star, for an option of its own.
    return " & ".join(f"{{}}{cell}" if cell.startswith(("[", "*")) else cell for cell in cells) + r" \\"
