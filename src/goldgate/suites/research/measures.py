"""The measures of the research suite, and its safeguards against misleading passes.

Each measure counts trials: runs of a golden query, missing runs, runs that match no query. A new one is a class here
and a line in `research_measures`, in the order of the report. The safeguards are about gates that pass only because
runs, copies or claims were added or left out. The record of a trial in runs.jsonl is made here too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import fsum, sqrt
from types import MappingProxyType
from typing import NamedTuple

from goldgate.core.finding import Finding, limit_length
from goldgate.core.gate import Gate, GateResult, Verdict, check_gate, counts_text
from goldgate.core.measure import NO_TOTALS, RatioMeasure, count_unit, over, table_forms
from goldgate.core.metric import Estimate, Metrics, Rate, format_number
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts, RatioSums, pair_sums
from goldgate.core.tally import TableKey, Tally, UnitCounts
from goldgate.stats.gates import judge_gates
from goldgate.stats.label_counts import COLUMNS, GATE_CONFIDENCE, PRODUCT_COLUMNS, ZEROS, LabelColumns, estimate_rate
from goldgate.suites.research.contracts import RunValue, TrialOfQuery
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run import RunFacts
from goldgate.suites.research.run.claims import ABSTAINED
from goldgate.suites.research.suite import ALARMS, DEFAULT_GATES, ResearchSettings


class TrialReading(NamedTuple):
    """A way to take a metric: whether copies of runs count, and whether runs that match no query do not."""

    with_copies: bool = False
    only_queries: bool = False

    def words(self, readings: Collection[TrialReading]) -> str:
        """What tells it from others: `with copies merged`, `without runs that match no query`."""
        differs = [len({*values}) > 1 for values in zip(*readings, strict=True)]
        copies = "every copy counted" if self.with_copies else "copies merged"
        others = "without runs that match no query" if self.only_queries else "with runs that match no query"
        return " and ".join([f"with {copies}"] * differs[0] + [others] * differs[1])


BASE_READING = TrialReading()
TrialReadings = Mapping[str, TrialReading]  # by metric; one that is not there is taken with copies merged and all runs


class WorstReading(NamedTuple):
    """The reading of a metric that is worst for it, and words for that beside the best of the others."""

    reading: TrialReading
    words: str


class Trial(NamedTuple):
    """What measures count. At least one of query and run is there; `times` is for trials that are not.

    Copies of a run are one unit with it, so that they never narrow an interval. `weights` says how often the unit
    counts with copies merged and with every copy counted, and `readings` in which way each metric is taken.
    """

    query: Query | None
    run: RunFacts | None
    times: int = 1
    findings: tuple[str, ...] = ()  # the codes of what was found in the run, each once
    weights: tuple[int, int] = (1, 1)
    readings: TrialReadings = MappingProxyType({})
    labels: Counts | None = None  # of its claims, as they are counted; None: there are none

    @property
    def evaluated(self) -> RunFacts | None:
        """The run, if it is there and not broken: only such a run can add to a numerator of ids or abstentions."""
        return self.run if self.run is not None and self.run.broken is None else None

    def weight(self, metric: str) -> int:
        """How often the trial counts in a metric."""
        reading = self.readings.get(metric, BASE_READING)
        is_of_no_query = self.run is not None and self.run.is_of_no_query
        return 0 if reading.only_queries and is_of_no_query else self.weights[reading.with_copies]


def trial_record(trial: Trial) -> TrialOfQuery:
    """The run of a trial with its objective; for trials that a query owes and has not, how many they are."""
    query = trial.query
    if trial.run is None:
        assert query is not None  # what is owed is owed by a query
        asked = limit_length(query.objective)
        return {"run": None, "objective": asked, "query_id": query.id, "status": "missing", "trials": trial.times}
    objective = query.objective if query is not None else trial.run.objective
    return {
        **run_entry(trial.run, query, trial.weights[1] - 1),
        "objective": None if objective is None else limit_length(objective),
        "query_id": None if query is None else query.id,
        "uncovered_claims": [*trial.run.uncovered],
        "missing_ids": [*trial.run.missing_ids],
        "failures": dict(trial.run.failures),
        "findings": [*trial.findings],
        "sha256": trial.run.digest.hex() or None,
    }


def run_entry(run: RunFacts, query: Query | None, copies: int = 0) -> RunValue:
    """The counts of a run, and how many copies of it there are, if any."""
    entry: RunValue = {
        "run": run.name,
        "run_id": None if run.run_id is None else limit_length(run.run_id),
        "query": None if query is None else run.query,
        "status": "evaluated" if run.broken is None else "broken",
        "reason": run.broken,
        "stop_reason": None if run.stop_reason is None else limit_length(run.stop_reason),
        "verified_claims": run.verified,
        "covered_claims": run.covered,
        "required_ids": 0 if query is None else len(query.required),
        "found_ids": run.found_ids,
        "ledger": run.ledger,
        "uncited": run.uncited,
        "structural": run.structural,
        "verbatim": run.verbatim,
        "chain": run.chain,
        "anchored": run.anchored,
        "steps": run.steps,
        "steps_with_manifest": run.with_manifest,
        "fingerprint": run.fingerprint.hex() or None,
    }
    if run.objective is not None:
        entry["unknown_objective"] = limit_length(run.objective)
    return {**entry, "copies": copies} if copies else entry


class TrialMeasure(RatioMeasure[Trial]):
    """Counts trials; those that are not there are as many units as there should be."""

    def count(self, trial: Trial) -> UnitCounts:
        counts = self.row(trial)
        if counts is None:
            return {}
        if trial.readings:
            metrics = zip(counts, self._metric_of_column, strict=True)
            counts = tuple([count * trial.weight(metric) for count, metric in metrics])
        return {self.key: counts}

    @cached_property
    def _metric_of_column(self) -> list[str]:
        """The metric that each column is counted for: no two share one."""
        owners = {column: name for name, ratio in self.ratios.items() for column in ratio.numerator}
        owners |= {column: name for name, ratio in self.ratios.items() for column in ratio.denominator}
        return [owners[column] for column in self.columns]


def trial_metrics(trials: Iterable[Trial], measures: Sequence[Measure[Trial]]) -> Metrics:
    """Every metric over these trials."""
    tally = Tally(table_forms(measures))
    for trial in trials:
        tally.add(count_unit(measures, trial, tally), times=trial.times)
    return {name: metric for measure in measures for name, metric in measure.metrics(tally).items()}


class EvidenceCoverage(TrialMeasure):
    """A broken run's claims stay in the denominator and are never covered; where none can be read, it has one."""

    table = "claims"
    columns = ("covered", "verified")
    ratios = {"evidence_coverage_rate": over("covered", "verified", "no run has a verified claim")}

    def row(self, trial: Trial) -> Counts | None:
        if trial.run is None:
            return None
        return trial.run.covered if trial.evaluated is not None else 0, trial.run.verified


