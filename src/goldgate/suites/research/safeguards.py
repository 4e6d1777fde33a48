"""Checks against misleading passes: gates that pass only because runs, copies or claims were added or left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import fsum, sqrt

from goldgate.core.finding import Finding, limit_length
from goldgate.core.gate import Gate, GateResult, Verdict, check_gate, counts_text
from goldgate.core.metric import Metric, Metrics, Rate, format_number
from goldgate.stats.gates import judge_gates
from goldgate.suites.research.measures import EvidenceCoverage, ManifestIntegrity, Trial, TrialMeasure
from goldgate.suites.research.run.facts import RunFacts
from goldgate.suites.research.suite import ALARMS, DEFAULT_GATES

# Rates over claims and steps, of which one run can have any number and a trial that is not there has none.
_RATES_OVER_PARTS: dict[str, tuple[TrialMeasure, str]] = {
    "evidence_coverage_rate": (EvidenceCoverage(), "verified claims"),
    "manifest_integrity": (ManifestIntegrity(), "steps"),
}
_LESS_IS_BETTER = frozenset(name for name, gate in ALARMS.items() if gate.max is not None)

_EMPTY_SHARE = 20  # of 20 verified claims one may be empty: without it, 0.95 are still covered
_MIN_RUNS = 4  # that show whether they differ as chance would have it
_LOWER_DEVIATIONS = 2.326  # standard deviations: one in a hundred sets of honest runs differs less


def metrics_improved_by_merging(merged: Metrics, with_copies: Metrics) -> dict[str, Metric]:
    """The metrics, with copies merged, that are worse with every copy of a run counted.

    Merging keeps copies of good runs from outweighing bad ones; it must not let copies of bad ones vanish.
    """
    better = {}
    for name, metric in merged.items():
        one, other = metric.exact, with_copies[name].exact
        if one is not None and other is not None and (other > one if name in _LESS_IS_BETTER else other < one):
            better[name] = metric
    return better


def note_copies(metrics: Metrics, merged: Metrics) -> Iterator[Finding]:
    """Metrics in which every copy of a run counts, beside what they would be with copies merged."""
    for name, metric in merged.items():
        section = "companions" if name not in DEFAULT_GATES else "main"
        message = (
            f"{name} is {counts_text(metrics[name])} with every copy of a run counted, and {counts_text(metric)} with "
            "copies merged: the worse counts"
        )
        yield Finding("copies_counted", "warning", "", None, f"/metrics/{section}/{name}", message)


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


def fail_uneven_queries(results: list[GateResult], trials: Iterable[Trial]) -> list[GateResult]:
    """The results, with FAIL where the claims or steps of queries with more runs outweigh those with fewer.

    A trial that is missing has no claims and no steps: without this, more runs of the easy queries, or copies of them,
    would raise both rates. Each query weighs the same here, whatever the number of its runs.
    """
    asked = [*trials]
    judged = []
    for result in results:
        name, gate = result.metric, result.gate
        if result.verdict is Verdict.PASS and name in _RATES_OVER_PARTS:
            rate = _even_rate(asked, name)
            by_value = check_gate(name, Gate(gate.min, gate.max, gate.equals), rate) if rate.denominator else result
            if by_value.verdict is Verdict.FAIL:
                result = overruled(result, f"with the same weight for every query {by_value.reason}")
        judged.append(result)
    return judged


def _even_rate(trials: Iterable[Trial], name: str) -> Rate:
    """A rate in which each query weighs the same: the sums of its runs, divided by their number."""
    queries: dict[str, list[int]] = {}
    measure, _ = _RATES_OVER_PARTS[name]
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
        if gate.metric not in _RATES_OVER_PARTS or gate.verdict is not Verdict.PASS:
            continue
        measure, words = _RATES_OVER_PARTS[gate.metric]
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
