"""The companions: an agent that files the whole corpus, or that always abstains, can pass the four, not these."""

from __future__ import annotations

from goldgate.core.measure import over
from goldgate.core.metric import Metrics, Rate
from goldgate.core.sums import Counts, RatioSums, pair_sums
from goldgate.core.tally import Tally
from goldgate.suites.research.measures.trial import Trial, TrialMeasure
from goldgate.suites.research.run.suspicion import ABSTAINED

COMPLETION = "run_completion_rate"


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

    def units(self, trial: Trial) -> Counts:
        query, run, evaluated = trial.query, trial.run, trial.evaluated
        sufficient = query is not None and query.sufficient and run is not None
        ended = sufficient and run is not None and run.stop_reason is not None
        return (
            int(ended and run is not None and run.stop_reason == ABSTAINED),
            int(ended),
            evaluated.cited if evaluated is not None and query is not None else 0,
            len(query.required) if query is not None else 0,
            evaluated.found if sufficient and evaluated is not None else 0,
            run.ledger if sufficient and run is not None else 0,
            run.uncited if run is not None else 0,
            run.ledger if run is not None else 0,
        )

    def count(self, trial: Trial, tally: Tally) -> None:
        super().count(trial, tally)
        counts, run, weight = tally.counts, trial.run, trial.weight(COMPLETION)
        if trial.query is None:
            if run is not None and run.broken is not None and run.objective is None:
                counts["broken_strangers"] += weight  # its query is not known
            return
        counts["missing_trials" if run is None else "trials"] += trial.times * weight
        if run is not None:
            squares = weight * (weight - 1)
            counts["copies"] += weight - 1
            counts["squares_of_copies"] += squares
            if trial.evaluated is not None:
                counts["completed_trials"] += weight
                counts["completed_squares_of_copies"] += squares

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
            COMPLETION: completion,
            "uncited_evidence_rate": rates["uncited_evidence_rate"],
        }
