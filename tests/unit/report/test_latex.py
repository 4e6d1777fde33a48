"""LaTeX: whatever stands in the data is text there, and no command, comment or column."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.page import Column, IntervalEnds, MeasuredValue, Name, Page, ReportOrigin, Section, Table
from goldgate.report import render_page
from goldgate.report.latex import escape_latex
from tests.cases import cases

HOSTILE = r"\input{/etc/passwd} 50% & $x_1^2$ #1 {a} ~ \\ \end{tabular} <b> | \"o `` '' ?` -- *"


@cases(
    ("text", "shown"),
    [
        ("strict_f1", r"strict\_f1"),
        ("50 % & more", r"50 \% \& more"),
        ("a\\b", r"a\textbackslash{}b"),
        ("{x}$1#2", r"\{x\}\$1\#2"),
        ("x^2~y", r"x\textasciicircum{}2\textasciitilde{}y"),
        ("a<b>c|d", r"a\textless{}b\textgreater{}c\textbar{}d"),
        ("a--b---c", r"a-{}-b-{}-{}-c"),
        ('"', r"\char34{}"),
        ("质押", "质押"),
    ],
)
def test_what_latex_would_obey_is_text(text: str, shown: str) -> None:
    assert escape_latex(text) == shown


@given(st.text(max_size=40))
def test_no_text_is_a_command_of_latex(text: str) -> None:
    known = r"\\(?:text(?:backslash|asciicircum|asciitilde|less|greater|bar|asciigrave)\{\}|char34\{\}|[{}$&#%_])"
    shown = re.sub(r"\$(-|\\(geq|leq))\$", "", escape_latex(text))
    assert "--" not in shown
    rest = re.sub(known, "", shown).replace("{}", "")
    assert not set(rest) & set('\\{}$&#%_^~<>|"`')


def page(text: str) -> Page:
    rows = ((Name(text), MeasuredValue(-0.25, -1, 4, interval=IntervalEnds(-0.5, 0.1), best=True), text),)
    table = Table((Column("name"), Column("value"), Column(text or "x")), rows)
    return Page("suite", subject=text, sections=(Section(text, (table,)),), origin=ReportOrigin((), text))


@cases("text", [HOSTILE, "a\nb\r\n\\end{table}", "[1]", "*"])
def test_a_latex_table_keeps_its_columns(text: str) -> None:
    shown = render_page(page(text), "latex")
    body = shown[shown.index(r"\toprule") : shown.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2, 2]
    assert shown.splitlines().count(r"\end{tabular}") == 1
    assert not any(row.startswith(("[", "*")) for row in rows)
    comments = [line for line in shown.splitlines() if line.startswith("% ")]
    assert "\n".join(comments).count("signature") == 1


def test_a_minus_sign_is_one_in_latex() -> None:
    assert r"\textbf{$-$0.2500}* [$-$0.500, 0.100]" in render_page(page("x"), "latex")
