"""How far a run has come: numbers that are counted as it goes, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from goldgate.generation.budget import Budget, cost


@dataclass(slots=True)
class Counts:
    """Changed in place while requests come and go; the summary of a run is made from its journal, not from this."""

    total: int = 0
    before: int = 0  # already in the journal
    answered: int = 0
    failed: int = 0
    retries: int = 0
    in_flight: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None
    cut_off: int = 0  # in flight when an earlier run was killed
    waits_for: str | None = None  # the limit that holds the next request back right now
    waited: dict[str, float] = field(default_factory=dict)  # seconds that each limit held requests back

    def spent(self, budget: Budget) -> None:
        """Take over what a budget knows of tokens and money."""
        self.input_tokens, self.output_tokens = budget.spent_input, budget.spent_output
        self.cost = cost(budget.spent, budget.price)

    def held_back(self, limit: str, seconds: float) -> None:
        """A request that could have been sent waited so long for a limit."""
        self.waited[limit] = self.waited.get(limit, 0.0) + seconds

    @property
    def done(self) -> int:
        return self.before + self.answered + self.failed


OnProgress = Callable[[Counts], None]


@dataclass(slots=True)
class Listener:
    """Whom a run tells things: lines of text, and how far it is, so often (in seconds)."""

    say: Callable[[str], None] = lambda _: None
    on_progress: OnProgress = lambda _: None
    every: float = 1.0
