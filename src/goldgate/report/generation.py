"""Several seeds side by side, as a page: mean, spread and range of the main metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import Cell, Column, Measured, Name, Page, Section, Table
from goldgate.report.layout import COLUMNS
from goldgate.report.markdown import render_markdown
from goldgate.report.text import render_text
from goldgate.suites.extraction.page import HEADLINE

_COLUMNS = {"mean": "mean", "standard_deviation": "std. dev.", "min": "min", "max": "max"}


def describe_seeds(seeds: Mapping[str, Any]) -> Page:
    """The summary of several seeds."""
    metrics = seeds["metrics"]
    names = [name for name in HEADLINE if name in metrics] or list(metrics)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Name(name), *(Measured(metrics[name][key]) for key in _COLUMNS)) for name in names
    )
    table = Table((Column("metric"), *map(Column, _COLUMNS.values())), rows)
    return Page(suite="seeds", subject=", ".join(map(str, seeds["seeds"])), sections=(Section("Metrics", (table,)),))


def seeds_text(seeds: Mapping[str, Any], columns: int = COLUMNS, colour: bool = False) -> str:
    """The summary for the terminal."""
    return render_text(describe_seeds(seeds), columns, colour)


def seeds_markdown(seeds: Mapping[str, Any]) -> str:
    """seeds.md."""
    return render_markdown(describe_seeds(seeds))
