"""The result of an evaluation: its report, metrics and gates as values, bounds to assert, and the rates it states."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

import orjson

from goldgate.core.gate import Gate, GateResult, Verdict, check_gate, counts_text, parse_bound
from goldgate.core.metric import (
    MORE_IS_BETTER,
    Count,
    Metric,
    Metrics,
    NamedMetrics,
    Rate,
    UnknownMetricError,
    format_number,
    gate_metric,
    metric_sections,
    metrics_by_name,
)
from goldgate.core.page import IntervalEnds
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError, Place

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorReport, ErrorValue, FileDigest, PlainReport, RateValue, SuiteReport

Number = int | float | str | Decimal
MetricBound = Number | Mapping[str, Number]

_WORDS = ("min", "max", "equals")


@dataclass(frozen=True, slots=True, repr=False)
class BoundsCheck:
    """Whether bounds hold: true or false in a condition, and its `repr` says why in one line."""

    results: tuple[GateResult, ...]
    intervals: Mapping[str, IntervalEnds]

    def __bool__(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> Sequence[GateResult]:
        return [result for result in self.results if result.verdict is not Verdict.PASS]

    def __repr__(self) -> str:
        """Short: pytest cuts what is longer than some 200 characters in the middle."""
        held = len(self.results) - len(self.failed)
        parts = [self._describe(result) for result in self.failed or self.results]
        others = [f"{held} other{'s' if held > 1 else ''} held"] if self.failed and held else []
        return f"{'FAIL' if self.failed else 'PASS'}: {'; '.join([*parts, *others])}"

    def _describe(self, result: GateResult) -> str:
        measured, gate = result.measured, result.gate
        if measured.exact is None:
            return f"{result.metric} is undefined ({measured.reason}), and should be {gate.bounds()}"
        counts = f" = {counts_text(measured, gate)}" if isinstance(measured, Rate) else ""
        value = str(measured) if isinstance(measured, Count) else format_number(measured.exact, limits=gate.limits())
        interval = self.intervals.get(result.metric)
        ends = "" if interval is None else f" {interval._replace(limits=gate.limits())}"
        verb = "is" if result.verdict is Verdict.PASS else "is not"
        note = f" ({measured.note})" if isinstance(measured, Rate) and measured.note else ""
        return f"{result.metric} {value}{counts}{ends} {verb} {gate.bounds()}{note}"


def _bound_gate(name: str, bound: MetricBound, metric: Metric) -> Gate:
    if isinstance(bound, Mapping):
        if not bound or not set(bound) <= {*_WORDS}:
            raise TypeError(f"{name}: a bound is {{'min': …}}, {{'max': …}} or {{'equals': …}}, not {dict(bound)!r}")
        return Gate(**{word: _decimal(name, number) for word, number in bound.items()})  # type: ignore[arg-type]
    number = _decimal(name, bound)
    if not isinstance(metric, Rate) or not name.endswith(MORE_IS_BETTER):
        raise TypeError(f"{name}: say whether more or less is better: {{'max': {bound}}} or {{'min': {bound}}}")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is a rate: a number from 0 to 1, not {bound}")
    return Gate(min=number)


def _decimal(name: str, number: object) -> Decimal:
    """The number as it is written: 0.45 is 45/100, not the nearest float."""
    if isinstance(number, bool) or not isinstance(number, (int, float, str, Decimal)):
        raise TypeError(f"{name}: a bound is a number, not {number!r}")
    try:
        return parse_bound(number)
    except ValueError:
        raise ValueError(f"{name}: a bound is a finite number, not {number!r}") from None


FORMAT_VERSION = 1  # of report.json
_PIECE = 1_000  # entries of a list that are written at a time
SHOWN_METRICS = 4  # in the short form of an evaluation
METRIC_COLUMNS = ("metric", "value", "low", "high", "numerator", "denominator", "reason")  # of a data frame
DataFrameLibrary = Literal["pandas", "polars"]


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """Metrics by name, the gates' verdicts, and the whole report as plain values.

    `samples` are the records of samples.jsonl, where they were asked for; None where they were not.
    """

    report: Any  # a report of the suite's own type; for callers, who read it by their own keys, plain values
    metrics: Metrics = field(default_factory=dict)
    gates: list[GateResult] = field(default_factory=list)
    samples: list[dict[str, Any]] | None = None
    places: Mapping[str, Place] = field(default_factory=dict)  # of the units that the report's causes name, by id

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", NamedMetrics(self.metrics))

    def located_report(self, folders: Iterable[str] = ()) -> Any:
        """The report, with the file and line of all that gates name: for reading, not for comparing.

        What is named without its folder is looked for in `folders`.
        """
        searched = [*folders]

        def located(cause: Mapping[str, Any]) -> Mapping[str, Any]:
            place = self.places.get(cause.get("id", ""), Place(cause["file"], cause["line"]))
            paths = [os.path.join(folder, place.file) for folder in searched if place.file]
            path = next(filter(os.path.exists, paths), place.file or "")
            return {**cause, "file": path, "line": place.line}

        causes = [{**of_gate, "first": [*map(located, of_gate["first"])]} for of_gate in self.report["causes"]]
        return {**self.report, "causes": causes}

    @property
    def status(self) -> str:
        return str(self.report["status"])

    @property
    def passed(self) -> bool:
        """Whether gates were judged, and none failed or is open; without gates nothing passed."""
        return self.status == Verdict.PASS

    @property
    def exit_status(self) -> int:
        return EXIT_PASSED if self.status in (Verdict.PASS, Verdict.NO_GATES) else EXIT_GATE_FAILED

    def to_json(self) -> str:
        """The bytes of report.json, as text."""
        return render_json(self.report).decode()

    def __getitem__(self, metric: str) -> float | None:
        """A metric's value; None where it is undefined."""
        return self.metrics[metric].value

    def passes(self, **bounds: MetricBound) -> BoundsCheck:
        """Whether bounds hold, for an assertion: `evaluation.passes(strict_f1=0.45, parse_errors={"max": 0})`.

        A number alone is the least that is good enough. The comparison is exact, and an undefined metric does not pass.
        """
        if not bounds:
            raise TypeError(
                "passes() needs a bound, such as strict_f1=0.45; `passed` says what the protocol's gates came to"
            )
        names = [name for name in bounds if gate_metric(self.metrics[name]) is self.metrics[name]]
        intervals = {name: IntervalEnds(*ends) for name in names if (ends := self.interval(name)) is not None}
        gates = {name: _bound_gate(name, bound, self.metrics[name]) for name, bound in bounds.items()}
        return BoundsCheck(
            tuple(check_gate(name, gate, gate_metric(self.metrics[name])) for name, gate in gates.items()), intervals
        )

    def interval(self, metric: str) -> tuple[float, float] | None:
        """The ends of a metric's 95 % interval; None where it has none (the report's `interval_reason` says why)."""
        metrics = metrics_by_name(self.report["metrics"])
        if metric not in metrics:
            raise UnknownMetricError(metric, self.metrics)
        interval = metrics[metric]["interval"]
        return None if interval is None else (interval["low"], interval["high"])

    def __repr__(self) -> str:
        """One line: the verdict, and the metrics that it rests on (the first few where no gate names any)."""
        measured = [(gate.metric, gate.measured) for gate in self.gates] or list(self.metrics.items())
        values = [f"{name} {metric}" for name, metric in measured[:SHOWN_METRICS]]
        more = ["…"] if len(measured) > SHOWN_METRICS else []
        return f"<Evaluation: {self.report.get('suite')} {self.status}; {', '.join([*values, *more])}>"

    def to_dataframe(self, library: DataFrameLibrary = "pandas") -> Any:
        """A row for each metric: its value, the ends of its interval, its counts, and why it is undefined."""
        stored = metrics_by_name(self.report["metrics"])
        rows = [{"metric": name, **stored[name], **(stored[name]["interval"] or {})} for name in self.metrics]
        return make_dataframe(rows, METRIC_COLUMNS, library)

    def samples_to_dataframe(self, library: DataFrameLibrary = "pandas") -> Any:
        """A row for each sample, with a column for each part of its record."""
        if self.samples is None:
            raise ValueError("the samples were not kept: evaluate with records=True, which evaluate_files takes too")
        return make_dataframe(self.samples, [*dict.fromkeys(key for sample in self.samples for key in sample)], library)

    def _repr_html_(self) -> str:
        """The report's page, for notebooks."""
        # Results are below the renderers in the order of imports, hence by name.
        html: str = import_module("goldgate.report.html").render_notebook(self.report)
        return html


