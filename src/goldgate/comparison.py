"""Compare systems by their stored runs, or by predictions that are scored first.

The result says which system is better, by how much, how certain that is, and on which units they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import count, islice
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from goldgate.core.evaluation import SHOWN_METRICS, DataFrameLibrary, make_dataframe, render_json
from goldgate.core.suite import GOLD, PREDICTIONS, Suite
from goldgate.errors import EXIT_PASSED, ConfigError, InputError, Place, describe_value, did_you_mean
from goldgate.pipeline import evaluate_suite
from goldgate.protocol import ProtocolSource
from goldgate.readers.stored_result import REPORT, StoredResult, load_result
from goldgate.runs.differences import (
    ComparedRate,
    compared_averages,
    compared_estimates,
    compared_rates,
    sum_runs_by_system,
)
from goldgate.runs.measurements import (
    ComparedSystems,
    Measurements,
    UnitChanges,
    require_comparable_runs,
    summarize_places,
)
from goldgate.runs.paired_units import JointUnits, join_results
from goldgate.runs.power import DifferenceSpread, ObservedSpreads
from goldgate.runs.sources import SystemSource, find_systems, require_predictions, require_results
from goldgate.stats.interval import LEVEL, POWER
from goldgate.stats.paired import PairedSums, paired_sums
from goldgate.suites import all_suites, recognize_suite

if TYPE_CHECKING:
    from goldgate.core.contracts import ComparedValue
    from goldgate.runs.contracts import ComparedRun, ComparisonReport, LeftOutUnits, MissingAnswers


def load_run(folder: str) -> StoredResult:
    """The result in a folder, whatever suite it is of, with the records of its units."""
    require_results([SystemSource(folder, (folder,))])
    result = load_result(Path(folder), all_suites(), folder)
    result.require_records()
    return result


FORMAT_VERSION = 1  # of comparison.json
SHOWN_IDS = 5
SHOWN_CHANGES = 10
# Of a data frame, in the words of comparison.json; `value`, `low` and `high` are those of the difference.
COMPARISON_COLUMNS = tuple(
    "metric system against value low high p p_adjusted adjustment wins ties losses units detectable reason".split()
)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """The comparison as plain values (comparison.json), and the units that changed."""

    exit_status: ClassVar[int] = EXIT_PASSED  # it is not a gate
    report: Any  # a ComparisonReport; for callers, who read it by their own keys, plain values
    changes: UnitChanges

    def to_json(self) -> str:
        """The bytes of comparison.json, as text."""
        return render_json(self.report).decode()

    def changed_lines(self) -> Iterator[bytes]:
        """The lines of changed.jsonl, the largest change first."""
        return (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in self.changes.lines())

    def __getitem__(self, metric: str) -> dict[str, Any]:
        """The comparison of a metric; of several systems, that of the first one."""
        for entry in self.report["comparisons"]:
            if entry["metric"] == metric:
                return dict(entry)
        metrics = dict.fromkeys(entry["metric"] for entry in self.report["comparisons"])
        raise KeyError(f"no comparison of {metric!r}; {did_you_mean(metric, metrics) or ', '.join(metrics)}")

    def __repr__(self) -> str:
        """One line: the systems, and the differences of the first few metrics."""
        entries = self.report["comparisons"]
        values = [f"{entry['metric']} {_signed(entry['difference'])}" for entry in entries[:SHOWN_METRICS]]
        more = ["…"] if len(entries) > SHOWN_METRICS else []
        names = ", ".join(system["name"] for system in self.report["systems"])
        return f"<Comparison: {self.report['suite']} {names}; {', '.join([*values, *more])}>"

    def to_dataframe(self, library: DataFrameLibrary = "pandas") -> Any:
        """A row for each metric of each system: its difference to the reference, with the ends of its interval."""
        rows = [{**entry, **(entry["difference"] or {})} for entry in self.report["comparisons"]]
        return make_dataframe(rows, COMPARISON_COLUMNS, library)

    def _repr_html_(self) -> str:
        """The comparison's page, for notebooks."""
        # Results are below the renderers in the order of imports, hence by name.
        html: str = import_module("goldgate.report.html").render_comparison(self.report)
        return html


def _signed(difference: Mapping[str, Any] | None) -> str:
    return "n/a" if difference is None else f"{difference['value']:+.4f}"


