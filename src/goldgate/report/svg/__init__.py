"""Pictures of results: which there are of a run, of several runs or systems, and each as SVG.

What is drawn on a page is drawn for itself in the same way. On a page a picture has no heading and no looks of its own:
`PICTURE_STYLE` is part of the page's. Counts are drawn here: bars by name (series filled, hatched or empty), and a heat
map by row and column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from goldgate.core.metric import format_number
from goldgate.core.page import (
    BarPicture,
    CountPicture,
    GatePicture,
    Matrix,
    MeasuredValue,
    Page,
    Picture,
    ScoreGroup,
    ScorePicture,
    ScoreRow,
    interval_ends,
    measured_value,
)
from goldgate.errors import ConfigError, did_you_mean
from goldgate.report.element import Markup, element, fragment
from goldgate.report.svg.scores import draw_gates, draw_scores
from goldgate.report.svg.shapes import (
    GAP,
    LINE,
    MARGIN,
    SMALL,
    WIDTH,
    Canvas,
    coordinate,
    description_text,
    draw_axis,
    draw_notes,
    fit_labels,
    fit_number,
    fit_scale,
    fit_text,
    full_label,
    hatching,
    heading,
    picture,
    rect,
    text,
    text_width,
)
from goldgate.runs.comparison_page import describe_comparison, p_value

if TYPE_CHECKING:
    from goldgate.runs.contracts import ComparedSystem, ComparisonReport, TestedDifference
    from goldgate.runs.sources import SystemSource


def draw(drawn: Picture, *, standalone: bool = False) -> Markup:
    """A picture as an SVG element; standalone with its title, its looks and its ground."""
    match drawn:
        case GatePicture():
            return draw_gates(drawn, standalone=standalone)
        case ScorePicture():
            return draw_scores(drawn, standalone=standalone)
        case BarPicture():
            return draw_bars(drawn, standalone=standalone)
        case CountPicture():
            return draw_counts(drawn, standalone=standalone)


def render_svg(drawn: Picture) -> str:
    """A picture as a file."""
    return f"{draw(drawn, standalone=True)}\n"


def draw_results(
    sources: Sequence[SystemSource], kinds: Sequence[str] = (), *, against: str | None = None, common: bool = False
) -> dict[str, str]:
    """The pictures of these systems by kind, as SVG, in the order of the report; all of them where none is named."""
    from goldgate.comparison import compare_systems
    from goldgate.readers.stored_result import load_result
    from goldgate.report import describe_report, require_complete
    from goldgate.runs.sources import load_comparison
    from goldgate.suites import all_suites

    paths = [path for source in sources for path in source.paths]
    if len(paths) > 1:
        comparison = compare_systems(sources, against=against, common=common).report
    elif (file := _comparison_file(Path(paths[0]))) is not None:
        comparison = load_comparison(file)
    else:
        result = load_result(paths[0], all_suites())
        result.require_consistent()
        with require_complete(result.file):
            return _render_kinds(page_pictures(describe_report(result.report), sources[0].name), kinds)
    return _render_kinds(page_pictures(comparison_page(comparison)), kinds)


# What has a picture of a kind that other results lack.
_NEEDS = {
    "gates": "there are gates where a protocol sets them",
    "systems": "name two systems or more",
    "differences": "name two systems or more",
    "runs": "name several runs of one system: B=out/b-1,out/b-2",
    "scores": "draw one result at a time",
}


def _comparison_file(path: Path) -> Path | None:
    """The file of a comparison, where the path is that or its folder."""
    from goldgate.readers.stored_result import REPORT
    from goldgate.runs.sources import COMPARISON_FILE

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


def page_pictures(page: Page, name: str = "") -> list[Picture]:
    """All pictures of a page, to be drawn alone: its gates, if any were judged, its own, and its matrices.

    `name` is what the page is of, and stands under their titles.
    """
    about = ": ".join(part for part in (name, page.subject) if part)
    gates = [GatePicture(page.gates)] if page.gates else []
    return [drawn._replace(about=about) for drawn in (*gates, *page.pictures, *_matrices(page))]


def _matrices(page: Page) -> Iterator[Picture]:
    """The matrices of a page, named after their sections; the groups of one below each other."""
    for section in page.sections:
        for matrix in section.blocks:
            if isinstance(matrix, Matrix) and matrix.cells:
                kind = "-".join(section.title.lower().split())
                yield matrix_picture(matrix, kind, section.title)


def matrix_picture(matrix: Matrix, kind: str, title: str) -> CountPicture:
    """A matrix with a row for each name in each group."""
    grids = matrix.grids()
    columns = tuple(dict.fromkeys(name for grid in grids for name in grid.columns))
    rows, counts = [], []
    for grid in grids:
        for row, own in zip(grid.rows, grid.counts, strict=True):
            by_column = dict(zip(grid.columns, own, strict=True))
            rows.append(f"{grid.group} / {row}" if matrix.group_title else row)
            counts.append(tuple(by_column.get(name, 0) for name in columns))
    row_title = f"{matrix.group_title} / {matrix.row_title}" if matrix.group_title else matrix.row_title
    note = f"Counts of {matrix.counted}."
    return CountPicture(kind, title, row_title, matrix.column_title, tuple(rows), columns, tuple(counts), notes=(note,))


def comparison_page(report: ComparisonReport) -> Page:
    """A comparison as a page, with the pictures that plot draws of it; one system alone has nothing but its runs."""
    several = (_systems(report), _differences(report)) if len(report["systems"]) > 1 else ()
    runs = (_runs(report),) if any(len(system["runs"]) > 1 for system in report["systems"]) else ()
    return describe_comparison(report)._replace(pictures=(*several, *runs))


def _systems(report: ComparisonReport) -> Picture:
    groups = _by_metric(report, lambda metric: [_system(system, metric) for system in report["systems"]])
    return ScorePicture("systems", "Systems", groups)


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
    return ScorePicture("runs", "Several runs", groups, aside="std. dev.", notes=(note,))


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


_BAR_LABELS = 220
_SERIES = 150  # the most room for the name of a series
_BAR = 11
_ROW_GAP = 9
_HATCHED = 2  # the number of the series that is hatched


def draw_bars(drawn: BarPicture, *, standalone: bool) -> Markup:
    """A bar for each count, the number at its end."""
    labels = fit_labels((name for name, _ in drawn.rows), _BAR_LABELS)
    scale = fit_scale([0, *(count for _, counts in drawn.rows for count in counts)], whole=True)
    left = MARGIN + max(map(text_width, labels.values()), default=0) + GAP
    numbers = (fit_number(count) for _, counts in drawn.rows for count in counts)
    right = WIDTH - MARGIN - max((text_width(number, SMALL) for number in numbers), default=0) - 6
    canvas = Canvas()
    if standalone:
        heading(canvas, drawn.title, drawn.about)
    _legend(canvas, drawn.series, left)
    body = Canvas(y=canvas.y)
    for name, counts in drawn.rows:
        body.y += _ROW_GAP / 2
        middle = body.y + _BAR * len(counts) / 2
        body.add(text(MARGIN, middle + 4, labels[name], whole=name))
        for number, count in enumerate(counts, start=1):
            width = scale.share(count) * (right - left)
            body.add(_bar(left, body.y, width, number))
            body.add(text(left + width + 5, body.y + _BAR - 1.5, fit_number(count), "small"))
            body.y += _BAR
        body.y += _ROW_GAP / 2
    canvas.add(*draw_axis(scale, left, right, canvas.y, body.y), *body.parts)
    canvas.y = body.y + LINE
    draw_notes(canvas, [full_label(note) for note in drawn.notes])
    return picture(canvas, full_label(drawn.title), _bar_description(drawn), standalone=standalone)


def _legend(canvas: Canvas, series: tuple[str, ...], left: float) -> None:
    canvas.y += LINE - 2
    x = left
    for number, name in enumerate(series, start=1):
        label = fit_text(name, _SERIES, SMALL)
        canvas.add(_bar(x, canvas.y - _BAR + 2, 22, number), text(x + 28, canvas.y, label, "small", whole=name))
        x += 28 + text_width(label, SMALL) + 2 * GAP
    canvas.y += 8


def _bar(x: float, y: float, width: float, number: int) -> Markup:
    if not width:
        return fragment()
    inner = hatching(x, y + 1, width, _BAR - 2, "bar-hatch") if number == _HATCHED else fragment()
    return fragment(rect(x, y + 1, width, _BAR - 2, f"bar-{number}"), "\n" if inner else None, inner)


def _bar_description(drawn: BarPicture) -> str:
    rows = [
        f"{name}: " + ", ".join(f"{count} {word}" for count, word in zip(counts, drawn.series, strict=True))
        for name, counts in drawn.rows
    ]
    return description_text([drawn.about, *rows, *drawn.notes])


MAX_NAMES = 16  # rows, and columns
_MAP_LABELS = 170
_CELL_WIDTH, _CELL_HEIGHT = 46, 24
_LEAST_WIDTH = 420
_LEVELS = 5
_HOT = 5  # the least count that is drawn darkest: a single one is no hot spot
_DARK = 4  # from this level on letters are light
_LISTED = 10  # counts that a description names
_SLOPE = 0.7072  # of labels that stand at 45 degrees


def draw_counts(drawn: CountPicture, *, standalone: bool) -> Markup:
    """Rows down, columns across; a name's own cell is framed, where rows and columns have the same names."""
    counts_map = _largest(drawn)
    rows, columns = (fit_labels(names, _MAP_LABELS) for names in (counts_map.rows, counts_map.columns))
    tilted = max((text_width(label, SMALL) for label in columns.values()), default=0.0) * _SLOPE
    left = MARGIN + max([text_width(counts_map.row_title, SMALL), *map(text_width, rows.values())]) + GAP
    room = WIDTH - MARGIN - tilted - left
    cell = min(_CELL_WIDTH, room / max(1, len(counts_map.columns)))
    canvas = Canvas(width=min(WIDTH, max(_LEAST_WIDTH, left + cell * len(counts_map.columns) + tilted + MARGIN)))
    if standalone:
        heading(canvas, counts_map.title, counts_map.about)
    canvas.y += LINE - 2
    canvas.add(text(left, canvas.y, fit_text(f"{counts_map.column_title} →", canvas.width - left, SMALL), "small"))
    canvas.y += tilted + 10
    for number, name in enumerate(counts_map.columns):
        canvas.add(_tilted_label(left + (number + 0.5) * cell, canvas.y, columns[name], name))
    canvas.add(text(MARGIN, canvas.y, fit_text(f"{counts_map.row_title} ↓", left - MARGIN, SMALL), "small"))
    canvas.y += 6
    most = max([_HOT, *(count for row in counts_map.counts for count in row)])
    for name, counts in zip(counts_map.rows, counts_map.counts, strict=True):
        canvas.add(text(MARGIN, canvas.y + 16, rows[name], whole=name))
        for number, (other, count) in enumerate(zip(counts_map.columns, counts, strict=True)):
            canvas.add(*_cell(left + number * cell, canvas.y, cell, count, most, same=name == other))
        canvas.y += _CELL_HEIGHT
    draw_notes(canvas, [full_label(note) for note in counts_map.notes])
    return picture(canvas, full_label(counts_map.title), _map_description(counts_map), standalone=standalone)


