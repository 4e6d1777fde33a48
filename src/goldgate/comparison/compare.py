"""Systems compared: who is better, by how much, how sure that is, and on which units they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import orjson

from goldgate.comparison.alike import gold_differs, require_alike
from goldgate.comparison.changed import Changes
from goldgate.comparison.compared_systems import Systems
from goldgate.comparison.joint_units import JointUnits, join_results
from goldgate.comparison.load import load_run, score_predictions
from goldgate.comparison.measured import Measurements
from goldgate.comparison.rates import ComparedRate, columns_by_table, compared_averages, compared_rates
from goldgate.comparison.systems import SystemSource, find_systems, require_predictions, require_results
from goldgate.core.evaluation import render_json
from goldgate.core.suite import GOLD, PREDICTIONS, Suite
from goldgate.errors import ConfigError, InputError, Place, describe, did_you_mean
from goldgate.protocol.load import ProtocolSource
from goldgate.readers.stored_result import StoredResult
from goldgate.stats.interval import LEVEL
from goldgate.stats.power import POWER
from goldgate.suites import all_suites

FORMAT_VERSION = 1  # of comparison.json
SHOWN_IDS = 5
SHOWN_CHANGES = 10
SUITE = "extraction"  # that scores predictions, unless another one is named


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison as plain values (comparison.json), and the units that changed."""

    report: dict[str, Any]
    changes: Changes

    def to_json(self) -> str:
        """The bytes of comparison.json, as text."""
        return render_json(self.report).decode()

    def changed_lines(self) -> Iterator[bytes]:
        """The lines of changed.jsonl, the largest change first."""
        return (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in self.changes.listed())

    def __getitem__(self, metric: str) -> dict[str, Any]:
        """The comparison of a metric; of several systems, that of the first one."""
        for entry in self.report["comparisons"]:
            if entry["metric"] == metric:
                return dict(entry)
        known = dict.fromkeys(entry["metric"] for entry in self.report["comparisons"])
        raise KeyError(f"no comparison of {metric!r}; {did_you_mean(metric, known) or ', '.join(known)}")


def compare(
    *systems: str | Path | Sequence[str | Path],
    gold: str | Path | Sequence[str | Path] | None = None,
    schema: str | Path | Mapping[str, Any] | None = None,
    protocol: ProtocolSource = None,
    suite: str = SUITE,
    names: Sequence[str] = (),
    against: str | None = None,
    common: bool = False,
    workers: int = 1,
    dialect: str | None = None,
    id_field: str | None = None,
    response_field: str | None = None,
) -> Comparison:
    """Compare stored results, or with `gold` predictions, which `suite` scores first: `compare("a", "b")`, or
    `compare(["a", "b"])`.

    The first system is what others are compared with, unless `against` names another. `common` compares only what all
    systems have, where they were judged by different gold. `dialect`, `id_field` and `response_field` say how gold and
    all predictions are read.
    """
    return compare_systems(
        find_systems(_paths(systems), names),
        gold=_listed(gold),
        schema=[schema] if isinstance(schema, Mapping) else _listed(schema),
        protocol=protocol,
        suite=suite,
        against=against,
        common=common,
        workers=workers,
        reading={"dialect": dialect, "id_field": id_field, "response_field": response_field},
    )


def compare_systems(
    sources: Sequence[SystemSource],
    *,
    gold: Sequence[str] = (),
    schema: Sequence[Any] = (),
    protocol: ProtocolSource = None,
    suite: str = SUITE,
    against: str | None = None,
    common: bool = False,
    workers: int = 1,
    reading: Mapping[str, str | None] = MappingProxyType({}),
) -> Comparison:
    """The same of systems that were found already. `reading` are inputs of the suite that say how files are read."""
    inputs = {"schema": schema, **{name: [value] for name, value in reading.items() if value is not None}}
    inputs = {name: values for name, values in inputs.items() if values}
    if not gold and (inputs or protocol is not None):
        raise ConfigError(
            "compare.no_gold",
            "a schema, a protocol and how files are read are for scoring, which needs --gold",
            advice="name the gold",
        )
    with ExitStack() as stack:
        if not gold:
            require_results(sources)
            runs = [[load_run(path) for path in source.paths] for source in sources]
        else:
            require_predictions(sources)
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="goldgate-")))
            runs = _scored(sources, _scoring(suite, inputs), {"gold": gold, **inputs}, protocol, folder, workers)
        return _compared(_systems(sources, runs, against), common)


def _scoring(name: str, inputs: Iterable[str]) -> Suite:
    """The suite that scores predictions by gold."""
    able = [each for each in all_suites() if {GOLD.name, PREDICTIONS.name} <= {given.name for given in each.inputs}]
    suite = next((each for each in able if each.name == name), None)
    if suite is None:
        raise ConfigError(
            "compare.unknown_suite",
            "no suite of this name scores predictions by gold",
            expected=", ".join(each.name for each in able),
            found=name,
            advice=did_you_mean(name, [each.name for each in able]),
        )
    for unknown in [each for each in inputs if each not in {given.name for given in suite.inputs}]:
        option = unknown.replace("_", "-")
        raise ConfigError(
            f"compare.no_{unknown}", f"the {name} suite takes no {option}", advice=f"leave out --{option}"
        )
    return suite


def _scored(
    sources: Sequence[SystemSource],
    suite: Suite,
    inputs: Mapping[str, Sequence[str]],
    protocol: ProtocolSource,
    folder: Path,
    workers: int,
) -> list[list[StoredResult]]:
    """Every predictions file scored, its result in the folder."""
    numbers = count(1)
    return [
        [
            score_predictions(suite, {**inputs, "predictions": [path]}, protocol, folder / str(next(numbers)), workers)
            for path in source.paths
        ]
        for source in sources
    ]