def make_dataframe(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], library: DataFrameLibrary) -> Any:
    """A data frame with these columns. Lists and objects stay Python values in pandas and are JSON text in polars."""
    if library not in get_args(DataFrameLibrary):
        raise ValueError(f"library is one of {', '.join(get_args(DataFrameLibrary))}, not {library!r}")
    try:
        package = import_module(library)
    except ImportError:
        raise ImportError(f"a data frame needs {library}: pip install {library}") from None
    values = {column: [row.get(column) for row in rows] for column in columns}
    if library == "pandas":
        return package.DataFrame(values, columns=[*columns])
    cells = {column: [_as_cell(value) for value in column_values] for column, column_values in values.items()}
    return package.DataFrame(cells, schema=[*columns], strict=False)  # a column of rates and counts is one of floats


def _as_cell(value: object) -> object:
    return orjson.dumps(value).decode() if isinstance(value, (list, tuple, dict)) else value


def render_json(report: Mapping[str, object]) -> bytes:
    """A report as it is stored."""
    try:
        return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a count above 64 bits: step numbers of stored runs add up to anything
        return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


def json_parts(report: Mapping[str, object]) -> Iterator[bytes]:
    """The bytes of `render_json`, part by part: at once they would take as much memory again as a very large report."""
    try:
        for _ in _parts(report):  # to see that all of it can be written so, before anything is
            pass
    except TypeError:
        yield render_json(report)
        return
    yield from _parts(report)


