"""What the gates of a plan are set on: the suite's metrics, parts of them, and macro averages."""

from __future__ import annotations

from goldgate.core.gated import find_gated, is_known_part, measured, similar_parts
from goldgate.core.metric import Mean, Metric, Metrics
from goldgate.core.plan import Plan
from goldgate.core.suite import Outcome, Suite
from goldgate.core.tally import Tally
from goldgate.errors import ConfigError, did_you_mean

SHOWN_PARTS = 12


def gated_metrics(
    suite: Suite, plan: Plan, metrics: Metrics, tally: Tally, outcome: Outcome
) -> dict[str, Metric | Mean]:
    """The metric of each gate. A part that nobody knows of is an error: only what was counted can tell."""
    found: dict[str, Metric | Mean] = {}
    for name in plan.gates:
        if name in metrics:
            found[name] = metrics[name]
            continue
        gated = find_gated(name, suite.measures(plan.settings))
        assert gated is not None  # the plan has seen to it
        declared = outcome.part_names()
        if not is_known_part(gated, tally, declared):
            known = similar_parts(gated, tally, declared)
            raise ConfigError(
                "protocol.unknown_part",
                f"there is no such {[*gated.measure.parts][len(gated.part) - 1]}",
                place=plan.place(f"gates.{name}"),
                expected=_listed(known),
                found=name,
                advice=did_you_mean(name, known),
            )
        found[name] = measured(gated, tally)
    return found


def _listed(known: list[str]) -> str:
    more = len(known) - SHOWN_PARTS
    return (", ".join(known[:SHOWN_PARTS]) or "none occurs") + (f" and {more} more" if more > 0 else "")
