"""A plan as a page: what a difference takes, when gates are decided, and what each number of documents can show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from goldgate.core.metric import Limit, rounded
from goldgate.core.page import NOT_AVAILABLE, Cell, Column, Name, Notes, Page, Section, Table, counted, measured, plural

_SIGNS = {"min": "≥", "max": "≤", "threshold": "≥"}  # of a threshold, which side of it the number is on counts


def describe_power(plan: Mapping[str, Any]) -> Page:
    """From the JSON of a plan."""
    unit = "record" if plan["unit"] == "group" else plan["unit"]
    of_pairs = plan["against"]["unit"] if plan["against"] else unit
    metrics = plan["metrics"]
    sections = (
        Section(
            f"{plural(of_pairs).capitalize()} that show a difference of {plan['detect']}", (_needed(metrics, of_pairs),)
        ),
        Section(f"{plural(unit).capitalize()} until the interval leaves out a threshold", tuple(_gates(metrics, unit))),
        Section(f"Smallest difference that so many {plural(of_pairs)} show", tuple(_curve(metrics, of_pairs))),
        Section("What this rests on", (Notes(tuple((words,) for words in _assumptions(plan))),)),
    )
    return Page(
        suite="power",
        subject=f"{plan['suite']} suite, {counted(plan['records'], unit)}",
        sections=tuple(section for section in sections if section.blocks),
    )


def _needed(metrics: Mapping[str, Any], unit: str) -> Table:
    rows = [(Name(name, whole=True), *_needed_cells(found)) for name, found in metrics.items()]
    columns = ("metric", "value", "interval", f"{plural(unit)} needed", "found now")
    return Table(tuple(map(Column, columns)), tuple(rows))


def _needed_cells(found: Mapping[str, Any]) -> Iterator[Cell]:
    limits = [Limit(_SIGNS[gate["bound"]], Fraction(gate["threshold"])) for gate in found["gates"]]
    value, difference = measured(found["measured"]).against(tuple(limits)), found["difference"]
    yield value._replace(interval=None)
    yield NOT_AVAILABLE if value.interval is None else str(value.interval)
    if "units_needed" not in difference:
        yield difference["reason"]
        yield ""  # the reason stands beside it
        return
    yield difference["reason"] or f"{difference['records_needed']:,}"
    yield NOT_AVAILABLE if difference["detectable"] is None else f"≥ {rounded(difference['detectable'])}"


def _gates(metrics: Mapping[str, Any], unit: str) -> Iterator[Table]:
    signs = {"min": "≥ ", "max": "≤ ", "threshold": ""}
    rows = []
    for name, found in metrics.items():
        for gate in found["gates"]:
            now = f"{gate['decided']} it already" if gate["decided"] else NOT_AVAILABLE
            if gate["decided"] is None and "tends" in gate:
                now = f"open, tends to be {gate['tends']}"
            needed = gate.get("reason") or f"{gate['records_needed']:,}"
            rows.append((Name(name, whole=True), signs[gate["bound"]] + gate["threshold"], now, needed))
    if rows:
        yield Table(tuple(map(Column, ("metric", "threshold", "now", f"{plural(unit)} needed"))), tuple(rows))


def _curve(metrics: Mapping[str, Any], unit: str) -> Iterator[Table]:
    curves = {
        name: {point["records"]: point["detectable"] for point in found["difference"].get("curve", ())}
        for name, found in metrics.items()
    }
    sizes = sorted({size for curve in curves.values() for size in curve})
    rows = tuple(
        (f"{size:,}", *(rounded(curve[size]) if size in curve else NOT_AVAILABLE for curve in curves.values()))
        for size in sizes
    )
    if rows:
        yield Table((Column(plural(unit)), *map(Column, curves)), rows)


def _assumptions(plan: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"A difference of that size is found in {_percent(plan['power'])} of all comparisons, at a level of "
        f"{_percent(plan['level'])}; more {plural(plan['unit'])} are like these."
    )
    if plan["against"] is None:
        yield (
            "The other system is taken to be as uncertain as this one, and to go together with it with a correlation "
            f"of {plan['correlation']:g}. Systems that fail on the same documents need fewer, one that varies more "
            "needs more: --against DIR takes the spread that two systems have shown."
        )
        return
    shown = ", ".join(
        f"{name} {rounded(found['difference']['correlation'], 2)}"
        for name, found in plan["metrics"].items()
        if found["difference"].get("correlation") is not None
    )
    yield "The spread is that of the difference between these two systems" + (
        f"; correlations: {shown}." if shown else "."
    )


def _percent(share: float) -> str:
    return f"{share * 100:g} %"
