"""A stored run that a gate compares with: a result folder, or a baseline folder made of one or several."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldgate.baseline.packed import Packed, Packer, unpack
from goldgate.baseline.record import FALSE_ALARM_RATE, FORMAT_VERSION, KIND, make_baseline
from goldgate.baseline.stored_report import StoredReport, load_report
from goldgate.baseline.units import UnitTables, collect_units, other_counts, read_records, twice, unit_id
from goldgate.core.measure import RatioMeasure
from goldgate.core.suite import Suite
from goldgate.core.sums import Counts
from goldgate.core.tally import Key
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.pipe import opener
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_text
from goldgate.readers.unit_records import other_parts, parts_add_up

BASELINE, UNITS, REPORT = "baseline.json", "units.bin", "report.json"
_NO_MATTER = ("goldgate", "protocol", "interval")  # of a signature: what no count depends on
_ADVICE = "name a folder that --out wrote, with all its files, or one that goldgate baseline DIR --out wrote"


@dataclass(frozen=True, slots=True)
class Reference:
    """A stored run: what it was made from, and where the counts of its units are."""

    named: str  # as the protocol or the command names it
    folder: Path
    sha256: str
    settings: Mapping[str, str]  # of its signature
    asked: Mapping[str, Sequence[str]]  # digests of what every system is asked
    judged: Sequence[Mapping[str, Sequence[str]]]  # and of what the systems made, run by run
    packed: Mapping[str, Any] | None = None  # what the baseline says of its units

    def units(self, suite: Suite, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
        """The counts of every unit by its id."""
        if self.packed is None:
            name = str(Path(self.named) / suite.records)
            records = read_records(self.folder / suite.records, name, suite.pairing)
            return collect_units(records, name, suite.pairing, wanted)
        try:
            with open(self.folder / UNITS, "rb", opener=opener) as stream:
                return unpack(stream.read(), self.packed["size"], self.packed["sha256"], wanted)
        except (OSError, ValueError, KeyError, TypeError):
            raise InputError(
                "baseline.units_unreadable",
                "the units of this baseline cannot be read, or are not those that it was made with",
                place=Place(str(Path(self.named) / UNITS)),
                advice="make the baseline again: goldgate baseline DIR --out FOLDER",
            ) from None

    def names(self, suite: Suite, ids: Collection[bytes]) -> list[str]:
        """The identities behind ids, as far as they are stored: a baseline has none."""
        if self.packed is not None:
            return []
        records = read_records(self.folder / suite.records, self.named, suite.pairing)
        return sorted({str(unit.identity) for unit in records if unit_id(unit.identity) in ids})


def load_reference(folder: Path, named: str, place: Place, suite: Suite) -> Reference:
    """What `against` names; whatever is wrong with it is the protocol's error."""
    try:
        require_one_kind(folder, named)
        if (folder / BASELINE).is_file():
            return _of_baseline(folder, named, suite)
        return _of_report(folder, named, load_report(folder / REPORT, [suite]))
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.against_unreadable",
            f"what this gate compares with is no stored run of the {suite.name} suite",
            place=place,
            expected=f"a folder with {REPORT} and {suite.records}, or one with {BASELINE} and {UNITS}",
            found=f"{named}: {problem.message}" + (f" ({problem.found})" if problem.found else ""),
            advice=_ADVICE,
        ) from None


def require_one_kind(folder: Path, named: str, written: str | None = None) -> None:
    """A folder with a report and a baseline would be two stored runs, of which one is verified and the other used."""
    if all(name == written or os.path.lexists(folder / name) for name in (REPORT, BASELINE)):
        raise InputError(
            "against.two_runs",
            "results and a baseline are in one folder",
            place=Place(named),
            expected=f"{REPORT} or {BASELINE}",
            found="both",
            advice="keep them in folders of their own",
        )


