"""`--stop-when-decided`: the gates of the protocol as what is watched while a model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldgate.errors import ConfigError

if TYPE_CHECKING:
    from goldgate.core.plan import Plan
    from goldgate.generation.options import GenerationOptions
    from goldgate.generation.stopping import StopRule
    from goldgate.suites.extraction.task import ExtractionTask


def stop_rule(plan: Plan, task: ExtractionTask, options: GenerationOptions, given: dict[str, Any]) -> StopRule | None:
    """What the options ask for; None where all documents are to be asked. What cannot be watched is a ConfigError."""
    if not given.get("stop_when_decided"):
        return None
    if len(options.seeds) > 1:
        raise ConfigError(
            "stop.several_seeds",
            "--stop-when-decided asks one run of a model, and several seeds are several",
            advice="name one seed, or leave out --stop-when-decided",
        )
    from goldgate.generation.stopping import StopRule
    from goldgate.stats.gate_watch import GateWatch
    from goldgate.suites.extraction.answer_counts import AnswerCounts
    from goldgate.suites.watched import watched_bounds

    most = given["most_predictions"]
    counts = AnswerCounts(task.documents, plan.settings, task.schema)
    bounds = watched_bounds(plan, counts.scorer.measures, counts.unanswered(), most)
    watch = GateWatch(bounds, len(task))
    return StopRule(watch, counts, given["order_seed"], bool(given["allow_missing"]), most)
