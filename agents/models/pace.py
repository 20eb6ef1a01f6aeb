"""Pace: how fast an endpoint may be asked, by all who share it."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

CONCURRENCY = 16
"""Requests under way at once where nobody says, as many as the default fan-out."""

BYTES_A_TOKEN = 4
"""Of a request, for the pace alone, which the provider's own count corrects."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What one endpoint takes. Where several models of it differ, the smaller number holds."""

    concurrency: int | None = None
    """Requests under way at once, `None` for 16."""
    requests: int | None = None
    """Requests a minute, `None` for no limit."""
    tokens: int | None = None
    """Input and output tokens a minute, `None` for no limit."""

    def __and__(self, other: "Rate") -> "Rate":
        return Rate(
            _least(self.concurrency, other.concurrency),
            _least(self.requests, other.requests),
            _least(self.tokens, other.tokens),
        )


class Pace:
    """At most `limit` of something in any `window` seconds; a single larger amount passes alone."""

    def __init__(self, limit: int | None, clock: Callable[[], float], window: float = 60.0) -> None:
        self._limit, self._clock, self._window = limit, clock, window
        self._taken: deque[tuple[float, int]] = deque()
        self._sum = 0

    def wait(self, amount: int) -> float:
        """Seconds until `amount` may be taken, 0 for now."""
        if self._limit is None:
            return 0.0
        now = self._clock()
        while self._taken and self._taken[0][0] <= now - self._window:
            self._sum -= self._taken.popleft()[1]
        over, wait = self._sum + amount - self._limit, 0.0
        for when, taken in self._taken:
            if over <= 0:
                break
            over -= taken
            wait = when + self._window - now
        return wait

    def take(self, amount: int) -> None:
        """Count an amount; a negative one gives back what an estimate had too much."""
        if self._limit is not None:
            self._taken.append((self._clock(), amount))
            self._sum += amount


def _least(first: int | None, second: int | None) -> int | None:
    given = [value for value in (first, second) if value is not None]
    return min(given) if given else None
