"""Gates that pass only because of what was added: runs of no query, or one run with most of the claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from goldgate.core.gate import GateResult, Verdict, check_gates
from goldgate.core.metric import Metrics, Rate
from goldgate.research.finding import Finding
from goldgate.research.run import RunFacts

# Sums over claims and steps, of which one run can have any number: the part and the whole.
_SUMS = {
    "evidence_coverage_rate": ("covered", "verified", "verified claims"),
    "manifest_integrity": ("with_manifest", "steps", "steps"),
}


def not_by_strangers(results: list[GateResult], asked: Metrics) -> list[GateResult]:
    """The results, with FAIL where a gate would fail without the runs of no query.

    Such runs count, but nobody asked for them: anyone can add a thousand claims about nothing in question.
    """
    alone = check_gates({result.metric: result.gate for result in results}, asked)
    return [
        replace(result, verdict=Verdict.FAIL, reason=f"{result.reason}; without the runs of no query {only.reason}")
        if result.verdict is Verdict.PASS and only.verdict is Verdict.FAIL
        else result
        for result, only in zip(results, alone, strict=True)
    ]


def note_one_run(results: Iterable[GateResult], runs: Sequence[RunFacts]) -> Iterator[Finding]:
    """A gate that one run decides: it holds most of the claims or steps, and without it the gate would fail."""
    for gate in results:
        if gate.metric not in _SUMS or gate.verdict is not Verdict.PASS or not isinstance(gate.measured, Rate):
            continue
        part, whole, words = _SUMS[gate.metric]
        total = gate.measured
        for run in runs:
            of_run = getattr(run, whole)
            if of_run * 2 <= total.denominator:
                continue
            hits = 0 if part == "covered" and run.broken is not None else getattr(run, part)
            rest = Rate(total.numerator - hits, total.denominator - of_run)
            if (
                rest.denominator
                and check_gates({gate.metric: gate.gate}, {gate.metric: rest})[0].verdict is Verdict.FAIL
            ):
                message = (
                    f"this run has {of_run} of {total.denominator} {words}; without it {gate.metric} would be "
                    f"{rest.numerator}/{rest.denominator}, and fail"
                )
                yield Finding("one_run_decides", "warning", run.name, None, "", message)
