"""Stored results: the folder that `--out` wrote, or a report alone, opened and checked.

The error for a path without a result says what is there instead, and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.finding import Problem
from goldgate.core.gate import BOUND_NAMES, GateResult, Verdict, overall_verdict, parse_bound, stored_gate
from goldgate.core.metric import Count, metric_sections, metrics_by_name
from goldgate.core.suite import ANSWERS, Suite, parse_signature
from goldgate.errors import ConfigError, GoldgateError, InputError, Place, describe_value, did_you_mean
from goldgate.files.address import is_url, public_url
from goldgate.files.parsing import parse_json
from goldgate.files.reading import decode_text, read_bytes
from goldgate.shape.validation import problems

if TYPE_CHECKING:
    from goldgate.core.contracts import GateValue, MetricValue, SuiteReport

REPORT, BASELINE = "report.json", "baseline.json"
EXPECTED_RESULT = f"a folder that --out wrote, with {REPORT}"
_CHECK = "check the path"
_SCORE = "run a suite's command with --out first: it writes such a folder"
_MAX_LISTED_RESULTS = 3  # results of a folder that an error names
_ROUNDING = Fraction(1, 10**9)  # by which a stored float may miss the exact value


def require_local(path: str | Path) -> None:
    """Refuse a URL: stored results are read again and again, in places."""
    if is_url(path):
        raise ConfigError(
            "report.elsewhere",
            "stored results are read from a disk, not from a URL",
            place=Place(public_url(str(path))),
            advice="copy the folder to this machine, for example with aws s3 cp --recursive, and name it",
        )


def missing_result(path: str | Path, name: str) -> InputError | None:
    """The error for a path that is neither a file nor a folder with a report; None if it may be one."""
    location = str(path)
    is_folder = os.path.isdir(location)
    if os.path.lexists(os.path.join(location, REPORT) if is_folder else location):
        return None
    actual, advice = describe_path(location)
    return InputError(
        "report.missing",
        f"there is no {REPORT} in this folder" if is_folder else "there is no such folder or file",
        place=Place(name),
        expected=EXPECTED_RESULT,
        found=actual,
        advice=advice,
    )


class PathContent(NamedTuple):
    """What is there in place of a folder that was meant, and what to do."""

    found: str
    advice: str


def describe_path(path: str) -> PathContent:
    """In place of a folder with results: what there is, and what to do."""
    folder, name = os.path.split(os.path.normpath(path))
    try:
        if not _is_folder(path):
            near = sorted(entry.name for entry in os.scandir(folder or ".") if entry.is_dir())
            return PathContent("nothing", did_you_mean(name, near) or _CHECK)
        inside = sorted(entry.name for entry in os.scandir(path))
    except (FileNotFoundError, ValueError):
        return PathContent("nothing", _CHECK)
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        return PathContent(f"nothing that can be read: {why}", "check the name, and whether you may read it")
    if BASELINE in inside:
        return PathContent("a baseline", "only a gate compares with a baseline; name the folder that it was made from")
    results = [name for name in inside if os.path.isfile(os.path.join(path, name, REPORT))]
    if results:
        more = f" and {len(results) - _MAX_LISTED_RESULTS} more" if len(results) > _MAX_LISTED_RESULTS else ""
        names = ", ".join(results[:_MAX_LISTED_RESULTS])
        return PathContent(f"a folder that holds {names}{more}", f"name those: {path.rstrip('/')}/*")
    return PathContent("a folder without it" if inside else "an empty folder", _SCORE)


def _is_folder(path: str) -> bool:
    """Whether it is one. What keeps us from seeing it, such as a right that is missing, is an OSError."""
    try:
        return S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


MAX_REPORT_BYTES = 1 << 28  # of a report: a larger file is something else
_MISSING_PREFIX = "missing_"  # how the codes of findings begin that say that an answer is not there


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A report as it was found. `records` has a record for each unit; it need not be there."""

    label: str  # the folder or the file as the user named it
    file: Path
    data: bytes
    report: SuiteReport
    suite: Suite
    is_folder: bool  # whether more than the report was named

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def name(self) -> str:
        """The name of the report in errors."""
        return str(Path(self.label) / REPORT) if self.is_folder else self.label

    @property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()

    @property
    def records(self) -> Path:
        return self.folder / self.suite.records

    @property
    def records_name(self) -> str:
        """The name of the records in errors."""
        return str((Path(self.label) if self.is_folder else Path(self.label).parent) / self.suite.records)

    @property
    def metrics(self) -> dict[str, MetricValue]:
        """Every metric of the report by its name."""
        return metrics_by_name(self.report["metrics"])

    @property
    def asked(self) -> str | None:
        """What the system was asked and how, in one line, where goldgate asked it."""
        generation = self.report.get("generation")
        return None if generation is None else generation.get("signature")

    @property
    def signature(self) -> str:
        """The settings of the scoring in one line, without those of generation."""
        whole = self.report["signature"]
        return whole if self.asked is None else whole.removesuffix(f"|{self.asked}")

    @property
    def settings(self) -> dict[str, str]:
        """The parts of the signature by name."""
        return parse_signature(self.signature)

    @property
    def measured_by(self) -> Any:
        """Settings of the suite with the measures that this result has."""
        return self.suite.recorded_settings(self.settings)

    def digests(self, *, judged: bool) -> dict[str, list[str]]:
        """Digests of inputs: of what the system made (`judged`), or of what every system was asked."""
        return input_digests(self.suite, self.report["inputs"], judged=judged)

    def missing(self) -> list[str]:
        """Ids without an answer, as far as the report names them."""
        missing = [each for each in self.report["findings"] if each["code"].startswith(_MISSING_PREFIX)]
        return sorted({each.get("id") or each["pointer"] for each in missing} - {""})

    def require_records(self) -> None:
        """An InputError where the records are not there."""
        if not self.records.is_file():
            raise InputError(
                "records.missing",
                "the records of the single units are not there",
                place=Place(self.records_name),
                expected=f"{self.suite.records}, which --out writes beside {REPORT}",
                advice="score it again with --out, and keep all files of the folder",
            )

    def require_consistent(self) -> None:
        """An InputError where values, verdicts and status do not follow from each other: some of it was changed."""
        for wrong in contradictions(self.report, overrules=self.suite.overrules):
            raise InputError(
                "report.contradicts_itself",
                "this report contradicts itself: goldgate did not write it so",
                place=Place(self.name, None, wrong.pointer),
                expected=wrong.expected,
                found=wrong.found,
                advice="score it again with --out",
            )

    def require_sums(self, metric: str, a: int, b: int) -> None:
        """An InputError where the report says something else of a rate than its records, which give a/b.

        A rate that it leaves undefined says nothing: some settings do, whatever was counted. A main one must be there.
        """
        stated = self.metrics.get(metric)
        reported = (stated["numerator"], stated["denominator"]) if stated and "denominator" in stated else (None, None)
        is_stated = metric in self.suite.headline if stated is None else stated["value"] is not None
        if is_stated and reported != (a, b):
            raise self._other_run(f"{metric} {reported[0]}/{reported[1]}", f"{a}/{b}")

    def require_value(self, metric: str, value: float | None) -> None:
        """An InputError where the report has another value of an estimate than its records give."""
        stated = self.metrics.get(metric)
        if stated is not None and stated["value"] is not None and stated["value"] != value:
            raise self._other_run(f"{metric} {stated['value']}", str(value))

    def _other_run(self, expected: str, found: str) -> InputError:
        return InputError(
            "records.other_run",
            "the records do not give the numbers of the report beside them",
            place=Place(self.records_name),
            expected=f"{expected}, as in {REPORT}",
            found=found,
            advice="score it again with --out, and keep all files of the folder",
        )


