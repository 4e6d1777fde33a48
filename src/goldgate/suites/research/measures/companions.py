"""The companions: an agent that files the whole corpus, or that always abstains, can pass the four, not these."""

from __future__ import annotations

from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial
from goldgate.suites.research.run.suspicion import ABSTAINED


class Companions:
    """false_abstention_rate = sufficient trials that stop with NO_EVIDENCE / sufficient trials with a stop reason.
    cited_golden_recall = required ids that verified claims cite, as valid records / required ids.
    ledger_precision = required ids found / ledger records, over sufficient trials.
    run_completion_rate = trials neither missing nor broken / trials.
    uncited_evidence_rate = ledger records that no claim (other than a retracted one) cites / ledger records.
    """

    section = "companions"

    def count(self, trial: Trial, tally: Tally) -> None:
        counts = tally.counts
        query, run, evaluated = trial.query, trial.run, trial.evaluated
        if run is not None:
            counts["ledger_records"] += run.ledger
            counts["uncited_records"] += run.uncited
        if query is None:
            if run is not None and run.broken is not None and run.objective is None:
                counts["broken_strangers"] += 1  # of a query that nobody can tell
            return
        counts["all_required_ids"] += len(query.required) * trial.times
        counts["missing_trials" if run is None else "trials"] += trial.times
        if evaluated is not None:
            counts["completed_trials"] += 1
            counts["cited_ids"] += evaluated.cited
        if query.sufficient and run is not None:
            counts["sufficient_ledger"] += run.ledger
            counts["sufficient_found"] += run.found if evaluated is not None else 0
            if run.stop_reason is not None:
                counts["sufficient_stops"] += 1
                counts["false_abstentions"] += run.stop_reason == ABSTAINED

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        # A broken run that does not say its query may be the one that a missing query lacks: counted once.
        trials = counts["trials"] + max(counts["missing_trials"], counts["broken_strangers"])
        return {
            "false_abstention_rate": Rate(
                counts["false_abstentions"], counts["sufficient_stops"], "no run of a sufficient query has ended"
            ),
            "cited_golden_recall": Rate(counts["cited_ids"], counts["all_required_ids"], "no query requires an id"),
            "ledger_precision": Rate(
                counts["sufficient_found"], counts["sufficient_ledger"], "no run of a sufficient query has a ledger"
            ),
            "run_completion_rate": Rate(counts["completed_trials"], trials, "there are no trials"),
            "uncited_evidence_rate": Rate(
                counts["uncited_records"], counts["ledger_records"], "no run has an evidence record"
            ),
        }
