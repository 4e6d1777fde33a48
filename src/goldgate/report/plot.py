"""Pictures of stored results: of one run those of its report, of several runs or systems those of a comparison."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from goldgate.comparison import compare_systems
from goldgate.core.metric import format_number
from goldgate.core.page import (
    MeasuredValue,
    Page,
    Picture,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
    interval_ends,
    measured_value,
)
from goldgate.errors import ConfigError, InputError, Place, did_you_mean
from goldgate.readers.stored_result import REPORT, load_result
from goldgate.report import describe_report
from goldgate.report.svg import page_pictures, render_svg
from goldgate.runs.comparison_page import describe_comparison, p_value
from goldgate.runs.sources import COMPARISON_FILE, SystemSource, load_comparison
from goldgate.suites import all_suites

if TYPE_CHECKING:
    from goldgate.runs.contracts import ComparedSystem, ComparisonReport, TestedDifference

# What has a picture of a kind that other results lack.
_NEEDS = {
    "gates": "there are gates where a protocol sets them",
    "systems": "name two systems or more",
    "differences": "name two systems or more",
    "runs": "name several runs of one system: B=out/b-1,out/b-2",
    "scores": "draw one result at a time",
}


def draw_results(
    sources: Sequence[SystemSource], kinds: Sequence[str] = (), *, against: str | None = None, common: bool = False
) -> dict[str, str]:
    """The pictures of these systems by kind, as SVG, in the order of the report; all of them where none is named."""
    paths = [path for source in sources for path in source.paths]
    if len(paths) > 1:
        return _render_kinds(
            comparison_pictures(compare_systems(sources, against=against, common=common).report), kinds
        )
    compared = _comparison_file(Path(paths[0]))
    if compared is not None:
        return _render_kinds(comparison_pictures(load_comparison(compared)[1]), kinds)
    result = load_result(paths[0], all_suites())
    result.require_consistent()
    with require_complete(result.file):
        return _render_kinds(page_pictures(describe_report(result.report), sources[0].name), kinds)


@contextmanager
def require_complete(file: Path, advice: str = "recompute it with --out") -> Iterator[None]:
    """Turn what a changed or incomplete report raises while it is described into an InputError with its place."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        place = Place(str(file))
        raise InputError("report.malformed", "this report is not complete", place=place, advice=advice) from None


def _comparison_file(path: Path) -> Path | None:
    """The file of a comparison, where the path is that or its folder."""
    compared = os.path.isdir(path) and not os.path.exists(path / REPORT)
    file = path / COMPARISON_FILE if compared else path
    return file if file.name == COMPARISON_FILE and os.path.exists(file) else None


def _render_kinds(pictures: Sequence[Picture], kinds: Sequence[str]) -> dict[str, str]:
    available = [picture.kind for picture in pictures]
    for kind in kinds:
        if kind not in available:
            raise ConfigError(
                "plot.no_such_kind",
                "there is no such picture of these results",
                expected=", ".join(available) or "results that can be drawn",
                found=kind,
                advice=_NEEDS.get(kind) or did_you_mean(kind, available),
            )
    return {picture.kind: render_svg(picture) for picture in pictures if not kinds or picture.kind in kinds}


def comparison_pictures(report: ComparisonReport) -> list[Picture]:
    """What is drawn of a comparison; one system alone has nothing but its runs."""
    several = [_systems(report), _differences(report)] if len(report["systems"]) > 1 else []
    runs = [_runs(report)] if any(len(system["runs"]) > 1 for system in report["systems"]) else []
    return [*several, *runs]


def comparison_page(report: ComparisonReport) -> Page:
    """A comparison as a page, with the pictures that plot draws of it."""
    drawn = tuple(each._replace(about="") for each in comparison_pictures(report))  # it stands above them all
    return describe_comparison(report)._replace(pictures=drawn)


def _systems(report: ComparisonReport) -> Picture:
    groups = _by_metric(report, lambda metric: [_system(system, metric) for system in report["systems"]])
    return ScorePicture("systems", "Systems", groups, about=_about(report))


def _system(system: ComparedSystem, metric: str) -> ScoreRow:
    value = measured_value(system["metrics"][metric])._replace(best=metric in system["best_in"])
    runs = len(system["runs"])
    return ScoreRow(system["name"], value, aside=f"{runs} runs" if runs > 1 else value.counts)


def _runs(report: ComparisonReport) -> Picture:
    """Each run of those systems that have several; of one, a line for each metric."""
    several = [system for system in report["systems"] if len(system["runs"]) > 1]
    groups = _by_metric(report, lambda metric: [_spread(system, metric) for system in several])
    if len(several) == 1:
        groups = (ScoreGroup("", tuple(group.rows[0]._replace(label=group.title) for group in groups)),)
    note = f"The interval holds both: how much runs differ, and how much each {report['unit']} says."
    return ScorePicture("runs", "Several runs", groups, about=_about(report), aside="std. dev.", notes=(note,))


def _spread(system: ComparedSystem, metric: str) -> ScoreRow:
    values = system["metrics"][metric]
    spread = values.get("between_runs")
    runs = tuple(sorted(values.get("by_run", ())))
    return ScoreRow(system["name"], measured_value(values), runs, "" if spread is None else format_number(spread))


def _differences(report: ComparisonReport) -> Picture:
    """Each system less the one that they are compared with."""
    against = report["against"]

    def rows(metric: str) -> list[ScoreRow]:
        entries = [e for e in report["comparisons"] if e["metric"] == metric]
        return [ScoreRow(e["system"], _difference(e), aside=str(p_value(e["p_adjusted"]))) for e in entries]

    return ScorePicture(
        "differences",
        f"Differences from {against}",
        _by_metric(report, rows),
        about=_about(report),
        aside="p (Holm)",
        notes=(f"System minus {against}, {report['unit']} by {report['unit']}.",),
        with_zero=True,
    )


def _difference(entry: TestedDifference) -> MeasuredValue:
    difference = entry["difference"]
    if difference is None:
        return MeasuredValue(None, reason=entry["reason"])
    if "exact" not in difference:  # of estimates, which are not ratios of counts
        return MeasuredValue(difference["value"], interval=interval_ends(difference))
    exact = Fraction(difference["exact"])
    return MeasuredValue(float(exact), exact.numerator, exact.denominator, interval=interval_ends(difference))


def _by_metric(report: ComparisonReport, rows: Callable[[str], Sequence[ScoreRow]]) -> tuple[ScoreGroup, ...]:
    return tuple(ScoreGroup(metric, tuple(rows(metric))) for metric in report["headline"])


def _about(report: ComparisonReport) -> str:
    return describe_comparison(report).subject