def make_folder(
    folders: Sequence[str | Path], suites: Sequence[Suite], chance: Decimal = FALSE_ALARM_RATE
) -> tuple[dict[str, Any], Packed]:
    """A baseline record of the reports in result folders, and what their units counted; of several runs, the sum."""
    record = make_baseline([Path(folder) / REPORT for folder in folders], suites, chance)
    runs = [_of_report(Path(f), str(f), load_report(Path(f) / REPORT, suites)) for f in folders]
    suite = next(suite for suite in suites if suite.name == record["suite"])
    for run in runs[1:]:
        require_alike(run, runs[0].settings, runs[0].asked, runs[0].named, suite)
    runs.sort(key=lambda run: run.sha256)
    packer = Packer()
    for run in runs:
        _pack_run(run, suite, packer, first=run is runs[0])
    packed = packer.pack()
    record["units"] = {"file": UNITS, "count": packed.units, "size": packed.size, "sha256": packed.sha256}
    record["scored"] = "|".join(f"{name}:{setting}" for name, setting in runs[0].settings.items())
    record["asked"] = {name: list(digests) for name, digests in runs[0].asked.items()}
    record["judged"] = [{name: list(digests) for name, digests in run.judged[0].items()} for run in runs]
    return record, packed


def _pack_run(run: Reference, suite: Suite, packer: Packer, *, first: bool) -> None:
    """Add a run's units; every run must have the same ones."""
    name, seen, before = str(Path(run.named) / suite.records), set[bytes](), len(packer.ids())
    for unit in read_records(run.folder / suite.records, name, suite.pairing):
        identity = unit_id(unit.identity)
        if identity in seen and not suite.pairing.several:
            raise twice(unit, name)
        seen.add(identity)
        packer.add(identity, unit.counts)
    if not first and not before == len(seen) == len(packer.ids()):
        raise InputError(
            "baseline.other_units",
            f"these runs do not have the same {suite.unit}s",
            place=Place(run.named),
            expected=f"the {before} {suite.unit}s of the others",
            found=f"{len(seen)}, of which {len(packer.ids()) - before} are not among those",
        )


def require_alike(
    reference: Reference, settings: Mapping[str, str], asked: Mapping[str, Sequence[str]], other: str, suite: Suite
) -> None:
    """An InputError that names what differs, unless both were scored alike by the same gold."""
    mine, theirs = dict(settings), dict(reference.settings)
    names = [name for name in {**theirs, **mine} if name not in _NO_MATTER and mine.get(name) != theirs.get(name)]
    gold = [name for name in asked if list(asked[name]) != list(reference.asked.get(name, ()))]
    if not names and not gold:
        return
    expected = [f"{name} {mine.get(name, 'none')}" for name in names]
    expected += [f"{name} with the sha256 {_short(asked[name])}" for name in gold]
    found = [f"{name} {theirs.get(name, 'none')}" for name in names]
    found += [f"{name} with the sha256 {_short(reference.asked.get(name, ()))}" for name in gold]
    raise InputError(
        "against.other_gold" if gold else "against.other_settings",
        "only runs that were scored alike, by the same gold, can be compared",
        place=Place(reference.named),
        expected=f"{', '.join(expected)}, like {other}",
        found=", ".join(found),
        advice="score what it was made of again, with this gold and this protocol",
    )


def digests(suite: Suite, inputs: Mapping[str, Any], *, judged: bool) -> dict[str, list[str]]:
    """Of what a report says that it was made from: what the system made, or what every system is asked."""
    names = [given.name for given in suite.inputs if given.judged == judged and given.required]
    return {name: sorted(_digests(inputs.get(name))) for name in names}


