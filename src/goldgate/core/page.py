"""A report as a page: what it says, in its order, and the pictures of it, without layout.

Each format lays out any page. Nothing here is escaped: text from data is made safe where it is laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

from goldgate.core.gate import Gate
from goldgate.core.metric import Limit, format_number, metric_sections, missing_words

if TYPE_CHECKING:
    from goldgate.core.contracts import (
        ComparedValue,
        CountValue,
        DifferenceOfRates,
        DifferenceValue,
        IntervalValue,
        MetricValue,
        PlainMean,
        PlainRate,
        SuiteReport,
    )

NOT_AVAILABLE = "n/a"
_END_DIGITS = 3  # of the ends of an interval


class Name(NamedTuple):
    """An identifier: a metric, an event type, a code. It stays one piece, and two of them never look alike."""

    text: str
    whole: bool = False  # a word of ours, such as a metric: it is not shortened where there is little room

    def __str__(self) -> str:
        return self.text


class IntervalEnds(NamedTuple):
    """The ends of an interval around a value."""

    low: float
    high: float
    limits: tuple[Limit, ...] = ()  # of a gate: as shown, an end meets them exactly where it does

    @property
    def ends(self) -> tuple[float, float]:
        return self.low, self.high

    def __str__(self) -> str:
        """Both ends of the interval, with few decimals; whole numbers have none."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return f"[{self.low}, {self.high}]"
        low, high = (format_number(end, _END_DIGITS, self.limits) for end in self.ends)
        return f"[{low}, {high}]"


class MeasuredValue(NamedTuple):
    """A number with what stands behind it: two counts, or how many rates it averages; None has a reason."""

    value: float | None
    numerator: int | None = None
    denominator: int | None = None
    averaged: int | None = None
    undefined: int | None = None  # rates that the average leaves out
    reason: str | None = None
    interval: IntervalEnds | None = None
    best: bool = False  # marked, as better beyond doubt
    display: str | None = None  # the text to show, if not the rounded value
    limits: tuple[Limit, ...] = ()  # of a gate: as shown, the value meets them exactly where it does
    missing: int | None = None  # of a number of parse errors: those that are missing predictions

    def __str__(self) -> str:
        """The value, rounded."""
        if self.display is not None:
            return self.display
        if self.numerator is not None and self.denominator is not None:
            if not self.denominator:
                return NOT_AVAILABLE
            return format_number(Fraction(self.numerator, self.denominator), limits=self.limits)
        if self.value is None:
            return NOT_AVAILABLE
        return str(self.value) if isinstance(self.value, int) else format_number(self.value, limits=self.limits)

    def against(self, limits: tuple[Limit, ...]) -> MeasuredValue:
        """The value rounded so that neither it nor its interval looks like a bound that it does not reach."""
        return self._replace(limits=limits, interval=self.interval and self.interval._replace(limits=limits))

    @property
    def counts(self) -> str:
        """`430/752`, `15 of 16`, `1 of them missing`; empty for a plain count."""
        if self.denominator is not None:
            return f"{self.numerator}/{self.denominator}"
        if self.averaged is not None:
            return f"{self.averaged} of {self.averaged + (self.undefined or 0)}"
        return missing_words(self.missing) if self.missing else ""


Cell = str | Name | MeasuredValue
Phrase = tuple[str | Name, ...]  # words of one line
Reasons = dict[str, list[str]]  # each reason with the names that it holds for


def group_reasons(reasons: Iterable[tuple[str, str | None]]) -> Reasons:
    """Group names by their reason; names without one are left out."""
    groups: Reasons = {}
    for name, reason in reasons:
        if reason:
            groups.setdefault(reason, []).append(name)
    return groups


def join_names(names: Iterable[str]) -> str:
    """Names in a line, with commas between them; with semicolons, where one of them has a comma in it."""
    texts = [*names]
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


def undefined_lines(reasons: Reasons) -> list[str]:
    """`n/a: recall, f1: nothing is in the gold`, for each reason."""
    return [f"n/a: {join_names(names)}: {reason}" for reason, names in reasons.items()]


