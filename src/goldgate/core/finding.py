"""Findings, problems and remarks: what is wrong in stored data and where, and which numbers may mislead.

- A `Finding` is about one place in stored data that was scored anyway: a code, a severity (`error`, `warning`, `hint`),
  the file and line, the record's id, a message. It is listed under `findings` in the report.
- A `Problem` is one way in which a value breaks its schema: a pointer, what was expected there, and what was found. It
  has no code and no file: whoever checks the value makes an error or a finding of it.
- A remark (`RemarkValue`) is about the whole result: a sign that a number is not what it seems, with a stable code, a
  message and the counts behind it. It is listed under `stands_out` in the report, and changes no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from goldgate.core.gate import Gate, GateResult, parse_metric_name
from goldgate.core.measure import BLANKS_ONLY
from goldgate.core.metric import LESS_IS_BETTER, MORE_IS_BETTER, Limit, Rate, Ratio, format_number, metric_sections
from goldgate.core.tally import Example

if TYPE_CHECKING:
    from goldgate.core.contracts import FileDigest, FindingValue, MetricValue, RemarkValue, SuiteReport

Severity = Literal["error", "warning", "hint"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
MAX_PER_CODE = 20  # findings of one code in one run; one more says how many are left out


class Finding(NamedTuple):
    """Something wrong at one place in stored data. Files are named relative to the outputs."""

    code: str
    severity: Severity
    file: str
    line: int | None
    pointer: str
    message: str
    id: str | None = None  # id of the record, if files are joined by id

    def as_json(self) -> FindingValue:
        entry = {**self._asdict(), "message": limit_length(self.message)}
        if self.id is None:
            del entry["id"]
        else:
            entry["id"] = limit_length(self.id)
        return cast("FindingValue", entry)


def finding_entries(findings: list[Finding]) -> list[FindingValue]:
    """The findings for a report. Each is taken out of the list as its entry is made: there may be very many."""
    entries = []
    findings.reverse()
    while findings:
        entries.append(findings.pop().as_json())
    return entries


_MORE_OF_A_KIND = re.compile(r"and (?:at least )?(\d+) more findings of this kind")


def first_causes(findings: Iterable[Finding], most: int = 3) -> tuple[list[Finding], int]:
    """The first findings, and how many more there are; what was only counted counts as often."""
    first: list[Finding] = []
    more = 0
    for finding in findings:
        uncounted = _MORE_OF_A_KIND.fullmatch(finding.message)
        if uncounted is None and len(first) < most:
            first.append(finding)
        else:
            more += int(uncounted[1]) if uncounted else 1
    return first, more


def limit_length(text: str, longest: int = 500) -> str:
    """The text, or its beginning: what comes from a run can be of any length."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


class RunFindings:
    """The findings of one run: MAX_PER_CODE of a code, then only their number."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._findings: list[Finding] = []
        self._counts: dict[tuple[str, Severity], int] = {}
        self._at_least: set[tuple[str, Severity]] = set()

    def is_full(self, code: str, severity: Severity) -> bool:
        """Whether MAX_PER_CODE findings of this code are listed; more are only counted."""
        return self._counts.get((code, severity), 0) >= MAX_PER_CODE

    def count(self, code: str, severity: Severity, number: int = 1, *, at_least: bool = False) -> None:
        """Count findings beyond MAX_PER_CODE, which are not listed; `at_least` if there may be more of them."""
        self._counts[code, severity] = self._counts.get((code, severity), 0) + number
        if at_least:
            self._at_least.add((code, severity))

    def add(
        self, code: str, severity: Severity, file: str, message: str, pointer: str = "", line: int | None = None
    ) -> None:
        self._counts[code, severity] = count = self._counts.get((code, severity), 0) + 1
        if count <= MAX_PER_CODE:
            name = f"{self.folder}/{file}" if file else self.folder
            self._findings.append(Finding(code, severity, name, line, pointer, limit_length(message)))

    def to_list(self) -> list[Finding]:
        """All findings, in the order in which they were added."""
        if not self._findings:
            return []
        more = []
        for (code, severity), count in self._counts.items():
            if count > MAX_PER_CODE:
                number = f"{'at least ' if (code, severity) in self._at_least else ''}{count - MAX_PER_CODE}"
                message = f"and {number} more findings of this kind"
                more.append(Finding(code, severity, self.folder, None, "", message))
        return [*self._findings, *more]

    @property
    def errors(self) -> int:
        return sum(count for (_, severity), count in self._counts.items() if severity == "error")

    @property
    def total(self) -> int:
        return sum(self._counts.values())


class LimitedFindings:
    """The findings of all units, a limited number of each code: the same ones in any order of units.

    How many there are in all is for a measure to count.
    """

    def __init__(self) -> None:
        self._by_code: dict[str, list[Finding]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            kept = self._by_code.setdefault(finding.code, [])
            kept.append(finding)
            if len(kept) == 2 * MAX_PER_CODE:
                kept[:] = _first(kept)

    def to_list(self) -> list[Finding]:
        """All findings, sorted by code, then by id and place."""
        return [finding for _, kept in sorted(self._by_code.items()) for finding in _first(kept)]


def _first(findings: list[Finding]) -> list[Finding]:
    def order(finding: Finding) -> tuple[str, str, int, str, str]:
        return finding.id or "", finding.file, finding.line or 0, finding.pointer, finding.message

    return sorted(findings, key=order)[:MAX_PER_CODE]


class Problem(NamedTuple):
    """One way in which a value breaks its schema: where, what was expected there, and what was found."""

    pointer: str  # RFC 6901; empty for the whole value
    expected: str
    found: str

    @property
    def message(self) -> str:
        return f"expected {self.expected}, found {self.found}"


def child_pointer(pointer: str, key: str | int) -> str:
    """The JSON pointer of the member of an object, or the item of a list, at `pointer`."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"


