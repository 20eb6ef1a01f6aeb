"""Usage: what one model call, or many, cost in tokens."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider reported them; sums add field by field."""

    input_tokens: int = 0
    """Everything sent, cache reads included."""
    output_tokens: int = 0
    """Everything generated, reasoning included."""
    cached_tokens: int = 0
    """The part of `input_tokens` that was read from the provider's cache."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total(self) -> int:
        """Input plus output tokens."""
        return self.input_tokens + self.output_tokens