class Column(NamedTuple):
    """A column's title. Some belong together (`group`); some can be left out where there is little room."""

    title: str
    group: str = ""
    optional: bool = False


class Table(NamedTuple):
    """Rows under columns. `limit` rows are enough for a short format, `most` for a long one."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    limit: int | None = None
    most: int | None = None
    with_counts: bool = False  # the counts behind each value are shown with it
    empty: str = "none"  # the text that replaces a table without rows
    shared: int = 0  # first columns that do not depend on the system judged: they pair the rows of two systems
    marked: frozenset[int] = frozenset()  # rows that stand out, by number

    def number_columns(self) -> list[bool]:
        """For each column whether it has numbers."""
        return [any(isinstance(cell, MeasuredValue) for cell in column) for column in zip(*self.rows, strict=True)]

    def reasons(self) -> Reasons:
        """Why cells are undefined, each named as `strict precision`; empty for a table without counts."""
        return group_reasons(
            (" ".join(part for part in (str(row[0]), column.group, column.title) if part), cell.reason)
            for row in (self.rows if self.with_counts else ())
            for column, cell in zip(self.columns, row, strict=True)
            if isinstance(cell, MeasuredValue)
        )


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """How often one name, of gold, was taken for another."""

    row: str
    column: str
    count: int
    group: str = ""  # within which, where there are several matrices


def confusion_label(row: str, column: str, group: str = "") -> str:
    """`Target → Acquirer`, with its group before it: by this value a unit is found that has the confusion."""
    return f"{group} · {row} → {column}" if group else f"{row} → {column}"


class Grid(NamedTuple):
    """A matrix as it is drawn: names of rows and columns, and a count for each pair of them."""

    group: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class Matrix(NamedTuple):
    """Counts of pairs, the most frequent first; pairs that are not there have none. Formats without pictures list them.

    With a `group_title`, each group of the cells is a matrix of its own: the roles of each event type. The units of a
    cell are found by its `confusion_label` in `facet`.
    """

    row_title: str
    column_title: str
    cells: tuple[MatrixCell, ...]
    group_title: str = ""
    limit: int | None = None
    most: int | None = None
    empty: str = "none"
    facet: str = ""
    counted: str = "count"  # what the numbers count: `samples`

    def as_table(self) -> Table:
        """A row for each pair."""
        titles = (*filter(None, (self.group_title,)), self.row_title, self.column_title, self.counted)
        rows = tuple(
            (
                *((Name(cell.group),) if self.group_title else ()),
                Name(cell.row),
                Name(cell.column),
                MeasuredValue(cell.count),
            )
            for cell in self.cells
        )
        return Table(tuple(map(Column, titles)), rows, self.limit, self.most, empty=self.empty)

    def grids(self) -> tuple[Grid, ...]:
        """The matrix of each group; groups, rows and columns with the most first, then by name."""
        groups: dict[str, dict[tuple[str, str], int]] = {}
        for cell in self.cells:
            groups.setdefault(cell.group, {})[cell.row, cell.column] = cell.count
        order = sorted(groups, key=lambda group: (-sum(groups[group].values()), group))
        return tuple(_grid(group, groups[group]) for group in order)


def _grid(group: str, counts: Mapping[tuple[str, str], int]) -> Grid:
    totals: dict[str, int] = {}
    for pair, count in counts.items():
        for name in pair:
            totals[name] = totals.get(name, 0) + count
    order = sorted(totals, key=lambda name: (-totals[name], name))  # the same for rows and columns
    rows, columns = {row for row, _ in counts}, {column for _, column in counts}
    named_rows, named_columns = (tuple(name for name in order if name in names) for names in (rows, columns))
    filled = tuple(tuple(counts.get((row, column), 0) for column in named_columns) for row in named_rows)
    return Grid(group, named_rows, named_columns, filled)


class MetricLine(NamedTuple):
    """A metric as words: its value, its interval, and its counts or the reason that no other metric shares."""

    name: str
    value: str
    interval: str
    counts: str
    has_reason: bool  # in place of counts


class MetricValues(NamedTuple):
    """Metrics by name, each with its counts or why it is undefined."""

    rows: tuple[tuple[Name, MeasuredValue], ...]

    @property
    def has_intervals(self) -> bool:
        return any(value.interval for _, value in self.rows)

    def reasons(self) -> Reasons:
        """Why metrics are undefined."""
        return group_reasons((name.text, value.reason) for name, value in self.rows)

    def shared_reasons(self) -> Reasons:
        """The reasons that several metrics have: they are said once."""
        return {reason: names for reason, names in self.reasons().items() if len(names) > 1}

    def only_reason(self) -> str | None:
        """The reason why all metrics are undefined, if it is one."""
        reasons = self.reasons()
        return next(iter(reasons)) if len(reasons) == 1 and all(value.reason for _, value in self.rows) else None

    def lines(self) -> Iterator[MetricLine]:
        """A line for each metric."""
        shared = self.shared_reasons()
        for name, value in self.rows:
            reason = value.reason if value.reason not in shared else None
            interval = "" if value.interval is None else str(value.interval)
            yield MetricLine(name.text, str(value), interval, reason or value.counts, bool(reason))


class LabelRow(NamedTuple):
    """A label and what belongs to it: a text, or several things that stand side by side."""

    label: str | Name
    parts: tuple[str, ...]


class LabelList(NamedTuple):
    """Labels with what belongs to each."""

    rows: tuple[LabelRow, ...]


class Paragraph(NamedTuple):
    """Sentences."""

    text: str


class Notes(NamedTuple):
    """A list of remarks."""

    items: tuple[Phrase, ...]
    limit: int | None = None


class FindingLine(NamedTuple):
    """What was found, how bad it is, where, and the id of its unit if it is of one."""

    severity: str
    code: str
    place: str
    message: str
    unit: str = ""
    file: str = ""
    line: int | None = None

    @property
    def words(self) -> str:
        """Where and what, in one line."""
        return f"{self.place or self.unit}: {self.message}"


class FindingList(NamedTuple):
    """What was found, in this order."""

    rows: tuple[FindingLine, ...]
    limit: int | None = None
    most: int | None = None
    heads: tuple[str, ...] = ("severity", "code", "where", "message")


Block = Table | Matrix | MetricValues | LabelList | Paragraph | Notes | FindingList


class Section(NamedTuple):
    """Blocks under a title; without one they belong to the headline. Details are for long formats only."""

    title: str
    blocks: tuple[Block, ...]
    is_detail: bool = False
    in_brief: bool = False  # part of the page at its shortest


class GateLine(NamedTuple):
    """One gate: what was measured, the bounds, the verdict and why."""

    metric: str
    gate: Gate
    measured: MeasuredValue
    verdict: str
    reason: str
    difference: MeasuredValue | None = None  # from the stored run that it is judged against
    causes: tuple[FindingLine, ...] = ()  # the first that keep it from passing
    more_causes: int = 0

    @property
    def cause_words(self) -> list[str]:
        """A line for each cause, and how many more there are."""
        more = [f"and {self.more_causes} more"] if self.more_causes else []
        return [*(cause.words for cause in self.causes), *more]

    @property
    def says_more(self) -> bool:
        """Whether the reason is more than the value beside the bounds."""
        is_mean = self.measured.averaged is not None
        counts = str(self.measured) if is_mean else self.measured.counts or str(self.measured)
        counts = f"{self.measured} ({counts})" if self.measured.missing else counts
        plain = {f"{counts} is not {sign} {bound}" for sign, bound in self.gate.value_bounds()}
        return self.reason != f"{counts} is {self.gate.bounds()}" and not plain.issuperset(self.reason.split("; "))


class InputLine(NamedTuple):
    """A file that numbers come from, and how much is in it."""

    kind: str
    sha256: str
    size: str = ""


class ReportOrigin(NamedTuple):
    """The versions, signature and input files that numbers come from. The signature can be copied as it stands."""

    versions: tuple[tuple[str, str], ...]
    signature: str
    inputs: tuple[InputLine, ...] = ()


class Page(NamedTuple):
    """A whole report. `gates` is None where nothing is judged by gates, and empty where there are none."""

    suite: str
    verdict: str = ""
    subject: str = ""
    protocol: str = ""
    gates: tuple[GateLine, ...] | None = None
    gates_note: str = ""  # how they are judged together
    remarks: tuple[str, ...] = ()  # what stands out
    sections: tuple[Section, ...] = ()
    origin: ReportOrigin | None = None
    pictures: tuple[Picture, ...] = ()  # each beside the section of its title
    remark_filters: Mapping[str, tuple[str, str]] = MappingProxyType({})  # by remark: the facet and value of its units
    files: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # by input: the names of its files, without folders
    scored_at: str = ""  # when, where a run.json says so: a report itself has no clock

    def brief(self) -> Page:
        """What decides: headline, gates, remarks, and the sections that are part of a brief page."""
        sections = tuple(section for section in self.sections if section.in_brief or not section.title)
        return self._replace(sections=sections, origin=None)

    @property
    def headline_blocks(self) -> list[Block]:
        """The blocks of sections without a title: they belong to the headline."""
        return [block for section in self.sections if not section.title for block in section.blocks]

    @property
    def titled_sections(self) -> list[Section]:
        return [section for section in self.sections if section.title]


def measured_value(metric: MetricValue | PlainRate | PlainMean | ComparedValue) -> MeasuredValue:
    """A rate, a count or a mean of a report or a comparison."""
    entry = cast("ComparedValue", metric)  # it names all keys that one of them has
    return MeasuredValue(
        entry["value"],
        entry.get("numerator"),
        entry.get("denominator"),
        entry.get("averaged"),
        entry.get("undefined"),
        entry.get("reason"),
        interval_ends(entry.get("interval")),
        missing=cast("CountValue", metric).get("missing_predictions"),
    )


def interval_ends(interval: IntervalValue | DifferenceValue | DifferenceOfRates | None) -> IntervalEnds | None:
    """The interval of a stored metric or difference; None where it has none."""
    if interval is None or interval["low"] is None or interval["high"] is None:
        return None
    return IntervalEnds(interval["low"], interval["high"])


def metric_values(metrics: Mapping[str, MetricValue]) -> MetricValues:
    """Metrics of a report, by name."""
    return MetricValues(tuple((Name(name), measured_value(metric)) for name, metric in metrics.items()))


def count_text(number: int, thing: str, things: str | None = None) -> str:
    """A number and its noun, in the plural unless the number is 1: `1 sample`, `2 samples`."""
    return f"{number} {thing if number == 1 else things or plural(thing)}"


def plural(thing: str) -> str:
    """The plural of an English noun: `samples`, `queries`."""
    return thing.removesuffix("y") + "ies" if thing.endswith("y") else thing + "s"


class ScoreRow(NamedTuple):
    """A value with its interval. `runs` are the values of single runs, where it is their mean."""

    label: str
    measured: MeasuredValue
    runs: tuple[float, ...] = ()
    aside: str = ""  # what else is said of it, in few characters


class ScoreGroup(NamedTuple):
    """Scores under a heading; all groups of a picture share one scale."""

    title: str
    rows: tuple[ScoreRow, ...]


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
    """Counts by row and column, such as gold names by predicted names. What has most is shown first."""

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


def score_pictures(report: SuiteReport, headline: Sequence[str]) -> tuple[Picture, ...]:
    """The main rates of any report, the headline first."""
    main = metric_sections(report["metrics"]).get("main", {})
    order = [*(name for name in headline if name in main), *main]
    rows = tuple(score_row(name, main[name]) for name in dict.fromkeys(order) if "denominator" in main[name])
    return (ScorePicture("scores", "Scores", (ScoreGroup("", rows),)),) if rows else ()


def score_row(label: str, metric: MetricValue) -> ScoreRow:
    """A rate of a report, with its counts beside it."""
    value = measured_value(metric)
    return ScoreRow(label, value, aside=value.counts)