def compare(
    *systems: str | Path | Sequence[str | Path],
    gold: str | Path | Sequence[str | Path] | None = None,
    schema: str | Path | Mapping[str, Any] | None = None,
    protocol: ProtocolSource = None,
    suite: str | None = None,
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
        find_systems(_paths(systems)),
        gold=_path_list(gold),
        schema=[schema] if isinstance(schema, Mapping) else _path_list(schema),
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
    suite: str | None = None,
    against: str | None = None,
    common: bool = False,
    workers: int = 1,
    reading: Mapping[str, str | None] = MappingProxyType({}),
) -> Comparison:
    """Like `compare`, for systems that `find_systems` found. `reading` are inputs that say how files are read."""
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
            require_results(sources)  # all of them, before the first is read
            runs = [[load_run(path) for path in source.paths] for source in sources]
        else:
            require_predictions(sources)
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="goldgate-")))
            scoring = _find_suite(suite or recognize_suite("check", gold[0]), inputs)
            runs = _score_sources(sources, scoring, {"gold": gold, **inputs}, protocol, folder, workers)
        return _make_comparison(_systems(sources, runs, against), common)


def _find_suite(name: str | None, inputs: Iterable[str]) -> Suite:
    """The suite that scores predictions by gold: the first that does, unless one is named."""
    able = [each for each in all_suites() if {GOLD.name, PREDICTIONS.name} <= {input.name for input in each.inputs}]
    suite = next((each for each in able if name in (None, each.name)), None)
    if suite is None:
        raise ConfigError(
            "compare.unknown_suite",
            "no suite of this name scores predictions by gold",
            expected=", ".join(each.name for each in able),
            found=name,
            advice=did_you_mean(name or "", [each.name for each in able]),
        )
    for unknown in [each for each in inputs if each not in {declared.name for declared in suite.inputs}]:
        option = unknown.replace("_", "-")
        raise ConfigError(
            f"compare.no_{unknown}", f"the {suite.name} suite takes no {option}", advice=f"leave out --{option}"
        )
    return suite


def _score_sources(
    sources: Sequence[SystemSource],
    suite: Suite,
    inputs: Mapping[str, Sequence[str]],
    protocol: ProtocolSource,
    folder: Path,
    workers: int,
) -> list[list[StoredResult]]:
    """Every predictions file scored; what a comparison needs of its result goes to the folder."""
    runs: list[list[StoredResult]] = []
    numbers = count(1)
    for source in sources:
        runs.append([])
        for path in source.paths:
            target = folder / str(next(numbers))
            target.mkdir()
            with open(target / suite.records, "xb") as stream:
                every_input = {**inputs, "predictions": [path]}
                evaluation = evaluate_suite(suite, every_input, protocol, workers=workers, records=stream)
            (target / REPORT).write_bytes(render_json(evaluation.report))
            runs[-1].append(load_result(target, [suite], path))
    return runs


def _systems(
    sources: Sequence[SystemSource], runs: Sequence[Sequence[StoredResult]], against: str | None
) -> ComparedSystems:
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
    return ComparedSystems(tuple(everything), places, reference)


def _make_comparison(systems: ComparedSystems, common: bool) -> Comparison:
    runs = systems.runs
    require_comparable_runs(runs, other_gold=common)
    suite = runs[0].suite
    rates = compared_rates(suite, runs[0].measured_by)
    estimates = compared_estimates(suite, runs[0].measured_by)
    headline = [name for name in suite.headline if name in rates or name in estimates]
    watched = _first_defined([name for name in headline if name in rates], runs)
    averages = compared_averages(suite)
    averaged = next((rate.table for rate in averages.values()), None)
    if len(runs) > len(systems.places):
        averaged = None  # how parts go together is not looked at where systems have several runs
    joined = _join(runs, rates, rates[watched].table, averaged)
    changes = UnitChanges(rates[watched], joined, systems)
    left_out = _units_left_out(systems, joined, common)
    if not joined.lacking:
        _require_sums_of_reports(runs, joined, rates)
    unit, gold = _unit_name(joined, suite), runs[0].digests(judged=False)
    measured = Measurements(rates, averages, estimates, headline, joined, systems, unit)
    report: ComparisonReport = {
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
        "gold": gold,
        "same_gold": all(run.digests(judged=False) == gold for run in runs),
        "left_out": left_out,
        "systems": measured.systems({name: _origin(systems, name) for name in systems.places}),
        "comparisons": measured.comparisons(),
        "parts": measured.parts(),
        "changed": {"metric": watched, "units": changes.counts(), "first": [*islice(changes.lines(), SHOWN_CHANGES)]},
        "error": None,
    }
    return Comparison(report, changes)


def _first_defined(headline: Sequence[str], runs: Sequence[StoredResult]) -> str:
    """The first main metric that every run has: where nothing has arguments, what changed are the types."""
    for name in headline:
        if all(name in run.metrics and run.metrics[name]["value"] is not None for run in runs):
            return name
    return headline[0]