def _parts(report: Mapping[str, object]) -> Iterator[bytes]:
    before = b"{\n"
    for name, value in report.items():
        yield before
        if type(value) is list and len(value) > _PIECE:
            yield from _list_parts(name, value)
        else:
            yield _member(name, value)
        before = b",\n"
    yield b"\n}\n"


def _list_parts(name: str, entries: list[Any]) -> Iterator[bytes]:
    """The bytes of `_member`, some entries at a time."""
    head, end = _member(name, [])[: -len(b"]")], b"\n  ]"
    before = head
    for begin in range(0, len(entries), _PIECE):
        yield before + _member(name, entries[begin : begin + _PIECE])[len(head) : -len(end)]
        before = b","
    yield end


def _member(name: str, value: object) -> bytes:
    """A name and its value, as they stand in a report."""
    return orjson.dumps({name: value}, option=orjson.OPT_INDENT_2)[len(b"{\n") : -len(b"\n}")]


def error_report(suite: str, error: GoldgateError) -> ErrorReport:
    """The report of an evaluation that could not be carried out: no metric values."""
    return {
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "status": "SYSTEM_ERROR",
        "error": cast("ErrorValue", error.as_json()),
    }


HitsAndTrials = tuple[int, int]  # hits, trials


class ContradictionError(Exception):
    """A value of a report that its own parts contradict: the field, the value by its parts, the value found."""

    def __init__(self, field: str, expected: str, found: str) -> None:
        super().__init__(field, expected, found)
        self.field, self.expected, self.found = field, expected, found


class StoredRates(NamedTuple):
    """The rates that a baseline takes from one stored report.

    `judged` and `units` identify the work that was judged, so that the same work is not summed twice.
    """

    rates: Mapping[str, HitsAndTrials]  # worked out again where the report holds what they are made of
    sizes: Mapping[str, int] = {}  # how much stands behind them, the units first
    subjects: Mapping[str, frozenset[str]] = {}  # counted once over all reports
    judged: object = None  # digests of what was judged; None where they are not known
    units: tuple[str | None, ...] = ()  # fingerprints of single units, where the report has them


def default_stored_rates(report: SuiteReport) -> StoredRates:
    """The rates under metrics.main. What was judged are the predictions, and as many samples as the gold has."""
    inputs = cast("PlainReport", report)["inputs"]
    samples = sum(whole_number(file["samples"]) for file in cast("list[FileDigest]", inputs["gold"]))
    return StoredRates(stated_rates(report), {"samples": samples}, judged=inputs["predictions"] or None)


def stated_rates(report: SuiteReport) -> dict[str, HitsAndTrials]:
    """The rates under metrics.main that are shares, by name."""
    return {
        name: share_counts(metric, f"metrics.main.{name}")
        for name, metric in metric_sections(report["metrics"])["main"].items()
        if "denominator" in metric
    }


def share_counts(metric: RateValue, where: str) -> HitsAndTrials:
    """Numerator and denominator of a share."""
    numerator, denominator = whole_number(metric["numerator"]), whole_number(metric["denominator"])
    if numerator > denominator:
        raise ContradictionError(f"{where}.numerator", f"at most {denominator}", str(numerator))
    return numerator, denominator


def require_equal_rates(counted: Mapping[str, HitsAndTrials], stated: Mapping[str, HitsAndTrials]) -> None:
    """Raise a ContradictionError where main rates are not what was counted of them."""
    for name in sorted(counted.keys() | stated.keys()):  # the same one first, whatever the order of a set
        if counted.get(name) != stated.get(name):
            raise ContradictionError(f"metrics.main.{name}", _fraction(counted.get(name)), _fraction(stated.get(name)))


def whole_number(value: object) -> int:
    """A number of things; ValueError for anything else."""
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _fraction(rate: HitsAndTrials | None) -> str:
    return "nothing" if rate is None else f"{rate[0]}/{rate[1]}"