class GoldenRecall(TrialMeasure):
    """Over every query and trial; a missing or broken trial finds none, and its ids stay in the denominator."""

    table = "ids"
    columns = ("found", "required")
    ratios = {"golden_recall": over("found", "required", "no query requires an id")}

    def row(self, trial: Trial) -> Counts | None:
        if trial.query is None:
            return None
        return trial.evaluated.found_ids if trial.evaluated is not None else 0, len(trial.query.required)


class Abstention(TrialMeasure):
    """Over trials of queries without sufficient evidence. Running out of budget is no abstention."""

    table = "abstention"
    columns = ("right", "asked")
    ratios = {"abstention_accuracy": over("right", "asked", "no query is labeled as evidence-insufficient")}

    def row(self, trial: Trial) -> Counts | None:
        if trial.query is None or trial.query.sufficient:
            return None
        run = trial.evaluated
        return int(run is not None and run.stop_reason == ABSTAINED and not run.verified), 1


_NOT_KEPT = "research.manifests is not_kept: this agent keeps none"


class ManifestIntegrity(TrialMeasure):
    """Steps with a manifest / steps that logs and outputs show, and gaps; steps of broken runs count as well."""

    table = "steps"
    columns = ("with_manifest", "steps")
    ratios = {"manifest_integrity": over("with_manifest", "steps", "no run has a step")}

    def __init__(self, *, kept: bool = True) -> None:
        self.kept = kept

    def row(self, trial: Trial) -> Counts | None:
        return None if trial.run is None else (trial.run.with_manifest, trial.run.steps)

    def totals(self, trial: Trial) -> Mapping[str, int]:
        return NO_TOTALS if trial.run is None else {"torn_logs": trial.run.torn}

    def metrics(self, tally: Tally) -> Metrics:
        return super().metrics(tally) if self.kept else {"manifest_integrity": Rate(0, 0, _NOT_KEPT)}