def _units_left_out(systems: ComparedSystems, joined: JointUnits, common: bool) -> list[LeftOutUnits]:
    """What only some runs have: refused, or left out if that was asked for."""
    left_out: list[LeftOutUnits] = [
        {"system": name, "lacks": len(ids), "first": sorted(ids)[:SHOWN_IDS]}
        for name, places in systems.places.items()
        for index, ids in sorted(joined.lacking.items())
        if index in places
    ]
    if left_out and not common:
        first = min(joined.lacking)
        raise InputError(
            "compare.missing_ids",
            "records are missing that another system has",
            place=Place(systems.runs[first].label),
            expected=f"a record for each {systems.runs[0].suite.unit} of the gold",
            found=f"{len(joined.lacking[first])} missing: {', '.join(sorted(joined.lacking[first])[:SHOWN_IDS])}",
            advice="score both with the same gold; --common compares what both have",
        )
    return left_out


def _require_sums_of_reports(
    runs: Sequence[StoredResult], joined: JointUnits, rates: Mapping[str, ComparedRate]
) -> None:
    """The records must give the numbers of the report beside them."""
    for place, run in enumerate(runs):
        for name, rate in rates.items():
            sums = joined.run_sums((rate.table,), rate.form, place)
            run.require_sums(name, sums.a, sums.b)


def _origin(systems: ComparedSystems, name: str) -> list[ComparedRun]:
    """The inputs of a system's runs, and answers that are missing; those count as wrong."""
    origins: list[ComparedRun] = []
    for run in (systems.runs[n] for n in systems.places[name]):
        missing, metric = run.missing(), run.metrics.get("missing_predictions")
        number = metric["value"] if metric is not None and isinstance(metric["value"], int) else len(missing)
        absent: MissingAnswers = {"count": number, "first": missing[:SHOWN_IDS]}
        origins.append({"inputs": run.digests(judged=True), "asked": run.asked, "missing": absent})
    return origins


def _paths(systems: tuple[Any, ...]) -> list[str]:
    """The systems, one by one or as one list."""
    paths = systems[0] if len(systems) == 1 and isinstance(systems[0], (list, tuple)) else systems
    for path in paths:
        if not isinstance(path, (str, Path)):
            raise ConfigError(
                "compare.wrong_type",
                "compare takes the paths of result folders, or with gold of predictions files",
                expected='compare("a", "b"), or "b=out/b-1,out/b-2" for several runs of one system',
                found=describe_value(path),
                advice='name the predictions: compare("a.jsonl", "b.jsonl", gold="gold.jsonl")',
            )
    return [str(path) for path in paths]


def _path_list(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(path) for path in value] if isinstance(value, (list, tuple)) else [str(value)]


def summarize_run_folders(folders: Sequence[str]) -> dict[str, ComparedValue]:
    """Each rate of the runs in these folders, which are of one suite and one gold."""
    runs = [load_run(folder) for folder in folders]
    rates = compared_rates(runs[0].suite, runs[0].measured_by)
    joined = _join(runs, rates)
    places, unit = range(len(runs)), _unit_name(joined, runs[0].suite)
    return {
        name: summarize_places(joined.pairs((rate.table,), rate.form), places, rate.share, unit)
        for name, rate in rates.items()
    }


def observed_spread(folder: str, other: str) -> ObservedSpreads:
    """The spread of every rate over the pairs of both results; an error if they were not scored alike."""
    runs = [load_run(folder), load_run(other)]
    require_comparable_runs(runs)
    rates = compared_rates(runs[0].suite, runs[0].measured_by)
    joined = _join(runs, rates)
    if not joined.units:
        raise InputError("power.nothing_in_common", "the two results have no unit in common", place=Place(other))
    spreads = {}
    for name, rate in rates.items():
        pairs = joined.pairs((rate.table,), rate.form)
        spreads[name] = _difference_spread(paired_sums(sum_runs_by_system(pairs, [0], [1])))
    return ObservedSpreads(spreads, _unit_name(joined, runs[0].suite), joined.units)


def _join(
    runs: Sequence[StoredResult],
    rates: Mapping[str, ComparedRate],
    watched: str | None = None,
    averaged: str | None = None,
) -> JointUnits:
    """The units of all runs, joined by identity, in the tables that the rates are made of."""
    widths = {rate.table: len(rate.columns) for rate in rates.values()}
    return join_results(runs, widths, watched or next(iter(widths)), averaged)


def _unit_name(joined: JointUnits, suite: Suite) -> str:
    return "group" if joined.is_grouped else suite.pairing.unit or suite.unit


def _difference_spread(sums: PairedSums) -> DifferenceSpread | str:
    variance, one, two = sums.variance, sums.first.variance, sums.second.variance
    if variance is None:
        return "one of the two rates has less than two units, or nothing to divide by"
    if variance == 0:
        return "the two systems differ alike in every unit, so they show no spread to plan with"
    together = None
    if one and two:
        together = float(one + two - variance) / (2 * sqrt(one * two))
    return DifferenceSpread(sqrt(variance), sums.units, together)
