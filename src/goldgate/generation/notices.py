"""What a person is told when asking begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.generation.counts import Counts
from goldgate.generation.journal_lines import Contents
from goldgate.generation.plan import Plan

WORTH_SAYING = 0.5  # seconds that a limit held requests back


def opening_notices(plan: Plan, journal: object, contents: Contents, counts: Counts) -> Iterator[str]:
    """What the journal has already, what of it was torn or cut off, and why it may be of no use."""
    if contents.torn:
        yield f"{journal}: the last line was torn ({contents.torn} bytes) and has been removed"
    if counts.before:
        missing = counts.total - counts.before
        yield f"{counts.before:,} of {counts.total:,} answers are in the journal; asking for {missing:,}"
    elif contents.answers:
        others = [record["settings"] for record in contents.plans.values() if record["base"] != plan.base()]
        differs = [name for name, value in plan.settings().items() if any(other.get(name) != value for other in others)]
        why = f" (what differs: {', '.join(sorted(differs))})" if differs else " (other documents, or another format)"
        yield (
            f"the journal holds {len(contents.answers):,} answers to other questions{why}; they are left alone, "
            f"and all {counts.total:,} are asked"
        )
    if counts.cut_off:
        yield (
            f"{counts.cut_off:,} of them were in flight when an earlier run was cut off, and may have been charged; "
            "they are asked again under the same request ids"
        )


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