def heat_level(count: int, most: int) -> int:
    """0 for nothing, else from 1 to 5 by the root of the share: few are told from none, also beside many."""
    return next(level for level in range(_LEVELS + 1) if count * _LEVELS**2 <= level**2 * most) if count else 0


def _cell(x: float, y: float, width: float, count: int, most: int, *, same: bool) -> list[Markup]:
    level = heat_level(count, most)
    parts = [rect(x, y, width, _CELL_HEIGHT, f"cell heat-{level}")]
    if same:
        parts.append(rect(x + 1.5, y + 1.5, width - 3, _CELL_HEIGHT - 3, f"same heat-{level}"))
    if count:
        parts.append(text(x + width / 2, y + 16, str(count), "on-dark" if level >= _DARK else "", anchor="middle"))
    return parts


def _tilted_label(x: float, y: float, label: str, whole: str) -> Markup:
    turned = f"rotate(-45 {coordinate(x)} {coordinate(y)})"
    return element("g", text(x, y, label, "tilted", whole=whole), transform=turned)


def _largest(drawn: CountPicture) -> CountPicture:
    """The rows and columns that have most, in their order, and a note on how many were left out."""
    by_row = [sum(row) for row in drawn.counts]
    by_column = [sum(row[n] for row in drawn.counts) for n in range(len(drawn.columns))]
    rows, columns = (
        sorted(sorted(range(len(sums)), key=lambda n: (-sums[n], n))[:MAX_NAMES]) for sums in (by_row, by_column)
    )
    if len(rows) == len(drawn.rows) and len(columns) == len(drawn.columns):
        return drawn
    left_out = sum(by_row) - sum(drawn.counts[r][c] for r in rows for c in columns)
    note = (
        f"Shown: {len(rows)} of {len(drawn.rows)} rows and {len(columns)} of {len(drawn.columns)} columns, those with "
        f"most; {left_out} of {sum(by_row)} lie outside."
    )
    return drawn._replace(
        rows=tuple(drawn.rows[r] for r in rows),
        columns=tuple(drawn.columns[c] for c in columns),
        counts=tuple(tuple(drawn.counts[r][c] for c in columns) for r in rows),
        notes=(*drawn.notes, note),
    )


def _map_description(drawn: CountPicture) -> str:
    """The largest counts off the diagonal."""
    largest = [
        (-count, row, column)
        for row, counts in zip(drawn.rows, drawn.counts, strict=True)
        for column, count in zip(drawn.columns, counts, strict=True)
        if count and row != column
    ]
    cells = [f"{-count} {row} → {column}" for count, row, column in sorted(largest)[:_LISTED]]
    head = f"{drawn.row_title} → {drawn.column_title}, but for those of one name: {'none' if not cells else ''}"
    return description_text([drawn.about, head + "; ".join(cells), *drawn.notes])