def signed(signature: str) -> dict[str, str]:
    """The parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def _scored(report: Mapping[str, Any]) -> str:
    """The signature without how a model was asked: another model may be compared."""
    generation = report.get("generation")
    asked = generation.get("signature") if isinstance(generation, Mapping) else None
    return str(report["signature"]).removesuffix(f"|{asked}")


def _of_report(folder: Path, named: str, report: StoredReport) -> Reference:
    suite, value = report.suite, report.value
    if not (folder / suite.records).is_file():
        raise InputError(
            "records.missing",
            "the records of the single units are not there",
            place=Place(str(Path(named) / suite.records)),
            expected=f"{suite.records}, which --out writes beside {REPORT}",
            advice="score it again with --out, and keep all files of the folder",
        )
    reference = Reference(
        named,
        folder,
        report.sha256,
        signed(_scored(value)),
        digests(suite, value["inputs"], judged=False),
        [digests(suite, value["inputs"], judged=True)],
    )
    _require_same_numbers(reference, report)
    return reference


def _of_baseline(folder: Path, named: str, suite: Suite) -> Reference:
    file = str(Path(named) / BASELINE)
    text, digest = read_text(folder / BASELINE, KIND)
    value = parse_json(text, file, KIND)
    try:
        if (value["kind"], value["suite"], value["format_version"]) != (KIND, suite.name, FORMAT_VERSION):
            raise KeyError("kind")
        asked, judged = _listed(value["asked"]), [_listed(run) for run in value["judged"]]
        size, content = value["units"]["size"], value["units"]["sha256"]
        if type(size) is not int or type(content) is not str or not judged:
            raise TypeError("units")
        packed = {"size": size, "sha256": content}
        return Reference(named, folder, digest, signed(value["scored"]), asked, judged, packed)
    except (KeyError, TypeError, AttributeError):
        raise InputError(
            "baseline.not_a_baseline",
            f"not a baseline folder of the {suite.name} suite, or not as goldgate wrote it",
            place=Place(file),
            advice=_ADVICE,
        ) from None


def _listed(given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Lists of digests by the name of an input; TypeError where it is something else."""
    if not all(type(found) is list and all(type(digest) is str for digest in found) for found in given.values()):
        raise TypeError("digests")
    return dict(given)


def _require_same_numbers(reference: Reference, report: StoredReport) -> None:
    """The records must give the numbers of the report beside them."""
    suite = report.suite
    measures = [each for each in suite.measures(suite.settings()) if isinstance(each, RatioMeasure)]
    tables = {(measure.table,) for measure in measures}
    name = str(Path(reference.named) / suite.records)
    vectors: Counter[tuple[Key, Counts]] = Counter()  # equal ones are multiplied, not added one by one
    for unit in read_records(reference.folder / suite.records, name, suite.pairing):
        if not parts_add_up(unit.counts):
            raise other_parts(name, str(unit.identity))
        vectors.update((key, counts) for key, counts in unit.counts.items() if key in tables)
    sections = [found for found in report.value["metrics"].values() if isinstance(found, Mapping)]
    stated = {metric: told for section in sections for metric, told in section.items()}
    for measure in measures:
        own = [(counts, times) for (key, counts), times in vectors.items() if key == (measure.table,)]
        if any(len(counts) != len(measure.columns) for counts, _ in own):
            raise other_counts(name)
        for metric in measure.ratios:
            pairs = [(*measure.forms[metric].of(counts), times) for counts, times in own]
            given = sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
            told = stated.get(metric, {})
            # Nothing to divide by: some settings leave a metric undefined whatever was counted.
            if told.get("denominator") and (told["numerator"], told["denominator"]) != given:
                raise InputError(
                    "records.other_run",
                    "the records do not give the numbers of the report beside them",
                    place=Place(name),
                    expected=f"{metric} {told['numerator']}/{told['denominator']}, as in {REPORT}",
                    found=f"{given[0]}/{given[1]}",
                    advice="score it again with --out, and keep all files of the folder",
                )


def _digests(given: Any) -> Iterator[str]:
    entries: Iterable[Any] = given if isinstance(given, list) else [given]
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, Mapping):
            yield str(entry.get("sha256"))


def _short(found: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in found) or "none"
