"""A stored run: its report, and the file that has a record for each unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Verdict
from goldgate.core.suite import Suite
from goldgate.errors import InputError, Place, describe
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_text
from goldgate.pipeline import evaluate
from goldgate.protocol.load import ProtocolSource
from goldgate.suites import SUITES, load_suite

REPORT = "report.json"
_MISSING = "missing_"  # how the codes of findings begin that say that an answer is not there


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run's report, its suite, and where its records are; `name` is the folder's or the file's in errors."""

    name: str
    suite: Suite
    report: Mapping[str, Any]
    records: Path

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
        return dict(part.partition(":")[::2] for part in self.signature.split("|"))

    def digests(self, *, judged: bool) -> dict[str, list[str]]:
        """Of what it was made from: what the system made, or what every system was asked."""
        chosen = [given.name for given in self.suite.inputs if given.judged == judged and given.required]
        return {name: sorted(_digests(self.report["inputs"].get(name))) for name in chosen}

    def missing(self) -> list[str]:
        """Ids without an answer, as far as the report names them."""
        found = self.report.get("findings", ())
        return sorted(
            {str(f.get("id") or f.get("pointer") or "") for f in found if str(f["code"]).startswith(_MISSING)} - {""}
        )


def load_run(folder: str) -> StoredRun:
    """The run in a folder that `--out` wrote; whatever it is of."""
    root = Path(folder)
    if not root.is_dir():
        raise InputError(
            "compare.not_a_folder",
            "this is no folder with results",
            place=Place(folder),
            expected="a folder that --out wrote",
            found="a file" if root.exists() else "nothing",
            advice="predictions are compared with --gold" if root.exists() else None,
        )
    file = str(root / REPORT)
    text, _ = read_text(file, "report")
    value = parse_json(text, file, "report")
    suite = value.get("suite") if isinstance(value, dict) else None
    if not isinstance(suite, str) or suite not in SUITES or value.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            "not a report that goldgate wrote",
            place=Place(file),
            expected=f"a JSON report with suite {' or '.join(SUITES)} and format_version {FORMAT_VERSION}",
            found=describe(suite) if isinstance(value, dict) else describe(value),
        )
    if value.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(file)
        )
    try:
        _ = value["signature"], value["inputs"], value["metrics"]["version"]
    except (KeyError, TypeError):
        raise InputError("report.malformed", "this report is not complete", place=Place(file)) from None
    run = StoredRun(folder, load_suite(suite), value, root / load_suite(suite).records)
    if not run.records.exists():
        raise InputError(
            "records.missing",
            "the records of the single units are not there",
            place=Place(str(run.records)),
            expected=f"{run.suite.records}, which --out writes beside {REPORT}",
            advice="score it again with --out, and keep all files of the folder",
        )
    return run


def run_predictions(
    suite: Suite,
    gold: Sequence[str],
    predictions: str,
    others: Mapping[str, Sequence[str]],
    protocol: ProtocolSource,
    records: Path,
    workers: int = 1,
) -> StoredRun:
    """Score a predictions file; its records go to the file `records`."""
    inputs = {"gold": list(gold), "predictions": [predictions], **others}
    with open(records, "xb") as stream:
        evaluation = evaluate(suite, inputs, protocol, workers=workers, records=stream)
    return StoredRun(predictions, suite, evaluation.report, records)


def _digests(given: Any) -> Iterator[str]:
    for entry in given if isinstance(given, list) else [given]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping):
            yield str(entry.get("sha256"))
