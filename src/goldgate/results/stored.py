"""A stored result: the report of an evaluation, the files beside it, and the suite that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Verdict
from goldgate.core.suite import Report, Suite
from goldgate.errors import InputError, Place, describe
from goldgate.files.pipe import opener
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import cannot_read
from goldgate.suites import SUITES, load_suite

REPORT, REPORT_MARKDOWN, RUN = "report.json", "report.md", "run.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """What run.json says of where a result came from, as far as it can be read. `folder` is where it lies now."""

    folder: Path
    run: Mapping[str, Any] | None

    @property
    def ran_in(self) -> Path:
        """The folder that the command ran in."""
        ran_in = (self.run or {}).get("folder")
        return Path(ran_in) if type(ran_in) is str else Path()

    def named(self, kind: str) -> list[str]:
        """The paths of an input."""
        inputs = (self.run or {}).get("inputs")
        paths = inputs.get(kind) if isinstance(inputs, dict) else None
        return [path for path in paths if type(path) is str] if isinstance(paths, list) else []


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A report as it was found. `run` says when and from what it was made; None where only the report was kept."""

    file: Path
    data: bytes
    report: Report
    suite: Suite
    run: Mapping[str, Any] | None

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def origin(self) -> Origin:
        return Origin(self.folder, self.run)

    @property
    def records(self) -> Path:
        return self.folder / self.suite.records


def load_result(path: str | Path) -> StoredResult:
    """The result in a folder that --out named, or the report in a file; one without numbers is an InputError."""
    given = Path(path)
    file = given / REPORT if given.is_dir() else given
    data = read_bytes(file, "report")
    report = parse_bytes(data, file, "report")
    named = report.get("suite") if isinstance(report, dict) else None
    if type(named) is not str or named not in SUITES or report.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            "not a report that goldgate wrote",
            place=Place(str(file)),
            expected=f"a JSON report with suite {' or '.join(SUITES)} and format_version {FORMAT_VERSION}",
            found=describe(report.get("suite")) if isinstance(report, dict) else describe(report),
        )
    if report.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(str(file))
        )
    _require_complete(report, file)
    return StoredResult(file, data, report, load_suite(named), load_run_record(given) if given.is_dir() else None)


def load_run_record(folder: Path) -> Mapping[str, Any] | None:
    """run.json of a folder; None where there is none."""
    file = folder / RUN
    if not file.exists():
        return None
    run = parse_bytes(read_bytes(file, "run"), file, "run")
    if not isinstance(run, dict):
        raise InputError("run.malformed", "not as goldgate wrote it", place=Place(str(file)), found=describe(run))
    return run


class StoredGate(NamedTuple):
    """A gate of a report: the bounds on a metric, and what was measured."""

    metric: str
    bounds: Mapping[str, Decimal]
    measured: Any


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


def _require_complete(report: Report, file: Path) -> None:
    """What is read of a report must be there; whether it is true is another question."""
    try:
        stored_gates(report)
        complete = isinstance(report["metrics"], dict) and isinstance(report["inputs"], dict)
        complete = complete and isinstance(report["signature"], str)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        complete = False
    if not complete:
        raise InputError("report.malformed", "this report is not complete", place=Place(str(file)))


def read_bytes(file: Path, kind: str) -> bytes:
    """A whole file; InputError where it cannot be read."""
    try:
        with open(file, "rb", opener=opener) as stream:
            return stream.read()
    except (OSError, ValueError) as problem:
        raise cannot_read(str(file), kind, problem) from None


def parse_bytes(data: bytes, file: Path, kind: str) -> Any:
    """The value of a JSON file, read strictly."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{kind}.not_utf8", "this is not UTF-8 text", place=Place(str(file))) from None
    return parse_json(text, str(file), kind)
