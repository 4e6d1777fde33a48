"""Gates that pass only because of what was added: runs of no query, or one run with most of the claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from goldgate.core.gate import GateResult, Verdict, check_gates
from goldgate.core.metric import Metrics, Rate
from goldgate.research.finding import Finding
from goldgate.research.run import RunFacts

COVERAGE = "evidence_coverage_rate"


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


def note_one_run(results: Iterable[GateResult], runs: Iterable[RunFacts]) -> Iterator[Finding]:
    """A gate on coverage that one run decides: it holds most of the claims, and without it the gate would fail."""
    gate = next((result for result in results if result.metric == COVERAGE), None)
    if gate is None or gate.verdict is not Verdict.PASS or not isinstance(gate.measured, Rate):
        return
    total = gate.measured
    for run in runs:
        if run.verified * 2 <= total.denominator:
            continue
        covered = run.covered if run.broken is None else 0
        rest = Rate(total.numerator - covered, total.denominator - run.verified)
        if rest.denominator and check_gates({COVERAGE: gate.gate}, {COVERAGE: rest})[0].verdict is Verdict.FAIL:
            message = (
                f"this run has {run.verified} of {total.denominator} verified claims; without it {COVERAGE} would be "
                f"{rest.numerator}/{rest.denominator}, and fail"
            )
            yield Finding("one_run_decides", "warning", run.name, None, "", message)
