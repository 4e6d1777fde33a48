"""What can be drawn of a report: numbers with their labels, no layout and no colours.

Nothing here is escaped: whatever comes from data is made safe where it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.core.page import GateLine, Measured, measured


class Score(NamedTuple):
    """A value with its interval. `runs` are the values of single runs, where it is their mean."""

    label: str
    measured: Measured
    runs: tuple[float, ...] = ()
    aside: str = ""  # what else is said of it, in few characters


class ScoreGroup(NamedTuple):
    """Scores under a heading; all groups of a picture share one scale."""

    title: str
    rows: tuple[Score, ...]


class GatePicture(NamedTuple):
    """Each gate on a scale of its own: the value, its interval, the bounds, the verdict."""

    gates: tuple[GateLine, ...]
    title: str = "Gates"
    about: str = ""
    kind: str = "gates"


class ScorePicture(NamedTuple):
    """Values with intervals on one scale. `kind` names the picture: its file, and what --kind asks for.

    `title` is that of the section of the page where it belongs, `about` says what it is of.
    """

    kind: str
    title: str
    groups: tuple[ScoreGroup, ...]
    about: str = ""
    aside: str = "counts"  # what stands beside each score, over its column
    notes: tuple[str, ...] = ()
    with_zero: bool = False  # the scale has zero on it: these are differences


class BarPicture(NamedTuple):
    """Counts by name, in one or several series."""

    kind: str
    title: str
    series: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]  # a name, and a count for each series
    about: str = ""
    notes: tuple[str, ...] = ()


class CountPicture(NamedTuple):
    """Counts by row and column, such as what was meant and what was said. What has most is shown first."""

    kind: str
    title: str
    row_title: str
    column_title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]  # for each row, a count for each column
    about: str = ""
    notes: tuple[str, ...] = ()


Picture = GatePicture | ScorePicture | BarPicture | CountPicture


def score_pictures(report: Mapping[str, Any], headline: Sequence[str]) -> tuple[Picture, ...]:
    """The main rates of any report, the headline first."""
    main = report["metrics"].get("main", {})
    order = [*(name for name in headline if name in main), *main]
    rows = tuple(score(name, main[name]) for name in dict.fromkeys(order) if "denominator" in main[name])
    return (ScorePicture("scores", "Scores", (ScoreGroup("", rows),)),) if rows else ()


def score(label: str, metric: Mapping[str, Any]) -> Score:
    """A rate of a report, with its counts beside it."""
    found = measured(metric)
    return Score(label, found, aside=found.counts)