def _systems(sources: Sequence[SystemSource], runs: Sequence[Sequence[StoredResult]], against: str | None) -> Systems:
    places, everything = {}, list[StoredResult]()
    for source, own in zip(sources, runs, strict=True):
        places[source.name] = tuple(range(len(everything), len(everything) + len(own)))
        everything += own
    reference = sources[0].name if against is None else against
    if reference not in places:
        raise ConfigError(
            "compare.unknown_system",
            "there is no system of this name to compare with",
            expected=", ".join(places),
            found=reference,
            advice=did_you_mean(reference, places),
        )
    return Systems(tuple(everything), places, reference)


def _compared(systems: Systems, common: bool) -> Comparison:
    runs = systems.runs
    require_alike(runs, other_gold=common)
    suite = runs[0].suite
    rates = compared_rates(suite, runs[0].measured_by)
    headline = [name for name in suite.headline if name in rates]
    watched = _defined_first(headline, runs)
    averages = compared_averages(suite)
    averaged = next((rate.table for rate in averages.values()), None)
    if len(runs) > len(systems.places):
        averaged = None  # how parts go together is not looked at where systems have several runs
    joined = join_results(runs, columns_by_table(rates), rates[watched].table, averaged)
    changes = Changes(rates[watched], joined, systems.places, systems.against)
    left_out = _left_out(systems, joined, common)
    if not joined.lacking:
        for index, run in enumerate(runs):
            _require_same_numbers(run, index, joined, rates)
    unit = "group" if joined.is_grouped else suite.pairing.unit or suite.unit
    found = Measurements(rates, averages, headline, joined, systems, unit)
    report = {
        "format_version": FORMAT_VERSION,
        "kind": "comparison",
        "suite": suite.name,
        "against": systems.against,
        "unit": unit,
        "units": joined.units,
        "level": LEVEL,
        "power": POWER,
        "headline": headline,
        "signature": runs[0].signature,
        "gold": runs[0].digests(judged=False),
        "same_gold": not gold_differs(runs),
        "left_out": left_out,
        "systems": found.systems({name: _origin(systems, name) for name in systems.places}),
        "comparisons": found.comparisons(),
        "parts": found.parts(),
        "changed": {"metric": watched, "units": changes.counts(), "first": [*changes.listed(SHOWN_CHANGES)]},
        "error": None,
    }
    return Comparison(report, changes)


def _defined_first(headline: Sequence[str], runs: Sequence[StoredResult]) -> str:
    """The first main metric that every run has: where nothing has arguments, what changed are the types."""
    for name in headline:
        if all(run.metrics.get(name, {}).get("value") is not None for run in runs):
            return name
    return headline[0]


def _left_out(systems: Systems, joined: JointUnits, common: bool) -> list[dict[str, Any]]:
    """What only some runs have: refused, or left out if that was asked for."""
    found = [
        {"system": name, "lacks": len(ids), "first": sorted(ids)[:SHOWN_IDS]}
        for name, places in systems.places.items()
        for index, ids in sorted(joined.lacking.items())
        if index in places
    ]
    if found and not common:
        first = min(joined.lacking)
        raise InputError(
            "compare.missing_ids",
            "records are missing that another system has",
            place=Place(systems.runs[first].named),
            expected=f"a record for each {systems.runs[0].suite.unit} of the gold",
            found=f"{len(joined.lacking[first])} missing: {', '.join(sorted(joined.lacking[first])[:SHOWN_IDS])}",
            advice="score both with the same gold; --common compares what both have",
        )
    return found


def _require_same_numbers(run: StoredResult, index: int, joined: JointUnits, rates: Mapping[str, ComparedRate]) -> None:
    """The records must give the numbers of the report beside them."""
    for name, rate in rates.items():
        pairs = joined.pairs((rate.table,), rate.form)
        a, b = (sum(runs[index][n] * times for runs, times in pairs.items()) for n in (0, 1))
        run.require_sums(name, a, b)


def _origin(systems: Systems, name: str) -> list[dict[str, Any]]:
    """The inputs of a system's runs, and answers that are missing; those count as wrong."""
    found = []
    for run in (systems.runs[n] for n in systems.places[name]):
        missing = run.missing()
        counted = run.metrics.get("missing_predictions", {}).get("value")
        number = counted if isinstance(counted, int) else len(missing)
        inputs = run.digests(judged=True)
        found.append({"inputs": inputs, "asked": run.asked, "missing": {"count": number, "first": missing[:SHOWN_IDS]}})
    return found


def _paths(systems: tuple[Any, ...]) -> list[str]:
    """The systems, one by one or as one list."""
    paths = [*systems[0]] if len(systems) == 1 and isinstance(systems[0], (list, tuple)) else systems
    for path in paths:
        if not isinstance(path, (str, Path)):
            raise ConfigError(
                "compare.wrong_type",
                "compare takes the paths of result folders, or with gold of predictions files",
                expected='compare("a", "b"), or "b=out/b-1,out/b-2" for several runs of one system',
                found=describe(path),
                advice='name the predictions: compare("a.jsonl", "b.jsonl", gold="gold.jsonl")',
            )
    return [str(path) for path in paths]


def _listed(given: Any) -> list[str]:
    if given is None:
        return []
    return [str(path) for path in given] if isinstance(given, (list, tuple)) else [str(given)]
