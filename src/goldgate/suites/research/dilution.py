"""Gates that pass only because of what was added (runs of no query, many or empty claims), lost or left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from math import fsum, sqrt

from goldgate.core.finding import Finding, cut
from goldgate.core.gate import GateResult, Verdict
from goldgate.core.metric import Metrics
from goldgate.stats.gates import judge_gates
from goldgate.suites.research.run.facts import RunFacts

# Sums over claims and steps, of which one run can have any number: the part and the whole.
_SUMS = {
    "evidence_coverage_rate": ("covered", "verified", "verified claims"),
    "manifest_integrity": ("with_manifest", "steps", "steps"),
}

_EMPTY_SHARE = 20  # of so many verified claims one may be empty: without it, 0.95 are still covered
_LEAST_RUNS = 4  # that show whether they differ as chance would have it
_LOWEST = 2.326  # standard deviations: one in a hundred sets of honest runs differs less


def not_by_strangers(results: list[GateResult], asked: Metrics) -> list[GateResult]:
    """The results, with FAIL where a gate would fail without the runs of no query, or be open.

    Such runs count, but nobody asked for them: anyone can add a thousand claims about nothing in question.
    """
    alone = judge_gates({result.metric: result.gate for result in results}, asked, unit="run")
    return [
        replace(result, verdict=only.verdict, reason=f"{result.reason}; without the runs of no query {only.reason}")
        if result.verdict is Verdict.PASS and only.verdict is not Verdict.PASS
        else result
        for result, only in zip(results, alone, strict=True)
    ]


def not_with_unknown_claims(results: list[GateResult], runs: Sequence[RunFacts]) -> list[GateResult]:
    """The results, with FAIL for Evidence Coverage while the claims of a run cannot be read.

    They may be any number: a lost file would hide fifty uncovered claims at the price of one.
    """
    unknown = [run.name for run in runs if run.claims_unknown]
    if not unknown:
        return results
    more = f" and of {len(unknown) - 1} more" if len(unknown) > 1 else ""
    words = f"the claims of {cut(unknown[0])}{more} cannot be read: the coverage is not known"
    return [
        replace(result, verdict=Verdict.FAIL, reason=f"{result.reason}; {words}")
        if result.metric == "evidence_coverage_rate"
        else result
        for result in results
    ]


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
        if gate.metric not in _SUMS or gate.verdict is not Verdict.PASS:
            continue
        part, whole, words = _SUMS[gate.metric]
        shares = [
            0.0 if part == "covered" and run.broken is not None else getattr(run, part) / of_run
            for run in runs
            if (of_run := getattr(run, whole))
        ]
        mean = Decimal(f"{fsum(shares) / len(shares):.6f}") if shares else Decimal(1)
        least = max((bound for bound in (gate.gate.min, gate.gate.equals) if bound is not None), default=Decimal(0))
        if mean < least:
            message = (
                f"{gate.metric} is {gate.measured} over all {words}, and {mean} on average over runs: "
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
    if not passes or len(claims) < _LEAST_RUNS or not 0 < uncovered < verified:
        return
    share = uncovered / verified
    spread = fsum((missed - of_run * share) ** 2 / (of_run * share * (1 - share)) for missed, of_run in claims)
    freedom = len(claims) - 1
    least = freedom * max(0.0, 1 - 2 / (9 * freedom) - _LOWEST * sqrt(2 / (9 * freedom))) ** 3
    if spread < least:
        message = (
            f"{uncovered} of {verified} verified claims are uncovered, and they are spread over {len(claims)} runs "
            "more evenly than by chance: is the same share of them hidden among others in every run?"
        )
        yield Finding("uniform_dilution", "warning", "", None, "/metrics/main/evidence_coverage_rate", message)