COMPLETION_METRIC = "run_completion_rate"


class CompanionRates(TrialMeasure):
    """Rates beside the four main ones: they show an agent that files the whole corpus, or always abstains.

    false_abstention_rate = sufficient trials that stop with NO_EVIDENCE / sufficient trials with a stop reason.
    cited_golden_recall = required ids that verified claims cite, as valid records / required ids.
    ledger_precision = required ids found / ledger records, over sufficient trials.
    run_completion_rate = trials neither missing nor broken / trials.
    uncited_evidence_rate = ledger records that no verified claim cites / ledger records.
    """

    section = "companions"
    table = "companions"
    columns = (
        *("false_abstentions", "sufficient_stops", "cited", "required"),
        *("sufficient_found", "sufficient_ledger", "uncited", "ledger"),
    )
    ratios = {
        "false_abstention_rate": over(
            "false_abstentions", "sufficient_stops", "no run of a sufficient query has ended"
        ),
        "cited_golden_recall": over("cited", "required", "no query requires an id"),
        "ledger_precision": over("sufficient_found", "sufficient_ledger", "no run of a sufficient query has a ledger"),
        "uncited_evidence_rate": over("uncited", "ledger", "no run has an evidence record"),
    }

    def row(self, trial: Trial) -> Counts:
        query, run, evaluated = trial.query, trial.run, trial.evaluated
        sufficient = query is not None and query.sufficient and run is not None
        ended = sufficient and run is not None and run.stop_reason is not None
        return (
            int(ended and run is not None and run.stop_reason == ABSTAINED),
            int(ended),
            evaluated.cited if evaluated is not None and query is not None else 0,
            len(query.required) if query is not None else 0,
            evaluated.found_ids if sufficient and evaluated is not None else 0,
            run.ledger if sufficient and run is not None else 0,
            run.uncited if run is not None else 0,
            run.ledger if run is not None else 0,
        )

    def totals(self, trial: Trial) -> Mapping[str, int]:
        run, weight = trial.run, trial.weight(COMPLETION_METRIC)
        if trial.query is None:
            broken = run is not None and run.broken is not None and run.objective is None
            return {"broken_without_query": weight} if broken else NO_TOTALS  # its query is not known
        if run is None:
            return {"missing_trials": trial.times * weight}
        squares = weight * (weight - 1)
        totals = {"trials": trial.times * weight, "copies": weight - 1, "squares_of_copies": squares}
        if trial.evaluated is not None:
            totals |= {"completed_trials": weight, "completed_squares_of_copies": squares}
        return totals

    def metrics(self, tally: Tally) -> Metrics:
        counts, rates = tally.counts, super().metrics(tally)
        # A broken run that does not say its query may be the one that a missing query lacks: counted once.
        trials = counts["trials"] + max(counts["missing_trials"], counts["broken_without_query"])
        completed = counts["completed_trials"]
        squares = counts["completed_squares_of_copies"]
        of_copies = RatioSums(-counts["copies"], aa=squares, ab=squares, bb=counts["squares_of_copies"])
        sums = pair_sums({(1, 1): completed, (0, 1): trials - completed}) + of_copies  # a run and its copies: one unit
        completion = Rate(completed, trials, "there are no trials", sums)
        uncited = rates.pop("uncited_evidence_rate")  # the last in the report
        return {**rates, COMPLETION_METRIC: completion, "uncited_evidence_rate": uncited}


