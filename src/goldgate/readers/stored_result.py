"""A stored result: the folder that `--out` wrote, or a report alone, opened and checked for everyone who reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Verdict
from goldgate.core.signature import signed
from goldgate.core.suite import Report, Suite
from goldgate.errors import GoldgateError, InputError, Place, describe
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import decode_text, read_bytes
from goldgate.readers.no_result import EXPECTED, REPORT, no_result, require_here

MOST_BYTES = 1 << 28  # of a report: a larger file is something else
_MISSING = "missing_"  # how the codes of findings begin that say that an answer is not there


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
        return signed(self.signature)

    @property
    def measured_by(self) -> Any:
        """Settings of the suite with the measures that this result has."""
        return self.suite.recorded_settings(self.settings)

    def digests(self, *, judged: bool) -> dict[str, list[str]]:
        """Of what it was made from: what the system made, or what every system was asked."""
        return input_digests(self.suite, self.report["inputs"], judged=judged)

    def missing(self) -> list[str]:
        """Ids without an answer, as far as the report names them."""
        found = [each for each in self.report.get("findings", ()) if str(each["code"]).startswith(_MISSING)]
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
    require_here(path)
    given, shown = Path(path), str(path) if named is None else named
    missing = no_result(given, shown)
    if missing is not None:
        raise missing
    is_folder = given.is_dir()
    file, name = (given / REPORT, str(Path(shown) / REPORT)) if is_folder else (given, shown)
    data = read_bytes(file, "report", name, MOST_BYTES)
    report = parse_report(data, name)
    known = {suite.name: suite for suite in suites}
    suite = report.get("suite") if isinstance(report, dict) else None
    if type(suite) is not str or suite not in known or report.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            "not a report that goldgate wrote",
            place=Place(name),
            expected=f"a JSON report with suite {' or '.join(known)} and format_version {FORMAT_VERSION}",
            found=_other(report),
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
            expected=EXPECTED,
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
    return {name: sorted(digests(inputs.get(name))) for name in chosen}


def digests(entry: Any) -> tuple[str, ...]:
    """The digests of an input of a report: one as it stands, in an object, or in a list of those."""
    if isinstance(entry, str):
        return (entry,)
    if isinstance(entry, list):
        return tuple(digest for each in entry for digest in digests(each))
    return digests(entry.get("sha256")) if isinstance(entry, dict) else ()


def _other(report: Any) -> str:
    """What is there in place of a report."""
    if not isinstance(report, dict):
        return describe(report)
    kind = report.get("kind")
    return f"a {kind}" if type(kind) is str else f"suite {describe(report.get('suite'))}"


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
