"""Several seeds side by side, as a page: mean with its interval, spread and range of the main metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import Cell, Column, Interval, Measured, Name, Page, Section, Table
from goldgate.report.layout import COLUMNS
from goldgate.report.markdown import render_markdown
from goldgate.report.text import render_text
from goldgate.suites.extraction.page import HEADLINE

_COLUMNS = {"mean": "mean", "standard_deviation": "std. dev.", "min": "min", "max": "max"}
_ERRORS = {"se_runs": "se of seeds", "se_units": "se of samples"}  # standard errors of the mean


def describe_seeds(seeds: Mapping[str, Any]) -> Page:
    """The summary of several seeds."""
    metrics = seeds["metrics"]
    names = [name for name in HEADLINE if name in metrics] or list(metrics)
    columns = _COLUMNS | (_ERRORS if any(metrics[name].get("interval") for name in names) else {})
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (Name(name), *(_value(metrics[name], key) for key in columns)) for name in names
    )
    table = Table((Column("metric"), *map(Column, columns.values())), rows)
    return Page(suite="seeds", subject=", ".join(map(str, seeds["seeds"])), sections=(Section("Metrics", (table,)),))


def _value(metric: Mapping[str, Any], key: str) -> Measured:
    """The mean has the interval: of what other seeds and other documents might bring."""
    interval = metric.get("interval") if key == "mean" else None
    return Measured(metric.get(key), interval=interval and Interval(interval["low"], interval["high"]))


def seeds_text(seeds: Mapping[str, Any], columns: int = COLUMNS, colour: bool = False) -> str:
    """The summary for the terminal."""
    return render_text(describe_seeds(seeds), columns, colour)


def seeds_markdown(seeds: Mapping[str, Any]) -> str:
    """seeds.md."""
    return render_markdown(describe_seeds(seeds))