SUPPORT_METRIC = "claim_support_rate"
UNDEFINED_SUPPORT = Estimate(None, "no labels of claims were given", gate_confidence=GATE_CONFIDENCE)


class SupportedClaims(TrialMeasure):
    """Verified claims that people would find supported by what they quote / verified claims. A run is the group.

    Copies of a run are one run here: they have no labels of their own.
    """

    section = "companions"
    table = "support"
    columns = (*COLUMNS, ZEROS)
    multiplied = (*PRODUCT_COLUMNS, ZEROS)
    estimates = {SUPPORT_METRIC: str(UNDEFINED_SUPPORT.reason)}

    def row(self, trial: Trial) -> Counts | None:
        return trial.labels

    def count(self, trial: Trial) -> UnitCounts:
        return {} if trial.labels is None or not trial.weight(SUPPORT_METRIC) else {self.key: trial.labels}

    def totals(self, trial: Trial) -> Mapping[str, int]:
        return NO_TOTALS if trial.labels is not None else {"unlabelled_trials": 1}

    def metrics_of(self, tally: Tally, key: TableKey) -> Metrics:
        """Nothing where trials were counted, by this measure or, in stored records, by others, and none has labels."""
        table = tally.tables.get(key)
        if table is None:
            counted = tally.tables or tally.counts["unlabelled_trials"]
            return {} if counted else {SUPPORT_METRIC: UNDEFINED_SUPPORT}
        rate = estimate_rate(LabelColumns(table), groups="runs")
        if isinstance(rate, str):
            return {SUPPORT_METRIC: replace(UNDEFINED_SUPPORT, reason=rate)}
        return {SUPPORT_METRIC: rate.estimate()}


def research_measures(settings: ResearchSettings) -> list[Measure[Trial]]:
    """Every measure under these settings."""
    return [
        EvidenceCoverage(),
        GoldenRecall(),
        Abstention(),
        ManifestIntegrity(kept=settings.manifests == "required"),
        CompanionRates(),
        SupportedClaims(),
    ]


# Rates over claims and steps, of which one run can have any number and a trial that is not there has none.
RATES_OVER_PARTS: dict[str, tuple[TrialMeasure, str]] = {
    "evidence_coverage_rate": (EvidenceCoverage(), "verified claims"),
    "manifest_integrity": (ManifestIntegrity(), "steps"),
}
_LESS_IS_BETTER = frozenset(name for name, gate in ALARMS.items() if gate.max is not None)

_EMPTY_SHARE = 20  # of 20 verified claims one may be empty: without it, 0.95 are still covered
_MIN_RUNS = 4  # that show whether they differ as chance would have it
_LOWER_DEVIATIONS = 2.326  # standard deviations: one in a hundred sets of honest runs differs less


def worst_readings(metrics: Mapping[TrialReading, Metrics]) -> dict[str, WorstReading]:
    """The metrics that differ between readings, each with the one that counts: the worst, of equal ones the first.

    No metric gains by copies of runs, by merging them, or by runs that match no query. Undefined is as bad as can be.
    """
    worst = {}
    for name in next(iter(metrics.values())):
        exact = {reading: values[name].exact for reading, values in metrics.items()}
        scores = {
            reading: 0 if value is None else 1 - value if name in _LESS_IS_BETTER else value
            for reading, value in exact.items()
        }
        first, best = min(scores, key=scores.__getitem__), max(scores, key=scores.__getitem__)
        if exact[first] != exact[best]:
            words = f"{first.words(metrics)}; {best.words(metrics)} it is {counts_text(metrics[best][name])}"
            worst[name] = WorstReading(first, words)
    return worst


