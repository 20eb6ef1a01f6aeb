"""Limits and usage: what may be spent, and what was spent, always for a whole tree of agents."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from memory import Usage

from .errors import LimitReached


@dataclass(frozen=True, slots=True)
class Limits:
    """What one agent and everything below it may spend. `None` means no limit of its own."""

    turns: int = 60
    """Model calls of one agent, its own repair turns included."""
    tokens: int | None = None
    """Input plus output tokens of the whole tree, cache reads counted."""
    seconds: float | None = None
    """Wall time of the whole tree."""
    tool_seconds: float = 120.0
    """Wall time of one tool call."""
    parallel_tools: int = 8
    """Tool calls of one turn that run at the same time."""
    agents: int = 200
    """Subagents started in the whole tree."""
    parallel_agents: int = 16
    """Subagents that run at the same time; the others queue."""
    depth: int = 2
    """Levels of subagents below the coordinator."""


class Meter:
    """Counts what a tree of agents spends and refuses what would go over a limit.

    Tokens are reserved before a call (estimated input plus the longest answer) and settled after it;
    a reservation must fit this meter and every meter above it.
    """

    def __init__(
        self,
        limits: Limits,
        parent: "Meter | None" = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits, self._parent, self._clock = limits, parent, clock
        self.usage = Usage()
        """Tokens spent by this agent and everything below it."""
        self.model_calls = 0
        self.tool_calls = 0
        self.agents = 0
        """Subagents started below this meter."""
        self._reserved = 0
        self._started = clock()

    def reserve(self, tokens: int) -> None:
        """Set tokens aside for one model call. Raises `LimitReached` and reserves nothing."""
        for meter in self._line():
            limit = meter.limits.tokens
            spent = meter.usage.total + meter._reserved
            if limit is not None and spent + tokens > limit:
                raise LimitReached(
                    "tokens",
                    f"the limit of {limit:,} tokens does not allow a call of up to {tokens:,}: "
                    f"{spent:,} are spent or reserved",
                )
        for meter in self._line():
            meter._reserved += tokens

    def settle(self, reserved: int, usage: Usage) -> None:
        """Give a reservation back and count what the call really took."""
        for meter in self._line():
            meter._reserved -= reserved
            meter.usage = meter.usage + usage
            meter.model_calls += 1

    def count_past(self, usage: Usage) -> None:
        """Count a model call that the log holds from before a resume, but for the run's own meter:
        that one is restored whole."""
        for meter in self._line()[:-1]:
            meter.usage = meter.usage + usage
            meter.model_calls += 1

    def restore(self, usage: Usage, model_calls: int, tool_calls: int, agents: int) -> None:
        """Take over what a run had spent before it was resumed."""
        self.usage, self.model_calls = usage, model_calls
        self.tool_calls, self.agents = tool_calls, agents

    def count_tool(self) -> None:
        """Count one tool call."""
        for meter in self._line():
            meter.tool_calls += 1

    def count_agent(self) -> None:
        """Count one more subagent. Raises `LimitReached` when the tree has had its number."""
        for meter in self._line():
            if meter.agents >= meter.limits.agents:
                raise LimitReached(
                    "agents", f"the limit of {meter.limits.agents} agents is reached"
                )
        for meter in self._line():
            meter.agents += 1

    def time_left(self) -> float | None:
        """Seconds until the nearest time limit of this meter and those above; `None` for none."""
        left = [
            meter.limits.seconds - (meter._clock() - meter._started)
            for meter in self._line()
            if meter.limits.seconds is not None
        ]
        return min(left) if left else None

    def _line(self) -> "list[Meter]":
        line: list[Meter] = [self]
        while line[-1]._parent is not None:
            line.append(line[-1]._parent)
        return line
