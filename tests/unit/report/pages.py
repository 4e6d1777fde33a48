"""Pages with a block of every kind, and with whatever text a test puts in every place."""

from __future__ import annotations

from decimal import Decimal

from goldgate.core.gate import Gate
from goldgate.core.page import (
    Block,
    Column,
    FindingLine,
    FindingList,
    GateLine,
    InputLine,
    IntervalEnds,
    LabelList,
    LabelRow,
    Matrix,
    MatrixCell,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    ReportOrigin,
    Section,
    Table,
)

RATE = MeasuredValue(0.75, 3, 4, interval=IntervalEnds(0.5, 0.9))
UNDEFINED = MeasuredValue(None, 0, 0, reason="nothing to divide by")
MEAN = MeasuredValue(0.5, averaged=15, undefined=1)


def blocks(text: str) -> tuple[Block, ...]:
    """One of each kind, `text` in every place that takes any."""
    undefined = MeasuredValue(None, reason=text)
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
            (
                (Name(text), text, RATE, UNDEFINED, MeasuredValue(7)),
                (Name(text + "x"), "", MEAN, undefined, MeasuredValue(8)),
            ),
            limit=1,
            most=1,
            with_counts=True,
        ),
        Matrix(
            text, f"{text}!", (MatrixCell(text, f"{text}0", 2, text), MatrixCell("row", text, 1, "of")), text, limit=1
        ),
        Matrix("gold", "predicted", (MatrixCell(text, f"{text}0", 2),)),
        Matrix("gold", "predicted", (), empty=text),
        MetricValues(((Name(text), RATE), (Name(f"{text}0"), undefined), (Name(f"{text}1"), undefined))),
        MetricValues(((Name(text), undefined), (Name(f"{text}0"), undefined))),
        MetricValues(((Name(text), undefined), (Name("count"), MeasuredValue(3)))),
        LabelList((LabelRow(text, (text,)), LabelRow(Name(text), (text, f"{text} 2")), LabelRow("label", ("a", "b")))),
        Paragraph(text),
        Notes(((text, Name(text)), ("and ", Name(text), " too")), limit=1),
        FindingList((FindingLine("error", text, text, text), FindingLine("hint", "code", "", text)), limit=1, most=1),
        FindingList(()),
    )


def page(text: str, *of: Block) -> Page:
    """A page with everything that a page can have."""
    gates = (
        GateLine(text, Gate(min=Decimal("0.80")), RATE, "PASS", "3/4 is ≥ 0.80"),
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
        remarks=(text, "another"),
        sections=(Section("", of), Section(text, of), Section("Details", of, is_detail=True)),
        origin=ReportOrigin(
            (("metrics.version", text),), f"goldgate:{text}|suite:{text}", (InputLine(text, text, text),) * 7
        ),
    )
