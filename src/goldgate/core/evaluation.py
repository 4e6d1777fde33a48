"""The outcome of an evaluation: the report, and the values behind it for whoever calls from Python."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from goldgate.core.gate import GateResult, Verdict
from goldgate.core.metric import Metrics, NamedMetrics, UnknownMetricError
from goldgate.core.page import Interval
from goldgate.core.passes import Bound, Check, check_bounds
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError

FORMAT_VERSION = 1  # of report.json
_PIECE = 1_000  # entries of a list that are written at a time
SHOWN_METRICS = 4  # in the short form of an evaluation


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation:
    """Metrics by name, the gates' verdicts, and the whole report as plain values.

    `samples` are the records of samples.jsonl, where they were asked for; None where they were not.
    """

    report: dict[str, Any]
    metrics: Metrics = field(default_factory=dict)
    gates: list[GateResult] = field(default_factory=list)
    samples: list[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", NamedMetrics(self.metrics))

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

    def passes(self, **bounds: Bound) -> Check:
        """Whether bounds hold, for an assertion: `evaluation.passes(strict_f1=0.45, parse_errors={"max": 0})`.

        A number alone is the least that is good enough. The comparison is exact, and an undefined metric does not pass.
        """
        known = {name: self.interval(name) for name in bounds}
        intervals = {name: Interval(*found) for name, found in known.items() if found is not None}
        return check_bounds(self.metrics, bounds, intervals)

    def interval(self, metric: str) -> tuple[float, float] | None:
        """The ends of a metric's 95 % interval; None where it has none (the report's `interval_reason` says why)."""
        found = self._stored(metric).get("interval")
        return None if found is None else (found["low"], found["high"])

    def _stored(self, metric: str) -> dict[str, Any]:
        """A metric as it stands in the report."""
        sections = (section for section in self.report["metrics"].values() if isinstance(section, dict))
        found: dict[str, Any] | None = next((section[metric] for section in sections if metric in section), None)
        if found is None:
            raise UnknownMetricError(metric, self.metrics)
        return found

    def __repr__(self) -> str:
        """One line: the verdict, and the metrics that it rests on (the first few where no gate names any)."""
        measured = [(gate.metric, gate.measured) for gate in self.gates] or list(self.metrics.items())
        shown = [f"{name} {metric}" for name, metric in measured[:SHOWN_METRICS]]
        more = ["…"] if len(measured) > SHOWN_METRICS else []
        return f"<Evaluation: {self.report.get('suite')} {self.status}; {', '.join([*shown, *more])}>"

    def to_dataframe(self) -> Any:
        """A row for each metric, with the ends of its interval and its counts; pandas has to be installed."""
        columns = ("value", "low", "high", "numerator", "denominator", "reason")
        rows = []
        for name in self.metrics:
            stored = self._stored(name)
            ends = stored.get("interval") or {}
            rows.append((name, *({**stored, **ends}.get(column) for column in columns)))
        return _pandas().DataFrame(rows, columns=["metric", *columns]).set_index("metric")

    def samples_to_dataframe(self) -> Any:
        """A row for each sample, with a column for each part of its record; pandas has to be installed."""
        if self.samples is None:
            raise ValueError("the samples were not kept: evaluate with records=True, which evaluate_files takes too")
        frame = _pandas().DataFrame(self.samples)
        return frame.set_index("id") if "id" in frame else frame


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("a data frame needs pandas: pip install pandas") from None
    return pandas


def render_json(report: dict[str, Any]) -> bytes:
    """A report as it is stored."""
    try:
        return orjson.dumps(report, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a count above 64 bits: step numbers of stored runs add up to anything
        return (json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode()


def json_parts(report: dict[str, Any]) -> Iterator[bytes]:
    """The same bytes, part by part: as a whole they would take as much memory again as a report of very many runs."""
    try:
        for _ in _parts(report):  # to see that all of it can be written so, before anything is
            pass
    except TypeError:
        yield render_json(report)
        return
    yield from _parts(report)


def _parts(report: dict[str, Any]) -> Iterator[bytes]:
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
    """The same as `_member`, so many entries at a time."""
    head, end = _member(name, [])[: -len(b"]")], b"\n  ]"
    before = head
    for begin in range(0, len(entries), _PIECE):
        yield before + _member(name, entries[begin : begin + _PIECE])[len(head) : -len(end)]
        before = b","
    yield end


def _member(name: str, value: object) -> bytes:
    """A name and its value, as they stand in a report."""
    return orjson.dumps({name: value}, option=orjson.OPT_INDENT_2)[len(b"{\n") : -len(b"\n}")]


def error_report(suite: str, error: GoldgateError) -> dict[str, Any]:
    """The report of an evaluation that could not be carried out: no metric values."""
    return {
        "format_version": FORMAT_VERSION,
        "suite": suite,
        "status": Verdict.SYSTEM_ERROR,
        "error": error.as_json(),
    }