def note_readings(metrics: Metrics, worst: Mapping[str, WorstReading]) -> Iterator[Finding]:
    """Metrics of which another reading would be better."""
    for name, (_, words) in worst.items():
        section = "companions" if name not in DEFAULT_GATES else "main"
        message = f"{name} is {counts_text(metrics[name])} {words}: the worse counts"
        yield Finding("worse_reading", "warning", "", None, f"/metrics/{section}/{name}", message)


def require_pass_also(results: list[GateResult], metrics: Metrics, condition: str) -> list[GateResult]:
    """The results; where a gate would not pass with these metrics, theirs. `condition` says which they are."""
    others = judge_gates({result.metric: result.gate for result in results}, metrics, unit="run")
    return [
        overruled(result, f"{condition} {other.reason}", other.verdict)
        if result.verdict is Verdict.PASS and other.verdict is not Verdict.PASS
        else result
        for result, other in zip(results, others, strict=True)
    ]


def overruled(result: GateResult, reason: str, verdict: Verdict = Verdict.FAIL) -> GateResult:
    """The result with another verdict, and one more reason."""
    return replace(result, verdict=verdict, reason=f"{result.reason}; {reason}")


def fail_uneven_queries(results: list[GateResult], trials: Sequence[Trial]) -> list[GateResult]:
    """The results, with FAIL where the claims or steps of queries with more runs outweigh those with fewer.

    A trial that is missing has no claims and no steps: without this, more runs of the easy queries, or copies of them,
    would raise both rates. Each query weighs the same here, whatever the number of its runs.
    """
    even_results = []
    for result in results:
        name, gate = result.metric, result.gate
        if result.verdict is Verdict.PASS and name in RATES_OVER_PARTS:
            rate = _even_rate(trials, name)
            by_value = check_gate(name, Gate(gate.min, gate.max, gate.equals), rate) if rate.denominator else result
            if by_value.verdict is Verdict.FAIL:
                reason = f"{by_value.reason} with the same weight for every query; with the same for every run it is "
                reason += counts_text(result.measured, gate)
                result = replace(result, verdict=Verdict.FAIL, measured=rate, reason=reason)
        even_results.append(result)
    return even_results


def _even_rate(trials: Iterable[Trial], name: str) -> Rate:
    """A rate in which each query weighs the same: the sums of its runs, divided by their number."""
    queries: dict[str, list[int]] = {}
    measure, _ = RATES_OVER_PARTS[name]
    for trial in trials:
        counts = measure.row(trial)
        if counts is not None and trial.query is not None:
            sums = queries.setdefault(trial.query.objective, [0, 0, 0])
            for place, count in enumerate((*counts, 1)):
                sums[place] += count * trial.weight(name)
    part = sum((Fraction(part, runs) for part, _, runs in queries.values()), Fraction(0))
    whole = sum((Fraction(whole, runs) for _, whole, runs in queries.values()), Fraction(0))
    return Rate(*(part / whole).as_integer_ratio()) if whole else Rate(0, 0)


def fail_unknown_claims(results: list[GateResult], runs: Sequence[RunFacts]) -> list[GateResult]:
    """The results, with FAIL for Evidence Coverage while the claims of a run cannot be read.

    They may be any number: a lost file would hide fifty uncovered claims at the price of one.
    """
    unknown = [run.name for run in runs if run.claims_unknown]
    if not unknown:
        return results
    more = f" and of {len(unknown) - 1} more" if len(unknown) > 1 else ""
    words = f"the claims of {limit_length(unknown[0])}{more} cannot be read: the coverage is not known"
    return [overruled(result, words) if result.metric == "evidence_coverage_rate" else result for result in results]