def load_result(path: str | Path, suites: Iterable[Suite], display_name: str | None = None) -> StoredResult:
    """The result in a folder, or the report in a file; an InputError if it has no numbers of one of these suites."""
    require_local(path)
    location, label = Path(path), str(path) if display_name is None else display_name
    missing = missing_result(location, label)
    if missing is not None:
        raise missing
    is_folder = location.is_dir()
    file, name = (location / REPORT, str(Path(label) / REPORT)) if is_folder else (location, label)
    data = read_bytes(file, "report", name, MAX_REPORT_BYTES)
    report = parse_report(data, name)
    suites_by_name = {suite.name: suite for suite in suites}
    suite = report.get("suite") if isinstance(report, dict) else None
    if type(suite) is not str or suite not in suites_by_name or report.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            "not a report that goldgate wrote",
            place=Place(name),
            expected=f"a JSON report with suite {' or '.join(suites_by_name)} and format_version {FORMAT_VERSION}",
            found=_describe_other(report),
        )
    if report.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(name)
        )
    return StoredResult(label, file, data, _require_complete(report, name), suites_by_name[suite], is_folder)


def parse_report(data: bytes, name: str) -> Any:
    """The JSON in a file that should be a report; an InputError that says what to name if it is none."""
    try:
        return parse_json(decode_text(data, name, "report"), name, "report")
    except GoldgateError as error:
        raise InputError(
            error.code,
            error.message,
            place=error.place,
            expected=EXPECTED_RESULT,
            found=error.found,
            advice=error.advice or f"name the folder, or the {REPORT} in it",
        ) from None


