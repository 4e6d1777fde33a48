r"""A comparison as LaTeX: its tables with booktabs, ready to paste, the signature as a comment.

Whatever comes from data is text: no command, no comment, no end of a table. Letters stay as they are, so names in
other scripts need XeLaTeX or LuaLaTeX.
"""

from __future__ import annotations

import re

from goldgate.core.page import Cell, MeasuredValue, Name, Page, Table
from goldgate.report.escape import distinct_names, visible, visible_name

_SPECIAL = re.compile(r"[\\{}$&#%_^~<>|\"`*≥≤−]|-(?=-)|(?<=[?!'])'")
_WRITTEN = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "'": r"{}'",
    "*": "*",
    "-": "-{}",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "−": "$-$",
}
_SLUG = re.compile(r"[^a-z0-9]+")


def render_latex(page: Page) -> str:
    """The tables of the sections, without details; what stands beside them is a comment."""
    title = ": ".join(part for part in (page.verdict, f"goldgate {page.suite}", page.subject) if part)
    signature = [] if page.origin is None else [f"signature: {page.origin.signature}"]
    lines = [*map(_comment, (title, *signature, *page.remarks)), r"% \usepackage{booktabs}"]
    for section in page.sections:
        tables = [block for block in section.blocks if isinstance(block, Table) and block.rows]
        if not section.is_detail:
            lines += [line for table in tables for line in _table(table, section.title, page.suite)]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    """Escape visible text for LaTeX: no commands, comments, column marks or ligatures are left in it."""
    return _SPECIAL.sub(lambda match: _WRITTEN.get(match.group(), f"\\{match.group()}"), text)


def _comment(text: str) -> str:
    return "% " + visible(text)


def _table(table: Table, title: str, suite: str) -> list[str]:
    columns = zip(*table.rows, strict=True)
    names = [distinct_names(cell.text for cell in column if isinstance(cell, Name)) for column in columns]
    rows = [[_cell(cell, names[n]) for n, cell in enumerate(row)] for row in table.rows[: table.limit]]
    left_out = len(table.rows) - len(rows)
    return [
        *(["", f"% {left_out} more rows: --format json has all"] if left_out else [""]),
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{escape_latex(visible_name(title))}}}",
        rf"\label{{tab:{_SLUG.sub('-', f'{suite} {title}'.lower()).strip('-')}}}",
        rf"\begin{{tabular}}{{{''.join('r' if is_number else 'l' for is_number in table.number_columns())}}}",
        r"\toprule",
        _row([escape_latex(visible_name(column.title)) for column in table.columns]),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]


def _cell(cell: Cell, names: dict[str, str]) -> str:
    if isinstance(cell, Name):
        return escape_latex(names[cell.text])
    if not isinstance(cell, MeasuredValue):
        return escape_latex(visible_name(cell))
    value, interval = (_signed(str(part)) for part in (cell, cell.interval or ""))
    value = rf"\textbf{{{value}}}*" if cell.best else value
    return f"{value} {interval}".rstrip()


def _signed(number: str) -> str:
    """A minus sign in place of a hyphen."""
    return re.sub(r"-(?=\d)", "$-$", escape_latex(visible(number)))


def _row(cells: list[str]) -> str:
    # \\ takes what follows in brackets, or a star, for an option of its own.
    return " & ".join(f"{{}}{cell}" if cell.startswith(("[", "*")) else cell for cell in cells) + r" \\"