def record_id(record: Mapping[str, Any]) -> str | None:
    """The record's id as text, an integer as its digits; None if it has none."""
    value = record.get("id")
    if type(value) is str:
        return value or None
    return str(value) if type(value) is int else None


def remark(code: str, message: str, **counts: int) -> RemarkValue:
    """A remark of a report, with the counts behind it."""
    return {"code": code, "message": message, "counts": counts}


def common_remarks(report: SuiteReport, headline: Iterable[str]) -> list[RemarkValue]:
    """Gates that are missing, open or without a value; headline metrics undefined, or 0 where more is better."""
    return [
        *_no_gates(report, headline),
        *_open_gates(report),
        *_unmeasured_gates(report),
        *_undefined(report, headline),
        *_zero(report, headline),
    ]


_READING_REMARKS = ("other_form", "unread_form", "other_spelling")  # any of which can be why a score is 0


def explain_zero(remarks: list[RemarkValue]) -> list[RemarkValue]:
    """The remarks, with the one on a form or spelling that is not read as the reason of a score of 0."""
    zero = next((each for each in remarks if each["code"] == "zero"), None)
    cure = next((each for each in remarks if each["code"] in _READING_REMARKS), None)
    if zero is None or cure is None:
        return remarks
    explained = remark("zero", f"{zero['message']}: {cure['message']}", **zero["counts"], **cure["counts"])
    return [explained if each is zero else each for each in remarks if each is not cure]


def gates_that_cannot_fail_remarks(results: Iterable[GateResult]) -> Iterator[RemarkValue]:
    """Gates whose bounds hold for every value: at least 0, or at most 1 for a rate."""
    names = [f"{result.metric} {result.gate.bounds()}" for result in results if _holds_always(result)]
    yield from _names_remark("gate_cannot_fail", names, "holds", "hold", " for every value: such a gate cannot fail")


def _holds_always(result: GateResult) -> bool:
    gate, measured = result.gate, result.measured
    is_share = isinstance(measured, Rate) and not isinstance(measured, Ratio)
    return (
        gate.equals is None
        and gate.against is None
        and (gate.min is None or gate.min <= 0)
        and (gate.max is None or (is_share and gate.max >= 1))
    )


def wrong_direction_remarks(gates: Mapping[str, Gate]) -> Iterator[RemarkValue]:
    """Gates that only limit how good a metric may be: `strict_f1: {max: 0.8}`."""
    wrong = []
    for name, gate in gates.items():
        metric = parse_metric_name(name).metric.removesuffix("_roles").removesuffix("_macro")
        pairs = [("max", "min"), ("max_rise", "max_drop")]
        if metric.endswith(LESS_IS_BETTER):
            pairs = [(other, bound) for bound, other in pairs]
        elif not metric.endswith(MORE_IS_BETTER):
            continue
        for bound, meant in pairs:
            number = getattr(gate, bound)
            if number is not None and getattr(gate, meant) is None and gate.equals is None:
                wrong.append(f"{name}: {bound}: {number} limits how good it may be; did you mean {meant}: {number}?")
    if wrong:
        yield remark("wrong_direction", "; ".join(wrong), gates=len(wrong))


def lowered_gates_remarks(gates: Mapping[str, Gate], defaults: Mapping[str, Gate]) -> Iterator[RemarkValue]:
    """Default gates that the protocol lowered, with a baseline record that speaks for it."""
    lowered = [
        f"{name} {gates[name].bounds()}{', only a warning' if gates[name].severity == 'warn' else ''}"
        f" (default {default.bounds()})"
        for name, default in defaults.items()
        if gates[name].is_weaker_than(default)
    ]
    if lowered:
        yield remark("lowered_gates", f"gates weaker than their defaults: {', '.join(lowered)}", gates=len(lowered))


def same_files_remarks(gold: Sequence[FileDigest], predictions: Sequence[FileDigest]) -> Iterator[RemarkValue]:
    """Predictions that are the gold itself. Two empty files are the same by chance."""
    digests = ({file["sha256"] for file in files if file["samples"]} for files in (gold, predictions))
    if same := len(set.intersection(*digests)):
        message = "the predictions are the gold, byte for byte: the scores say nothing about a model"
        yield remark("gold_as_predictions", message, files=same)


