"""Pages with a block of every kind, and with whatever text a test puts in every place."""

from __future__ import annotations

from decimal import Decimal

from goldgate.core.gate import Gate
from goldgate.core.page import (
    Block,
    Column,
    FindingLine,
    Findings,
    GateLine,
    InputLine,
    Interval,
    Matrix,
    MatrixCell,
    Measured,
    Name,
    Notes,
    Origin,
    Page,
    Pair,
    Pairs,
    Paragraph,
    SampleLine,
    Samples,
    Section,
    Table,
    Values,
)

RATE = Measured(0.75, 3, 4, interval=Interval(0.5, 0.9))
UNDEFINED = Measured(None, 0, 0, reason="nothing to divide by")
MEAN = Measured(0.5, averaged=15, undefined=1)


def blocks(text: str) -> tuple[Block, ...]:
    """One of each kind, `text` in every place that takes any."""
    undefined = Measured(None, reason=text)
    return (
        Table((Column(text), Column("value")), ()),
        Table(
            (
                Column("name"),
                Column(text),
                Column("P", group=text),
                Column("R", group=text),
                Column("n", optional=True),
            ),
            ((Name(text), text, RATE, UNDEFINED, Measured(7)), (Name(text + "x"), "", MEAN, undefined, Measured(8))),
            limit=1,
            most=1,
            with_counts=True,
        ),
        Matrix(
            text, f"{text}!", (MatrixCell(text, f"{text}0", 2, text), MatrixCell("row", text, 1, "of")), text, limit=1
        ),
        Matrix("gold", "predicted", (MatrixCell(text, f"{text}0", 2),)),
        Matrix("gold", "predicted", (), empty=text),
        Values(((Name(text), RATE), (Name(f"{text}0"), undefined), (Name(f"{text}1"), undefined))),
        Values(((Name(text), undefined), (Name(f"{text}0"), undefined))),
        Values(((Name(text), undefined), (Name("count"), Measured(3)))),
        Pairs((Pair(text, (text,)), Pair(Name(text), (text, f"{text} 2")), Pair("label", ("a", "b")))),
        Paragraph(text),
        Notes(((text, Name(text)), ("and ", Name(text), " too")), limit=1),
        Findings((FindingLine("error", text, text, text), FindingLine("hint", "code", "", text)), limit=1, most=1),
        Findings(()),
    )


def page(text: str, *of: Block) -> Page:
    """A page with everything that a page can have."""
    gates = (
        GateLine(text, Gate(min=Decimal("0.80")), RATE, "PASS", "3/4 is ≥ 0.80", "inconclusive"),
        GateLine("b", Gate(max=Decimal("0.1"), severity="warn"), UNDEFINED, "FAIL", f"not_evaluable: {text}"),
        GateLine("c", Gate(equals=Decimal("1.00")), UNDEFINED, "FAIL", f"not_evaluable: {text}"),
        GateLine("d", Gate(equals=Decimal("1.00")), RATE, "FAIL", f"3/4 is not = 1.00; {text}"),
    )
    return Page(
        suite=text,
        verdict="FAIL",
        subject=text,
        protocol=text,
        gates=gates,
        stands_out=(text, "another"),
        sections=(Section("", of), Section(text, of), Section("Details", of, is_detail=True)),
        origin=Origin(
            (("metrics.version", text),), f"goldgate:{text}|suite:{text}", (InputLine(text, text, text),) * 7
        ),
        samples=Samples(text, 3, (SampleLine(text, text), SampleLine(f"{text} 2", "missing"))),
    )