def note_nothing_stored(runs: Sequence[RunFacts]) -> Iterator[Finding]:
    """Runs that store no text, among others that do: what is not stored cannot be refuted."""
    checked = [run for run in runs if run.broken is None and run.structural + run.verbatim + run.chain + run.anchored]
    bare = [run for run in checked if not run.verbatim + run.chain + run.anchored]
    if bare and len(bare) < len(checked):
        message = (
            f"{len(bare)} of {len(checked)} runs with evidence store none of its text, {bare[0].name} among them: "
            f"{sum(run.structural for run in bare)} record(s) were checked for their form only "
            "(require_verbatim makes them fail)"
        )
        yield Finding("nothing_stored", "warning", "", None, "/evidence/levels", message)


def note_uneven_runs(results: Iterable[GateResult], runs: Sequence[RunFacts]) -> Iterator[Finding]:
    """A gate that passes over all claims or steps, and would not if every run counted the same."""
    for gate in results:
        if gate.metric not in RATES_OVER_PARTS or gate.verdict is not Verdict.PASS:
            continue
        measure, words = RATES_OVER_PARTS[gate.metric]
        counts = [measure.row(Trial(None, run)) or (0, 0) for run in runs]
        shares = [part / whole for part, whole in counts if whole]
        mean = Decimal(f"{fsum(shares) / len(shares):.6f}") if shares else Decimal(1)
        least = max((bound for bound in (gate.gate.min, gate.gate.equals) if bound is not None), default=Decimal(0))
        if mean < least:
            average = format_number(Fraction(mean), limits=gate.gate.limits())
            message = (
                f"{gate.metric} is {gate.measured} over all {words}, and {average} on average over runs: "
                "a few runs with many of them carry the gate"
            )
            yield Finding("uneven_runs", "warning", "", None, f"/metrics/main/{gate.metric}", message)


def note_empty_evidence(runs: Sequence[RunFacts]) -> Iterator[Finding]:
    """More than 5 % of the verified claims covered in form only: without them the coverage would be below 0.95."""
    empty, verified = sum(run.empty for run in runs), sum(run.verified for run in runs)
    if empty * _EMPTY_SHARE > verified:
        number = sum(run.empty > 0 for run in runs)
        message = (
            f"{empty} of {verified} verified claims, in {number} of {len(runs)} runs, say nothing or rest on quotes "
            "that say nothing (function words, boilerplate, whole chunks): they count as covered"
        )
        yield Finding("empty_evidence", "warning", "", None, "/metrics/main/evidence_coverage_rate", message)


def note_uniform_dilution(results: Iterable[GateResult], runs: Sequence[RunFacts]) -> Iterator[Finding]:
    """Coverage that passes, with uncovered claims spread more evenly over the runs than chance would spread them.

    The statistic is that of a chi-square test of homogeneity; its lower 1 % is by Wilson and Hilferty.
    """
    passes = any(gate.metric == "evidence_coverage_rate" and gate.verdict is Verdict.PASS for gate in results)
    claims = [(run.verified - run.covered, run.verified) for run in runs if run.verified and run.broken is None]
    uncovered, verified = (sum(column) for column in zip(*claims, strict=True)) if claims else (0, 0)
    if not passes or len(claims) < _MIN_RUNS or not 0 < uncovered < verified:
        return
    share = uncovered / verified
    spread = fsum((missed - of_run * share) ** 2 / (of_run * share * (1 - share)) for missed, of_run in claims)
    freedom = len(claims) - 1
    least = freedom * max(0.0, 1 - 2 / (9 * freedom) - _LOWER_DEVIATIONS * sqrt(2 / (9 * freedom))) ** 3
    if spread < least:
        message = (
            f"{uncovered} of {verified} verified claims are uncovered, and they are spread over {len(claims)} runs "
            "more evenly than by chance: is the same share of them hidden among others in every run?"
        )
        yield Finding("uniform_dilution", "warning", "", None, "/metrics/main/evidence_coverage_rate", message)