def missing_answers_remarks(missing: int, samples: int) -> Iterator[RemarkValue]:
    """Gold records without a prediction, and what share they are."""
    if missing:
        verb, whose = ("is", "its") if missing == 1 else ("are", "their")
        share = f"{missing} of {samples} answers {verb} missing ({share_percent(missing, samples)})"
        message = f"{share}: everything in {whose} gold counts as missed"
        yield remark("missing_answers", message, missing=missing, samples=samples)


def unread_answers_remarks(report: SuiteReport, reader: str) -> Iterator[RemarkValue]:
    """Gold records without a prediction, and answers that could not be read: `reader` is the command that shows why."""
    main = metric_sections(report["metrics"])["main"]
    names = ("total_samples", "missing_predictions", "parse_errors")
    total, missing, unread = (cast(int, main[name]["value"]) for name in names)
    yield from missing_answers_remarks(missing, total)
    if unreadable := unread - missing:
        share = f"{unreadable} of {total} answers could not be read ({share_percent(unreadable, total)})"
        message = f"{share}: run {reader} to see why"
        yield remark("unreadable_answers", message, unreadable=unreadable, samples=total)


def blanks_remarks(hits: int, examples: Iterable[Example], setting: str) -> Iterator[RemarkValue]:
    """Hits that are hits only because blanks are removed, with the setting that does not count them."""
    if hits:
        pairs = ([limit_length(text, _LONGEST_EXAMPLE) for text in example] for example in examples)
        pairs_text = ", ".join(f"“{predicted}” for “{gold}”" for predicted, gold in pairs)
        message = f"{'1 hit rests' if hits == 1 else f'{hits} hits rest'} on removed blanks, such as {pairs_text}; "
        yield remark(BLANKS_ONLY, f"{message}to count them as wrong, write in the protocol: {setting}", hits=hits)


_LONGEST_EXAMPLE = 60  # characters


def share_percent(part: int, whole: int) -> str:
    """`12.5 %`; 0 and 100 only where it is all or nothing."""
    return f"{format_number(Fraction(100 * part, whole), 1, (Limit('=', Fraction(100)),))} %"


def _no_gates(report: SuiteReport, headline: Iterable[str]) -> Iterator[RemarkValue]:
    gates = report["gates"]
    if not gates:
        metric = next(iter(headline), "METRIC")
        example = f"gates: {{{metric}: {{min: 0.8}}}}"
        message = (
            f"no gates set: for a verdict, put {example} in a file and add --protocol FILE"
            if report["inputs"].get("protocol") is None
            else f"the protocol file sets no gates: for a verdict, add {example} to it"
        )
        yield remark("no_gates", message)
    elif all(gate["severity"] == "warn" for gate in gates):
        yield remark("only_warnings", "every gate only warns: none can fail", gates=len(gates))


def _open_gates(report: SuiteReport) -> Iterator[RemarkValue]:
    """Gates that were not decided and that the protocol lets pass."""
    undecided = [gate for gate in report["gates"] if gate["verdict"] == "INCONCLUSIVE" and gate["severity"] == "error"]
    names = [gate["metric"] for gate in undecided if gate["on_inconclusive"] in ("warn", "pass")]
    one, many = "is undecided and passes", "are undecided and pass"
    yield from _names_remark("open_gates", names, one, many, " only because of on_inconclusive")


def _unmeasured_gates(report: SuiteReport) -> Iterator[RemarkValue]:
    """Gates that pass although there was nothing to measure."""
    names = [g["metric"] for g in report["gates"] if g["verdict"] == "PASS" and g["measured"]["value"] is None]
    one, many = "has no value and passes", "have no value and pass"
    yield from _names_remark("unmeasured_gates", names, one, many, " only because of on_not_evaluable")


def _undefined(report: SuiteReport, headline: Iterable[str]) -> Iterator[RemarkValue]:
    """Metrics with one reason are one remark."""
    reasons: dict[str, list[str]] = {}
    for name, metric in _headline_metrics(report, headline).items():
        if metric["value"] is None:
            reasons.setdefault(metric["reason"], []).append(name)
    for reason, names in reasons.items():
        yield from _names_remark("undefined", names, "is", "are", f" undefined: {reason}", "metrics")


def _zero(report: SuiteReport, headline: Iterable[str]) -> Iterator[RemarkValue]:
    names = [name for name, metric in _headline_metrics(report, headline).items() if metric["value"] == 0]
    yield from _names_remark("zero", names, "is", "are", " 0", "metrics")


def _headline_metrics(report: SuiteReport, headline: Iterable[str]) -> dict[str, MetricValue]:
    main = metric_sections(report["metrics"])["main"]
    return {name: main[name] for name in headline}


def _names_remark(
    code: str, names: list[str], one: str, many: str, rest: str, things: str = "gates"
) -> Iterator[RemarkValue]:
    """What holds for some gates or metrics, with the verb for one of them or for many: `a, b and c are 0`."""
    if names:
        subject = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        yield remark(code, f"{subject} {one if len(names) == 1 else many}{rest}", **{things: len(names)})
