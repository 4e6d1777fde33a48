"""The outcome of a research evaluation: the suite's own parts of the report, its run records and its remarks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, cast

from goldgate.core.contracts import StandsOut, SuiteReport
from goldgate.core.finding import limit_length, remark
from goldgate.core.gate import GateResult, counts_text
from goldgate.core.metric import Mean, Metrics, Rate, metric_sections
from goldgate.core.suite import Measure, Outcome, Plan
from goldgate.core.tally import Tally
from goldgate.suites.research.contracts import (
    Conservation,
    CorpusInput,
    EvidenceValue,
    LevelsValue,
    OverTrials,
    QueryValue,
    ResearchDetails,
    ResearchReport,
    RunValue,
    TrialOfQuery,
)
from goldgate.suites.research.golden import Corpus, Golden, Query
from goldgate.suites.research.measures import Trial, research_measures, trial_metrics
from goldgate.suites.research.run.claims import ABSTAINED
from goldgate.suites.research.run.evidence import FAILURES, LEVELS
from goldgate.suites.research.run.facts import NO_QUERY, RunFacts
from goldgate.suites.research.run.files import RUN_LIES_DEEPER
from goldgate.suites.research.run.text import FOLDING
from goldgate.suites.research.safeguards import (
    fail_uneven_queries,
    fail_unknown_claims,
    metrics_improved_by_merging,
    note_copies,
    note_empty_evidence,
    note_nothing_stored,
    note_uneven_runs,
    note_uniform_dilution,
    overruled,
    require_pass_also,
)
from goldgate.suites.research.suite import ALARMS, ResearchSettings
from goldgate.suites.research.support import Labelling
from goldgate.suites.research.trials import RunCollection, iter_trials


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
    return {**entry, "copies": copies} if copies else entry


def research_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    """Runs that are missing, broken or copies, unkept manifests, companions beyond alarms, claims that hide others."""
    yield from _incomplete_remarks(report)
    yield from _copy_remarks(report)
    yield from _manifest_remarks(report)
    yield from _companion_remarks(report)
    yield from _evidence_remarks(report)


def _incomplete_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    trials, runs = report["conservation"]["trials"], report["conservation"]["runs"]
    if trials["missing"]:
        message = f"{trials['missing']} of {trials['total']} trials are missing: they count as failed"
        yield remark("missing_trials", message, missing=trials["missing"], trials=trials["total"])
    if runs["broken"]:
        message = f"{runs['broken']} of {runs['total']} runs are broken: they count as failed"
        yield remark("broken_runs", message, broken=runs["broken"], runs=runs["total"])
    deeper = [entry["reason"] for entry in report["ignored"] if entry["reason"].startswith(RUN_LIES_DEEPER)]
    if deeper:
        more = f", and {len(deeper) - 1} more" if len(deeper) > 1 else ""
        yield remark("deeper_runs", f"{deeper[0]}{more}: it is not judged", folders=len(deeper))


def _copy_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    """Rates that would be better if copies of runs were merged."""
    rates = [entry["pointer"].rpartition("/")[2] for entry in report["findings"] if entry["code"] == "copies_counted"]
    if rates:
        copies = sum(run.get("copies", 0) for run in report["runs"])
        count = "1 copy of a run counts" if copies == 1 else f"{copies} copies of runs count"
        message = f"{count}, because merging would improve {', '.join(rates)}"
        yield remark("copies_counted", message, copies=copies, rates=len(rates))


def _manifest_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    """That none are kept is said where the metric is undefined; that there are some all the same is said here."""
    steps = report["conservation"]["steps"]
    total, kept = steps["total"], steps["with_manifest"]
    if report["metrics"]["main"]["manifest_integrity"]["value"] is None and kept:
        message = f"{kept} of {total} steps have a manifest, and the protocol says that this agent keeps none"
        yield remark("manifests_not_kept", message, steps=total, with_manifest=kept)


def _evidence_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    """Findings about claims that are covered in form only, or that hide others."""
    messages = {finding["code"]: finding["message"] for finding in report["findings"] if not finding["file"]}
    if "empty_evidence" in messages:
        yield remark("empty_evidence", messages["empty_evidence"])
    for finding in report["findings"]:
        if finding["code"] == "uneven_runs":  # one for each gate
            yield remark("uneven_runs", finding["message"])
    if "uniform_dilution" in messages:
        yield remark("uniform_dilution", messages["uniform_dilution"])
    repeated = [finding for finding in report["findings"] if finding["code"] == "repeated_statement"]
    if repeated:
        more = f", and {len(repeated) - 1} more runs like it" if len(repeated) > 1 else ""
        message = f"{repeated[0]['file'].partition('/')[0]}: {repeated[0]['message']}{more}"
        yield remark("repeated_statement", message, runs=len(repeated))


def _companion_remarks(report: ResearchReport) -> Iterator[StandsOut]:
    """Companions that stand out: an agent that files the whole corpus, or always abstains, shows here."""
    companions = metric_sections(report["metrics"])["companions"]
    for name, gate in ALARMS.items():
        metric = companions[name]
        if "denominator" not in metric or not metric["denominator"]:
            continue
        numerator, denominator = metric["numerator"], metric["denominator"]
        exact = Fraction(numerator, denominator)
        low = gate.min is not None and exact < Fraction(gate.min)
        high = gate.max is not None and exact > Fraction(gate.max)
        if low or high:
            message = f"{name}: {numerator}/{denominator} is not {gate.bounds()}"
            yield remark(name, message, numerator=numerator, denominator=denominator)


class OutcomeInputs(NamedTuple):
    """What the numbers come from, beside the golden queries."""

    plan: Plan
    directories: int
    outputs_sha256: str
    corpus: Corpus | None = None
    anchored: bool = False  # whether there is anything that evidence could be anchored to


# What the levels leave open, said where the records are counted.
UNANCHORED_NOTE = (
    "No corpus was given: verbatim and chain show that a quote is in a text which the run itself stored, not that it "
    "is from one of your sources. With --corpus, or artifact_hashes in the golden queries, records that reach your "
    "sources are anchored."
)


class ResearchOutcome(Outcome):
    """The runs of all directories, settled, beside the golden queries."""

    def __init__(
        self, collected: RunCollection, golden: Golden, origin: OutcomeInputs, labelling: Labelling | None = None
    ) -> None:
        self._labelling = labelling
        self._collected = collected
        self._golden = golden
        self._origin = origin
        inputs: dict[str, Any] = {
            "golden": {"sha256": golden.sha256, "queries": len(golden.queries)},
            "outputs": {"sha256": origin.outputs_sha256, "runs": len(collected.runs)},
            "corpus": _corpus_input(origin.corpus),
        }
        if labelling is not None:
            stored = labelling.given.stored
            inputs |= {"labels": labelling.given.digests, "draw": None if stored is None else stored.sha256}
        super().__init__(inputs, _signature_fields(origin.plan.settings, golden, origin.corpus), collected.findings)

    def overrule(self, gates: list[GateResult], tally: Tally) -> list[GateResult]:
        collected = self._collected
        measures = research_measures(self._origin.plan.settings)
        uneven = any(len({*n.values()}) > 1 for n in (collected.trials, collected.trials_with_copies))
        strangers = collected.trials.total() < len(collected.runs)
        for condition, counted in copy_readings(collected, measures).items():
            every = [*iter_trials(collected, self._golden, counted)] if collected.copies or strangers or uneven else []
            asked = [trial for trial in every if trial.query is not None]
            if collected.copies:
                gates = require_pass_also(gates, trial_metrics(every, measures), condition)
            if strangers:  # anyone can add runs with a thousand claims about nothing in question
                gates = require_pass_also(gates, trial_metrics(asked, measures), "without the runs of no query")
            if uneven:
                gates = fail_uneven_queries(gates, asked)
        gates = [_fail_torn_logs(_add_merged_value(gate, collected.merged_metrics), tally) for gate in gates]
        return fail_unknown_claims(gates, collected.runs)

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> ResearchDetails:
        collected, golden, origin = self._collected, self._golden, self._origin
        runs = collected.runs
        collected.findings += [
            *note_copies(metrics, collected.merged_metrics),
            *note_uneven_runs(gates, runs),
            *note_nothing_stored(runs),
            *note_empty_evidence(runs),
            *note_uniform_dilution(gates, runs),
        ]
        details: ResearchDetails = {
            "evidence": _evidence_counts(runs, None if origin.anchored else UNANCHORED_NOTE),
            "conservation": conservation(collected, golden, origin.directories),
            "queries": _query_entries(collected, golden),
            "runs": _run_entries(collected, golden),
            "ignored": [{"path": path, "reason": reason} for path, reason in collected.ignored],
        }
        return details if self._labelling is None else {**details, "support": self._labelling.counted.value}

    def remarks(self, report: SuiteReport) -> Iterable[StandsOut]:
        yield from research_remarks(cast(ResearchReport, report))
        if self._labelling is not None:
            yield from self._labelling.counted.remarks


def copy_readings(collected: RunCollection, measures: Sequence[Measure[Trial]]) -> dict[str, frozenset[str]]:
    """The metrics in which every copy counts: none, and where there are copies all, each with words for it."""
    every = frozenset(trial_metrics((), measures))
    return {"with copies merged": frozenset(), **({"with every copy counted": every} if collected.copies else {})}


def choose_copy_readings(collected: RunCollection, golden: Golden, measures: Sequence[Measure[Trial]]) -> None:
    """Find the metrics in which every copy of a run must count, because merging would make them better."""
    if collected.copies:
        both = [
            trial_metrics(iter_trials(collected, golden, counted), measures)
            for counted in copy_readings(collected, measures).values()
        ]
        collected.merged_metrics = metrics_improved_by_merging(*both)


def conservation(collected: RunCollection, golden: Golden, directories: int) -> Conservation:
    """Each total beside the parts that must add up to it."""
    runs, queries, trials = collected.runs, len(golden.queries), collected.trials.total()
    answered = len(collected.trials)
    whole = {run.query for run in runs if run.query != NO_QUERY and run.broken is None}
    broken = sum(run.broken is not None for run in runs)
    lacking = sum(max(0, collected.required_trials - collected.trials[number]) for number in range(queries))

    def total(*names: str) -> int:
        return sum(getattr(run, name) for run in runs for name in names)

    verified, candidate, retracted = map(total, ("verified", "candidate", "retracted"))
    steps, with_manifest = total("steps"), total("with_manifest")
    return {
        "queries": {
            "total": queries,
            "answered": answered,
            "missing": queries - answered,
            "broken_only": answered - len(whole),
        },
        "trials": {"total": trials + lacking, "runs": trials, "missing": lacking},
        "directories": {"total": directories, "runs": len(runs), "ignored": directories - len(runs)},
        "runs": {"total": len(runs), "evaluated": len(runs) - broken, "broken": broken},
        "claims": {
            "total": verified + candidate + retracted,
            "verified": verified,
            "candidate": candidate,
            "retracted": retracted,
            "unreadable": total("unreadable_claims"),
        },
        "evidence": {
            "total": total("ledger"),
            "valid": total(*LEVELS),
            "failed": sum(count for run in runs for _, count in run.failures),
        },
        "steps": {
            "total": steps,
            "with_manifest": with_manifest,
            "without_manifest": steps - with_manifest,
            "orphan_manifests": total("orphans"),
        },
        "files_read": total("files"),
    }


def _corpus_input(corpus: Corpus | None) -> CorpusInput | None:
    return None if corpus is None else {"sha256": corpus.sha256, "hashes": len(corpus.hashes)}


def _add_merged_value(result: GateResult, merged: Metrics) -> GateResult:
    """The result; where every copy counts, with what it would be without copies."""
    metric = merged.get(result.metric)
    if metric is None:
        return result
    value = counts_text(metric, result.gate)
    return overruled(result, f"every copy counts: with copies merged it is {value}", result.verdict)


def _fail_torn_logs(result: GateResult, tally: Tally) -> GateResult:
    """A torn log hides steps: the gate on manifests cannot pass, wherever its threshold is."""
    torn = tally.counts["torn_logs"]
    if result.metric != "manifest_integrity" or not torn:
        return result
    logs = "1 event log is torn" if torn == 1 else f"{torn} event logs are torn"
    return overruled(result, f"{logs}: not all steps are known")


def _evidence_counts(runs: Iterable[RunFacts], note: str | None) -> EvidenceValue:
    """Levels and failures over the runs that count."""
    counted = [run for run in runs if run.broken is None]
    failures: Counter[str] = Counter()
    for run in counted:
        for name, count in run.failures:
            failures[name] += count
    return {
        "levels": cast(LevelsValue, {level: sum(getattr(run, level) for run in counted) for level in LEVELS}),
        "failures": {name: failures[name] for name in FAILURES if failures[name]},
        "note": note,
    }


def _query_entries(collected: RunCollection, golden: Golden) -> list[QueryValue]:
    by_query: defaultdict[int, list[RunFacts]] = defaultdict(list)
    for run in collected.runs:
        by_query[run.query].append(run)
    return [
        _query_entry(query, by_query[number], collected.required_trials) for number, query in enumerate(golden.queries)
    ]


def _query_entry(query: Query, runs: list[RunFacts], owed: int) -> QueryValue:
    whole = [run for run in runs if run.broken is None]
    missing = max(0, owed - len(runs))
    hits = [run.found_ids if run.broken is None else 0 for run in runs]
    right = [int(run.broken is None and run.stop_reason == ABSTAINED and not run.verified) for run in runs]
    return {
        "objective": query.objective,
        "id": query.id,
        "evidence_sufficient": query.sufficient,
        "required_ids": len(query.required),
        "status": "answered" if whole else "broken" if runs else "missing",
        "trials": len(runs),
        "owed_trials": owed,
        "broken_trials": len(runs) - len(whole),
        "recall": _over_trials(hits, len(query.required), missing),
        "abstention": None if query.sufficient else _over_trials(right, 1, missing),
        "right_abstentions": None if query.sufficient else sum(right),
    }


def _over_trials(hits: list[int], of: int, missing: int) -> OverTrials | None:
    """Best, worst and mean over the trials of a query, of which a missing one has hit nothing; None without any."""
    if not hits or not of:
        return None
    averaged = len(hits) + missing
    return {
        "best": Rate(max(hits), of).as_json(),
        "worst": Rate(0 if missing else min(hits), of).as_json(),
        "mean": Mean(sum(hits) / (of * averaged), averaged, 0).as_json(),
    }


def _run_entries(collected: RunCollection, golden: Golden) -> list[RunValue]:
    """An entry for each run. A run's facts are let go as its entry is made: there may be very many."""
    facts, collected.runs = collected.runs[::-1], []
    entries = []
    while facts:
        run = facts.pop()
        query = golden.queries[run.query] if run.query != NO_QUERY else None
        entries.append(run_entry(run, query, len(collected.copies.get(run.name, ()))))
    return entries


def _signature_fields(research: ResearchSettings, golden: Golden, corpus: Corpus | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    labels = sorted(research.labels.items())
    limits = research.max_file_megabytes, research.max_run_megabytes, research.max_total_megabytes
    return {
        "fold": FOLDING,
        "require": research.require,
        "verbatim": research.require_verbatim,
        "anchored": research.require_anchored,
        **({} if research.manifests == "required" else {"manifests": research.manifests}),
        **({} if research.sampling == "drawn" else {"sampling": research.sampling}),
        **({"labels": ",".join(f"{word}={number}" for word, number in labels)} if labels else {}),
        "trials": "most" if research.trials is None else f"{research.trials.normalize():f}",
        "limit": "/".join(f"{limit.normalize():f}" for limit in limits) + "MB",
        "golden": golden.sha256[:12],
        "corpus": "none" if corpus is None else corpus.sha256[:12],
    }