def input_digests(suite: Suite, inputs: Mapping[str, object], *, judged: bool) -> dict[str, list[str]]:
    """Digests of a report's inputs: of what the system made (`judged`), or of what every system was asked."""
    chosen = [each.name for each in suite.inputs if each.judged == judged and each.required]
    return {name: sorted(digests_of(inputs.get(name))) for name in chosen}


def answer_digests(suite: Suite, inputs: Mapping[str, object]) -> dict[str, list[str]]:
    """The digest of all answers, whatever their order; where there is none, those of the files that have them."""
    answers = digests_of(inputs.get(ANSWERS))
    return {ANSWERS: [*answers]} if answers else input_digests(suite, inputs, judged=True)


def digests_of(entry: object) -> tuple[str, ...]:
    """The digests of an input of a report: one as it stands, in an object, or in a list of those."""
    if isinstance(entry, str):
        return (entry,)
    if isinstance(entry, list):
        return tuple(digest for each in entry for digest in digests_of(each))
    return digests_of(entry.get("sha256")) if isinstance(entry, dict) else ()


def _describe_other(report: Any) -> str:
    """What is there in place of a report."""
    if not isinstance(report, dict):
        return describe_value(report)
    kind = report.get("kind")
    return f"a {kind}" if type(kind) is str else f"suite {describe_value(report.get('suite'))}"


def _require_complete(report: Any, name: str) -> SuiteReport:
    """The report, whose parts all have their types; whether they are true is another question."""
    from goldgate.core.contracts import MetricValue, SuiteReport  # scoring needs none of them, and they take 3 ms

    require_type(report, SuiteReport, "report", name)
    require_type(metric_sections(report["metrics"]), dict[str, dict[str, MetricValue]], "report", name, "/metrics")
    for wrong in _unreadable_bounds(report["gates"]):
        raise _malformed(wrong, "report", name)
    return cast(SuiteReport, report)


def require_type(value: object, kind: Any, what: str, name: str, pointer: str = "") -> None:
    """An InputError that names the first place where a stored value, such as a report, does not have its type."""
    for wrong in problems(kind, value, pointer, most=1):
        raise _malformed(wrong, what, name)


def _malformed(wrong: Problem, what: str, name: str) -> InputError:
    return InputError(
        f"{what}.malformed",
        f"this {what} is not complete",
        place=Place(name, None, wrong.pointer),
        expected=wrong.expected,
        found=wrong.found,
    )


