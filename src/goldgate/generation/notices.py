"""What a person is told when asking begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from goldgate.generation.artifacts import SeedSummary
from goldgate.generation.counts import Counts
from goldgate.generation.journal_lines import Contents
from goldgate.generation.ladder import Ladder

WORTH_SAYING = 0.5  # seconds that a limit held requests back


def opening_notices(ladder: Ladder, journal: object, contents: Contents, counts: Counts) -> Iterator[str]:
    """What the journal has already, what of it was torn or cut off, and why it may be of no use."""
    if contents.torn:
        yield f"{journal}: the last line was torn ({contents.torn} bytes) and has been removed"
    if counts.before:
        missing = counts.total - counts.before
        yield f"{counts.before:,} of {counts.total:,} answers are in the journal; asking for {missing:,}"
    elif contents.answers:
        differs = what_differs(ladder, contents.plans.values())
        why = f" (what differs: {', '.join(differs)})" if differs else " (other documents, or another format)"
        yield (
            f"the journal holds {len(contents.answers):,} answers to other questions{why}; they are left alone, "
            f"and all {counts.total:,} are asked"
        )
    if counts.cut_off:
        yield (
            f"{counts.cut_off:,} of them were in flight when an earlier run was cut off, and may have been charged; "
            "they are asked again under the same request ids"
        )


def what_differs(ladder: Ladder, plans: Iterable[dict[str, Any]]) -> list[str]:
    """The names of the settings in which some other plans are different."""
    others = [record["settings"] for record in plans if record["base"] not in ladder.bases]
    settings = ladder.plan.settings()
    return sorted(name for name, value in settings.items() if any(other.get(name) != value for other in others))


def model_notices(summaries: Iterable[SeedSummary]) -> Iterator[str]:
    """That endpoints, asked as one, say that they have different models."""
    named: dict[str, set[str]] = {}
    for summary in summaries:
        for address, models in summary.endpoints.items():
            named.setdefault(address, set()).update(models)
    if len({frozenset(models) for models in named.values()}) > 1:
        told = "; ".join(f"{address}: {', '.join(sorted(models))}" for address, models in sorted(named.items()))
        yield f"warning: the endpoints do not name the same model ({told}); the score is that of a mixture"


def closing_notices(counts: Counts, seconds: float) -> Iterator[str]:
    """How many were answered, how fast, and which limits made it slower."""
    if counts.answered or counts.failed:
        rate = (counts.answered + counts.failed) / seconds
        yield (
            f"{counts.answered:,} answered, {counts.failed:,} failed, {counts.retries:,} retries "
            f"in {seconds:.2f} s ({rate:.1f} a second)"
        )
    for limit, waited in sorted(counts.waited.items()):
        if waited >= WORTH_SAYING:
            yield f"slowed down: for {waited:.1f} of {seconds:.1f} s requests waited for {limit}"
