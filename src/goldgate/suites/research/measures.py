"""The measures of the research suite. Each counts trials: runs of a golden query, missing runs, runs of no query.

A new measure is a class here and a line in `research_measures`, in the order of the report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from goldgate.core.measure import NO_TOTALS, RatioMeasure, count_unit, over, table_forms
from goldgate.core.metric import Estimate, Metrics, Rate
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts, RatioSums, pair_sums
from goldgate.core.tally import TableKey, Tally, UnitCounts
from goldgate.stats.label_counts import COLUMNS, GATE_CONFIDENCE, PRODUCT_COLUMNS, ZEROS, LabelColumns, find_rate
from goldgate.suites.research.golden import Query
from goldgate.suites.research.run.claims import ABSTAINED
from goldgate.suites.research.run.facts import RunFacts
from goldgate.suites.research.suite import ResearchSettings


class Trial(NamedTuple):
    """What measures count. At least one of query and run is there; `times` is for trials that are not.

    Copies of a run are one unit with it, so that they never narrow an interval. `weights` says how often the unit
    counts with copies merged and with every copy counted, and `copy_metrics` which metrics are taken in the second way.
    """

    query: Query | None
    run: RunFacts | None
    times: int = 1
    findings: tuple[str, ...] = ()  # the codes of what was found in the run, each once
    weights: tuple[int, int] = (1, 1)
    copy_metrics: frozenset[str] = frozenset()
    labels: Counts | None = None  # of its claims, as they are counted; None: there are none

    @property
    def evaluated(self) -> RunFacts | None:
        """The run, if it is there and not broken: only such a run can add to a numerator of ids or abstentions."""
        return self.run if self.run is not None and self.run.broken is None else None

    def weight(self, metric: str) -> int:
        """How often the trial counts in a metric."""
        return self.weights[metric in self.copy_metrics]


class TrialMeasure(RatioMeasure[Trial]):
    """Counts trials; those that are not there are as many units as there should be."""

    def count(self, trial: Trial) -> UnitCounts:
        counts = self.row(trial)
        if counts is None:
            return {}
        if trial.weights != (1, 1):
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
    """Steps are those that logs and outputs show, and the gaps; a broken run's steps count like any other's."""

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


class Companions(TrialMeasure):
    """false_abstention_rate = sufficient trials that stop with NO_EVIDENCE / sufficient trials with a stop reason.
    cited_golden_recall = required ids that verified claims cite, as valid records / required ids.
    ledger_precision = required ids found / ledger records, over sufficient trials.
    run_completion_rate = trials neither missing nor broken / trials.
    uncited_evidence_rate = ledger records that no claim (other than a retracted one) cites / ledger records.
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
            return {"broken_strangers": weight} if broken else NO_TOTALS  # its query is not known
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
        trials = counts["trials"] + max(counts["missing_trials"], counts["broken_strangers"])
        completed = counts["completed_trials"]
        squares = counts["completed_squares_of_copies"]
        of_copies = RatioSums(-counts["copies"], aa=squares, ab=squares, bb=counts["squares_of_copies"])
        sums = pair_sums({(1, 1): completed, (0, 1): trials - completed}) + of_copies  # a run and its copies: one unit
        completion = Rate(completed, trials, "there are no trials", sums)
        order = ("false_abstention_rate", "cited_golden_recall", "ledger_precision")
        return {
            **{name: rates[name] for name in order},
            COMPLETION_METRIC: completion,
            "uncited_evidence_rate": rates["uncited_evidence_rate"],
        }


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
        return {} if trial.labels is None else {self.key: trial.labels}

    def totals(self, trial: Trial) -> Mapping[str, int]:
        return NO_TOTALS if trial.labels is not None else {"unlabelled_trials": 1}

    def metrics_of(self, tally: Tally, key: TableKey) -> Metrics:
        """Nothing where trials were counted, by this measure or, in stored records, by others, and none has labels."""
        table = tally.tables.get(key)
        if table is None:
            counted = tally.tables or tally.counts["unlabelled_trials"]
            return {} if counted else {SUPPORT_METRIC: UNDEFINED_SUPPORT}
        rate = find_rate(LabelColumns(table), groups="runs")
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
        Companions(),
        SupportedClaims(),
    ]
