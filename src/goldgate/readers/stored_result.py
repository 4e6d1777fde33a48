"""Stored results: the folder that `--out` wrote, or a report alone, opened and checked.

The error for a path without a result says what is there instead, and what to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from stat import S_ISDIR
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Verdict
from goldgate.core.plan import parse_signature
from goldgate.core.suite import Report, Suite
from goldgate.errors import ConfigError, GoldgateError, InputError, Place, describe_value, did_you_mean
from goldgate.files.address import is_url, public_url
from goldgate.files.parsing import parse_json
from goldgate.files.reading import decode_text, read_bytes

REPORT, BASELINE = "report.json", "baseline.json"
EXPECTED_RESULT = f"a folder that --out wrote, with {REPORT}"
_CHECK = "check the name, and the folder that it is named from"
_SCORE = "judge something with --out first: it writes such a folder"
_MAX_LISTED_RESULTS = 3  # of the results in a folder


def require_local(path: str | Path) -> None:
    """Refuse a URL: stored results are read again and again, in places."""
    if is_url(path):
        raise ConfigError(
            "report.elsewhere",
            "stored results are read from a disk, not from a URL",
            place=Place(public_url(str(path))),
            advice="copy the folder to this machine, for example with aws s3 cp --recursive, and name it",
        )


def missing_result(path: str | Path, named: str) -> InputError | None:
    """The error for a path that is neither a file nor a folder with a report; None if it may be one."""
    given = str(path)
    is_folder = os.path.isdir(given)
    if os.path.lexists(os.path.join(given, REPORT) if is_folder else given):
        return None
    found, advice = describe_path(given)
    return InputError(
        "report.missing",
        f"there is no {REPORT} in this folder" if is_folder else "there is no such folder, and no such file",
        place=Place(named),
        expected=EXPECTED_RESULT,
        found=found,
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
        return PathContent("a baseline", "a gate compares with a baseline; here, name the folder that it was made of")
    results = [name for name in inside if os.path.isfile(os.path.join(path, name, REPORT))]
    if results:
        more = f" and {len(results) - _MAX_LISTED_RESULTS} more" if len(results) > _MAX_LISTED_RESULTS else ""
        return PathContent(
            f"a folder that holds {', '.join(results[:_MAX_LISTED_RESULTS])}{more}", f"name those: {path.rstrip('/')}/*"
        )
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

    named: str  # the folder or the file as the user named it
    file: Path
    data: bytes
    report: Report
    suite: Suite
    is_folder: bool  # whether more than the report was named

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def name(self) -> str:
        """The name of the report in errors."""
        return str(Path(self.named) / REPORT) if self.is_folder else self.named

    @property
    def sha256(self) -> str:
        return sha256(self.data).hexdigest()

    @property
    def records(self) -> Path:
        return self.folder / self.suite.records

    @property
    def records_name(self) -> str:
        """The name of the records in errors."""
        return str((Path(self.named) if self.is_folder else Path(self.named).parent) / self.suite.records)

    @property
    def metrics(self) -> dict[str, Mapping[str, Any]]:
        """Every metric of the report by its name."""
        sections = [found for found in self.report["metrics"].values() if isinstance(found, Mapping)]
        return {name: metric for section in sections for name, metric in section.items()}

    @property
    def asked(self) -> str | None:
        """What the system was asked and how, in one line, where goldgate asked it."""
        generation = self.report.get("generation")
        return str(generation["signature"]) if isinstance(generation, Mapping) and "signature" in generation else None

    @property
    def signature(self) -> str:
        """Of how it was scored, without how it was asked."""
        whole = str(self.report["signature"])
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
        """Of what it was made from: what the system made, or what every system was asked."""
        return input_digests(self.suite, self.report["inputs"], judged=judged)

    def missing(self) -> list[str]:
        """Ids without an answer, as far as the report names them."""
        found = [each for each in self.report.get("findings", ()) if str(each["code"]).startswith(_MISSING_PREFIX)]
        return sorted({str(each.get("id") or each.get("pointer") or "") for each in found} - {""})

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

    def require_sums(self, metric: str, a: int, b: int) -> None:
        """An InputError where the report says something else of a rate than its records, which give a/b.

        A rate that it leaves undefined says nothing: some settings do, whatever was counted. A main one must be there.
        """
        stated = self.metrics.get(metric, {"value": 0} if metric in self.suite.headline else {})
        told = stated.get("numerator"), stated.get("denominator")
        if stated.get("value") is not None and told != (a, b):
            raise InputError(
                "records.other_run",
                "the records do not give the numbers of the report beside them",
                place=Place(self.records_name),
                expected=f"{metric} {told[0]}/{told[1]}, as in {REPORT}",
                found=f"{a}/{b}",
                advice="score it again with --out, and keep all files of the folder",
            )


class StoredGate(NamedTuple):
    """A gate of a report: the bounds on a metric, and what was measured."""

    metric: str
    bounds: Mapping[str, Decimal]
    measured: Any


def load_result(path: str | Path, suites: Iterable[Suite], named: str | None = None) -> StoredResult:
    """The result in a folder, or the report in a file; an InputError if it has no numbers of one of these suites."""
    require_local(path)
    given, shown = Path(path), str(path) if named is None else named
    missing = missing_result(given, shown)
    if missing is not None:
        raise missing
    is_folder = given.is_dir()
    file, name = (given / REPORT, str(Path(shown) / REPORT)) if is_folder else (given, shown)
    data = read_bytes(file, "report", name, MAX_REPORT_BYTES)
    report = parse_report(data, name)
    known = {suite.name: suite for suite in suites}
    suite = report.get("suite") if isinstance(report, dict) else None
    if type(suite) is not str or suite not in known or report.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            "not a report that goldgate wrote",
            place=Place(name),
            expected=f"a JSON report with suite {' or '.join(known)} and format_version {FORMAT_VERSION}",
            found=_describe_other(report),
        )
    if report.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(name)
        )
    _require_complete(report, name)
    return StoredResult(shown, file, data, report, known[suite], is_folder)


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


def stored_gates(report: Report) -> list[StoredGate]:
    """The gates of a report, in their order."""
    return [
        StoredGate(
            str(gate["metric"]),
            {side: Decimal(gate[side]) for side in ("min", "max") if gate.get(side) is not None},
            gate["measured"],
        )
        for gate in report["gates"]
    ]


def input_digests(suite: Suite, inputs: Mapping[str, Any], *, judged: bool) -> dict[str, list[str]]:
    """Of what a report says that it was made from: what the system made, or what every system was asked."""
    chosen = [given.name for given in suite.inputs if given.judged == judged and given.required]
    return {name: sorted(digests_of(inputs.get(name))) for name in chosen}


def digests_of(entry: Any) -> tuple[str, ...]:
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


def _require_complete(report: Report, name: str) -> None:
    """What is read of a report must be there; whether it is true is another question."""
    try:
        stored_gates(report)
        found: list[tuple[Any, type]] = [
            (report["signature"], str),
            (report["inputs"], dict),
            (report["metrics"], dict),
            (report["metrics"]["version"], str),
            *((each["code"], str) for each in report["findings"]),
        ]
        sections = [section for section in report["metrics"].values() if isinstance(section, dict)]
        metrics = [metric for section in sections for metric in section.values()]
        found += [(metric, dict) for metric in metrics]
        found += [(metric["numerator"], int) for metric in metrics if "denominator" in metric]
        complete = all(isinstance(value, kind) for value, kind in found)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        complete = False
    if not complete:
        raise InputError("report.malformed", "this report is not complete", place=Place(name))