def _unreadable_bounds(gates: Sequence[GateValue]) -> Iterator[Problem]:
    for number, gate in enumerate(gates):
        for side in BOUND_NAMES:
            try:
                parse_bound(gate.get(side, 0))
            except ValueError:
                yield Problem(f"/gates/{number}/{side}", "a number as text", describe_value(gate.get(side)))


def exact_value(metric: MetricValue) -> Fraction | None:
    """The value of a metric of a report, from its counts where it has some; None where it is undefined."""
    if "denominator" in metric:
        return Fraction(metric["numerator"], metric["denominator"]) if metric["denominator"] else None
    return None if metric["value"] is None else Fraction(metric["value"])


def contradictions(report: SuiteReport, *, overrules: bool) -> Iterator[Problem]:
    """Values, verdicts and a status that do not follow from each other."""
    for section, metrics in metric_sections(report["metrics"]).items():
        for name, metric in metrics.items():
            yield from _wrong_value(metric, f"/metrics/{section}/{name}")
    measured = metrics_by_name(report["metrics"])
    for number, gate in enumerate(report["gates"]):
        pointer, metric = f"/gates/{number}", measured.get(gate["metric"], gate["measured"])
        metric = cast("MetricValue", metric.get("gate_rate", metric))  # what a gate on it judges
        yield from _wrong_value(gate["measured"], f"{pointer}/measured")
        is_overruled = overrules and gate["verdict"] == "FAIL"  # then it shows the value that decides
        if not is_overruled and exact_value(metric) != exact_value(gate["measured"]):
            value = describe_value(gate["measured"]["value"])
            yield Problem(f"{pointer}/measured", f"the value {metric['value']} of {gate['metric']} in metrics", value)
        allowed = _allowed_verdicts(gate)
        if gate["verdict"] not in allowed:
            expected = f"{' or '.join(allowed)}, as the bounds and the measured value give"
            yield Problem(f"{pointer}/verdict", expected, gate["verdict"])
    verdicts = [
        GateResult(gate["metric"], stored_gate(gate), Count(None), Verdict(gate["verdict"]), gate["reason"])
        for gate in report["gates"]
    ]
    status = overall_verdict(verdicts)
    if report["status"] != status:
        yield Problem("/status", f"{status}, as the verdicts and severities of its gates give", report["status"])


def _wrong_value(metric: MetricValue, pointer: str) -> Iterator[Problem]:
    """A rate whose value is not the quotient of its counts."""
    if "denominator" not in metric:
        return
    numerator, denominator = metric["numerator"], metric["denominator"]
    try:
        value = numerator / denominator if denominator else None
    except OverflowError:
        value = None
    if metric["value"] != value:
        yield Problem(f"{pointer}/value", f"{numerator}/{denominator} = {value}", describe_value(metric["value"]))


def _allowed_verdicts(entry: GateValue) -> tuple[str, ...]:
    """The verdicts that a gate can have with this value. A suite may fail a gate whose bounds are met, for reasons of
    its own, and never pass one whose bounds are missed."""
    value, open_verdict = exact_value(entry["measured"]), ("INCONCLUSIVE",) if "confidence" in entry else ()
    difference = entry.get("difference")
    if value is None or (difference is not None and difference["value"] is None):
        return ("FAIL",) if entry["on_not_evaluable"] == "fail" else ("PASS", *open_verdict, "FAIL")
    gate = stored_gate(entry)
    # The exact value of a macro average is not stored, nor that of a difference.
    slack = _ROUNDING if "averaged" in entry["measured"] else 0
    is_met = _is_within(value, gate.least, gate.most, slack)
    if difference is not None and difference["value"] is not None:
        drop = None if gate.max_drop is None else -gate.max_drop
        is_met = is_met and _is_within(Fraction(difference["value"]), drop, gate.max_rise, _ROUNDING)
    return ("PASS", *open_verdict, "FAIL") if is_met else (*open_verdict, "FAIL")


def _is_within(value: Fraction, least: Decimal | None, most: Decimal | None, slack: Fraction | int) -> bool:
    return (least is None or value >= Fraction(least) - slack) and (most is None or value <= Fraction(most) + slack)
