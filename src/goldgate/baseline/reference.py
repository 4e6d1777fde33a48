"""A stored run that a gate compares with: a result folder, or a baseline folder made of one or several."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.baseline.packed import Packed, Packer, unpack
from goldgate.baseline.record import FALSE_ALARM_RATE, FORMAT_VERSION, KIND, make_baseline
from goldgate.baseline.stored_report import StoredReport, load_report
from goldgate.baseline.units import collect_units, counted_units, unit_id
from goldgate.core.counted_unit import Key
from goldgate.core.measure import RatioMeasure
from goldgate.core.signature import signed, unlike
from goldgate.core.suite import Suite
from goldgate.core.sums import Counts
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_bytes, read_text
from goldgate.readers.no_result import REPORT
from goldgate.readers.recorded_units import UnitTables, counts_of, malformed, other_parts, parts_add_up, read_units
from goldgate.readers.stored_result import StoredResult

MOST_BYTES = 1 << 30  # of the packed units: some 20 million
BASELINE, UNITS = "baseline.json", "units.bin"
_ADVICE = "name a folder that --out wrote, with all its files, or one that goldgate baseline DIR --out wrote"


@dataclass(frozen=True, slots=True)
class Reference:
    """A stored run: what it was made from, and where the counts of its units are."""

    named: str  # as the protocol or the command names it
    sha256: str
    signature: str  # of how it was scored
    asked: Mapping[str, Sequence[str]]  # digests of what every system is asked
    judged: Sequence[Mapping[str, Sequence[str]]]  # and of what the systems made, run by run
    source: StoredResult | PackedUnits

    def units(self, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
        """The counts of every unit by its id."""
        if isinstance(self.source, StoredResult):
            return collect_units(self.source, wanted)
        return self.source.units(wanted)

    def names(self, ids: Collection[bytes]) -> list[str]:
        """The identities behind ids, as far as they are stored: a baseline has none."""
        if not isinstance(self.source, StoredResult):
            return []
        return sorted({str(unit.identity) for unit in read_units(self.source) if unit_id(unit.identity) in ids})

    def other_counts(self) -> InputError:
        """The error for units that this version counts in another way."""
        if isinstance(self.source, StoredResult):
            return malformed(self.source, None, "other counts than this version has")
        return self.source.unreadable("counts that this version does not have")


class PackedUnits(NamedTuple):
    """The units of a baseline folder, and what its record says of them."""

    file: Path
    named: str
    told: Mapping[str, Any]

    def units(self, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
        data = read_bytes(self.file, KIND, self.named, MOST_BYTES)
        try:
            return unpack(data, int(self.told["size"]), str(self.told["sha256"]), wanted)
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            raise self.unreadable(str(problem) if type(problem) is ValueError else None) from None

    def unreadable(self, found: str | None) -> InputError:
        return InputError(
            "baseline.units_unreadable",
            "the units of this baseline cannot be read, or are not those that it was made with",
            place=Place(self.named),
            found=found,
            advice="make the baseline again: goldgate baseline DIR --out FOLDER",
        )


def load_reference(folder: Path, named: str, place: Place, suite: Suite) -> Reference:
    """What `against` names; whatever is wrong with it is the protocol's error."""
    try:
        require_one_kind(folder, named)
        if (folder / BASELINE).is_file():
            return _of_baseline(folder, named, suite)
        return _of_report(load_report(folder, [suite], named))
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.against_unreadable",
            f"what this gate compares with is no stored run of the {suite.name} suite",
            place=place,
            expected=f"a folder with {REPORT} and {suite.records}, or one with {BASELINE} and {UNITS}",
            found=f"{named}: {problem.message}" + (f" ({problem.found})" if problem.found else ""),
            advice=problem.advice or _ADVICE,
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
    record = make_baseline(folders, suites, chance)
    runs = [_of_report(load_report(folder, suites)) for folder in folders]
    suite = next(suite for suite in suites if suite.name == record["suite"])
    for run in runs[1:]:
        require_alike(run, runs[0].signature, runs[0].asked, runs[0].named, suite)
    runs.sort(key=lambda run: run.sha256)
    packer = Packer()
    for run in runs:
        _pack_run(run, suite, packer, first=run is runs[0])
    packed = packer.pack()
    record["units"] = {"file": UNITS, "count": packed.units, "size": packed.size, "sha256": packed.sha256}
    record["signature"] = runs[0].signature  # without how the systems were asked
    record["asked"] = {name: list(digests) for name, digests in runs[0].asked.items()}
    record["judged"] = [{name: list(digests) for name, digests in run.judged[0].items()} for run in runs]
    return record, packed


