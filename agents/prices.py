"""Prices: what tokens of a model cost, by a table that the user sets."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory import Usage

PER = 1_000_000
"""Tokens that a price is for."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens of one model cost, in a currency of the user's choice."""

    input: float
    """Tokens sent and not read from a cache."""
    output: float
    cached: float | None = None
    """Tokens read from the provider's cache; `None` takes the price of input."""

    def of(self, usage: Usage) -> float:
        """What these tokens cost."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        spent = fresh * self.input + usage.cached_tokens * cached
        return (spent + usage.output_tokens * self.output) / PER


Prices = Mapping[str, Price]
"""By the model's name as the user gave it: `openai:gpt-x`. An entry `*` serves every other model."""


def price_of(prices: Prices, model: str) -> Price | None:
    """The price of a model, `None` when the table has none."""
    return prices.get(model) or prices.get("*")
