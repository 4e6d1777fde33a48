"""What of the extraction suite's report is drawn: scores, errors by name, event types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import measured
from goldgate.core.picture import BarPicture, Picture, Score, ScoreGroup, ScorePicture, score
from goldgate.suites.extraction.page import FAMILIES, RATES, SHOWN_TYPES

_TYPE_SCORE = "strict_f1"


def pictures(report: Mapping[str, Any]) -> tuple[Picture, ...]:
    """In the order of the page. Without a gold argument there are no types to draw."""
    found: tuple[Picture, ...] = (_scores(report), _errors(report))
    return (*found, _types(report)) if report["breakdown"]["event_types"] else found


def _scores(report: Mapping[str, Any]) -> Picture:
    main = report["metrics"]["main"]
    groups = (ScoreGroup(f, tuple(score(rate, main[f"{f}_{rate}"]) for rate in RATES)) for f in FAMILIES)
    return ScorePicture("scores", "Scores", tuple(groups))


def _errors(report: Mapping[str, Any]) -> Picture:
    rows = tuple((name, (e["false_positives"], e["false_negatives"])) for name, e in report["errors"].items())
    return BarPicture("errors", "Errors by name", ("false positives", "false negatives"), rows)


def _types(report: Mapping[str, Any]) -> Picture:
    """Those with most gold, then by name."""
    types = sorted(report["breakdown"]["event_types"], key=lambda entry: (-entry["gold"], entry["event_type"]))
    shown = types[:SHOWN_TYPES]
    rows = tuple(Score(e["event_type"], measured(e[_TYPE_SCORE]), aside=str(e["gold"])) for e in shown)
    count = f"{len(shown)} of {len(types)} event types" if len(shown) < len(types) else "Event types"
    note = f"{count}, those with most gold first."
    return ScorePicture("types", "Event types", (ScoreGroup(_TYPE_SCORE, rows),), aside="gold", notes=(note,))