def _pack_run(run: Reference, suite: Suite, packer: Packer, *, first: bool) -> None:
    """Add a run's units; every run must have the same ones."""
    assert isinstance(run.source, StoredResult)
    seen, before = set[bytes](), len(packer.ids())
    for unit in counted_units(run.source):
        identity = unit_id(unit.identity)
        seen.add(identity)
        try:
            packer.add(identity, unit.counts)
        except ValueError:
            raise run.other_counts() from None
    if not first and not before == len(seen) == len(packer.ids()):
        raise InputError(
            "baseline.other_units",
            f"these runs do not have the same {suite.unit}s",
            place=Place(run.named),
            expected=f"the {before} {suite.unit}s of the others",
            found=f"{len(seen)}, of which {len(packer.ids()) - before} are not among those",
        )


def require_alike(
    reference: Reference, signature: str, asked: Mapping[str, Sequence[str]], other: str, suite: Suite
) -> None:
    """An InputError that names what differs, unless both were scored alike by the same gold."""
    parts = unlike(signed(signature), signed(reference.signature))
    gold = [name for name in asked if list(asked[name]) != list(reference.asked.get(name, ()))]
    if not parts and not gold:
        return
    expected = [f"{part.name} {part.mine}" for part in parts]
    expected += [f"{name} with the sha256 {_short(asked[name])}" for name in gold]
    found = [f"{part.name} {part.theirs}" for part in parts]
    found += [f"{name} with the sha256 {_short(reference.asked.get(name, ()))}" for name in gold]
    raise InputError(
        "against.other_gold" if gold else "against.other_settings",
        "only runs that were scored alike, by the same gold, can be compared",
        place=Place(reference.named),
        expected=f"{', '.join(expected)}, like {other}",
        found=", ".join(found),
        advice="score what it was made of again, with this gold and this protocol",
    )


def _of_report(report: StoredReport) -> Reference:
    result = report.result
    result.require_records()
    _require_same_numbers(result)
    return Reference(
        result.named,
        result.sha256,
        result.signature,
        result.digests(judged=False),
        [result.digests(judged=True)],
        result,
    )


def _of_baseline(folder: Path, named: str, suite: Suite) -> Reference:
    file = str(Path(named) / BASELINE)
    text, digest = read_text(folder / BASELINE, KIND)
    value = parse_json(text, file, KIND)
    try:
        if (value["kind"], value["suite"], value["format_version"]) != (KIND, suite.name, FORMAT_VERSION):
            raise KeyError("kind")
        asked, judged = _listed(value["asked"]), [_listed(run) for run in value["judged"]]
        size, content, signature = value["units"]["size"], value["units"]["sha256"], value["signature"]
        if type(size) is not int or type(content) is not str or type(signature) is not str or not judged:
            raise TypeError("units")
        units = PackedUnits(folder / UNITS, str(Path(named) / UNITS), {"size": size, "sha256": content})
        return Reference(named, digest, signature, asked, judged, units)
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


def _require_same_numbers(result: StoredResult) -> None:
    """The records must give the numbers of the report beside them."""
    measures = {
        measure.key: measure
        for measure in result.suite.measures(result.measured_by)
        if isinstance(measure, RatioMeasure)
    }
    vectors: Counter[tuple[Key, Counts]] = Counter()  # equal ones are multiplied, not added one by one
    for unit in read_units(result):
        counted = counts_of(unit, result)
        if not parts_add_up(counted):
            raise other_parts(unit, result)
        for key in measures.keys() & counted.keys():
            if len(counted[key]) != len(measures[key].columns):
                raise malformed(result, unit.line, f"{len(counted[key])} counts of {key[0]}")
            vectors[key, counted[key]] += unit.times
    for measure in measures.values():
        own = [(counts, times) for (key, counts), times in vectors.items() if key == measure.key]
        for metric in measure.ratios:
            pairs = [(*measure.forms[metric].of(counts), times) for counts, times in own]
            result.require_sums(
                metric, sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
            )


def _short(found: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in found) or "none"
