"""How far a run has come: numbers that are counted as it goes, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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

    def spent(self, budget: Budget) -> None:
        """Take over what a budget knows of tokens and money."""
        self.input_tokens, self.output_tokens = budget.spent_input, budget.spent_output
        self.cost = cost(budget.spent, budget.price)

    @property
    def done(self) -> int:
        return self.before + self.answered + self.failed


Watch = Callable[[Counts], None]


def nobody(_: Counts) -> None:
    """Watches nothing."""
