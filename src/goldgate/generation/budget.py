"""What it costs: token estimates, prices, and a cap that counts what is still in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal, localcontext

from goldgate.errors import ConfigError, did_you_mean
from goldgate.generation.outcome import Usage
from goldgate.protocol.model import GenerationSettings, Price

TOKENS_OF_A_PRICE = Decimal(1_000_000)  # prices are for a million tokens
ASSUMED_OUTPUT = 2_048  # tokens, where the request sets no limit
SHARE_DIGITS = 12  # of a part of a cap on money: as many as anybody reads
TOKENS_AROUND_MESSAGE = 8  # tokens around each message


def estimate_tokens(encoded: bytes) -> int:
    """About how many tokens a text in UTF-8 has: one for a Chinese character or three letters. Rather too many."""
    return math.ceil(len(encoded) / 3)


def find_price(settings: GenerationSettings, model: str, *, needed: bool) -> Price | None:
    """The price of a model; None where the protocol has none, an error where a cap on money needs one."""
    price = settings.prices.get(model, settings.prices.get("default"))
    if price is None and needed:
        raise ConfigError(
            "budget.no_price",
            f"a cap on money needs the price of {model}",
            expected=f"generation.prices.{model} (or .default) in the protocol, with input and output",
            found="prices for " + ", ".join(settings.prices) if settings.prices else "no prices",
            advice=did_you_mean(model, settings.prices),
        )
    if price is not None and min(price.input, price.output) < 0:
        raise ConfigError("budget.negative_price", f"the price of {model} is below zero")
    return price


def cost(usage: Usage, price: Price | None) -> Decimal | None:
    """Money for some tokens; None without a price."""
    if price is None:
        return None
    return (usage.input * price.input + usage.output * price.output) / TOKENS_OF_A_PRICE


@dataclass(slots=True)
class Budget:
    """What was spent and what is reserved for requests in flight, against a cap on tokens and one on money."""

    price: Price | None = None
    max_tokens: int | None = None
    max_cost: Decimal | None = None
    whose: str = ""  # where the caps are a part of those that were given
    spent_input: int = 0
    spent_output: int = 0
    reserved: list[int] = field(default_factory=lambda: [0, 0])
    _estimated: int = 0  # of answered requests, to learn how far the estimate is off
    _counted: int = 0

    def part(self, documents: int, of: int, whose: str) -> Budget:
        """A budget with that share of the caps, rounded down: all parts together are at most the whole."""
        tokens, money = self.max_tokens, self.max_cost
        if money is not None and money.adjusted() < SHARE_DIGITS:  # what is above can be more than arithmetic takes
            with localcontext(prec=SHARE_DIGITS, rounding=ROUND_FLOOR):
                money = money * documents / of
        return Budget(self.price, None if tokens is None else tokens * documents // of, money, whose)

    def expected(self, estimate: int, output: int) -> Usage:
        """What a request is reckoned to cost at most; the estimate grows if the endpoint counts more than we do."""
        factor = max(1.0, self._counted / self._estimated) if self._estimated else 1.0
        return Usage(math.ceil(estimate * factor), output)

    def exceeded(self, expected: Usage) -> str | None:
        """The cap that a request could exceed, if everything in flight costs what it may cost; None if it fits."""
        worst = Usage(
            self.spent_input + self.reserved[0] + expected.input,
            self.spent_output + self.reserved[1] + expected.output,
        )
        if self.max_tokens is not None and worst.total > self.max_tokens:
            return f"--max-total-tokens {self.max_tokens:,}"
        money = cost(worst, self.price)
        if self.max_cost is not None and money is not None and money > self.max_cost:
            return f"--max-cost {self.max_cost}"
        return None

    def reserve(self, expected: Usage) -> None:
        self.reserved[0] += expected.input
        self.reserved[1] += expected.output

    def spend(self, usage: Usage) -> None:
        """Tokens that were spent, whatever was reserved for them."""
        self.spent_input += usage.input
        self.spent_output += usage.output

    def settle(self, expected: Usage, spent: Usage | None, estimate: int = 0) -> None:
        """A request is over: `spent` is what it cost, None if nothing."""
        self.reserved[0] -= expected.input
        self.reserved[1] -= expected.output
        if spent is not None:
            self.spend(spent)
            if estimate and not spent.estimated:
                self._estimated += estimate
                self._counted += spent.input

    @property
    def spent(self) -> Usage:
        return Usage(self.spent_input, self.spent_output)

    def describe_caps(self) -> str:
        """The caps, in words."""
        caps = []
        if self.max_tokens is not None:
            caps.append(f"{self.max_tokens:,} tokens")
        if self.max_cost is not None:
            caps.append(f"a cost of {self.max_cost}")
        return " and ".join(caps) + (f" (the part of {self.whose})" if self.whose else "")
