"""Limits and usage: what may be spent, and what was spent, always for a whole tree of agents."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from memory import Usage

from .errors import AgentDefinitionError, LimitReached
from .prices import Price, Prices, price_of

_LEAST = {"turns": 1, "parallel_tools": 1, "parallel_agents": 1, "agents": 0, "depth": 0}
"""Limits that always hold, with their least values."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one agent and everything below it may spend. `None` means no limit of its own.

    Raises `AgentDefinitionError` for a value with which nothing could be done, or that is no number.
    """

    turns: int = 60
    """Model calls of one agent, its own repair turns included."""
    tokens: int | None = None
    """Input plus output tokens of the whole tree, cache reads counted."""
    cost: float | None = None
    """Cost of the whole tree, in the currency of `prices`."""
    prices: Prices = field(default_factory=dict[str, Price])
    """By the models' names; `cost` holds only with a price for every model that is used."""
    model_calls: int | None = None
    """Model calls of the whole tree."""
    tool_calls: int | None = None
    """Tool calls of the whole tree; further ones are answered with a refusal."""
    seconds: float | None = None
    """Wall time of the whole tree."""
    tool_seconds: float = 120.0
    """Wall time of one tool call."""
    parallel_tools: int = 8
    """Tool calls of one turn that run at the same time."""
    agents: int = 200
    """Subagents started in the whole tree."""
    parallel_agents: int = 16
    """Subagents of the whole tree at work at the same time; the others queue. The run's own counts, one below
    it does not."""
    depth: int = 2
    """Levels of subagents below the coordinator."""

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self) if each.name != "prices"):
            value, least = getattr(self, name), _LEAST.get(name, 0)
            if value is None and name not in _LEAST:
                continue
            if not isinstance(value, (int, float)) or not value >= least:
                raise AgentDefinitionError(
                    f"the limit {name!r} is a number from {least}, not {value!r}"
                )


@dataclass(frozen=True, slots=True)
class Hold:
    """What is set aside for one model call: its input as estimated and the longest answer."""

    input: int
    """Tokens."""
    output: int
    """Tokens."""
    model: str = ""
    """Its name as the user gave it, for the price."""

    @property
    def usage(self) -> Usage:
        """What the call takes at most."""
        return Usage(self.input, self.output)


class Meter:
    """Counts what a tree of agents spends and refuses what would go over a limit.

    What a call may take is reserved before it and settled after it; a reservation must fit this meter and
    every meter above it.
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
        self.cost = 0.0
        """What they cost, as far as prices are known."""
        self.model_calls = 0
        self.tool_calls = 0
        self.agents = 0
        """Subagents started below this meter."""
        self._held, self._held_cost, self._under_way = 0, 0.0, 0
        self._waiting: list[asyncio.Future[None]] = []
        self._started = clock()

    async def reserve(self, hold: Hold) -> None:
        """Set aside what one model call may take.

        Waits while calls under way may give back enough. Raises `LimitReached` and reserves nothing when
        what is spent leaves no room.
        """
        while True:
            if not (late := self._check(hold)):
                break
            freed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            late._waiting.append(freed)
            await freed
        price = self._price(hold.model)
        for meter in self._line():
            meter._held += hold.usage.total
            meter._held_cost += price.of(hold.usage) if price else 0.0
            meter._under_way += 1

    def settle(self, hold: Hold, usage: Usage) -> None:
        """Give a reservation back and count what the call really took."""
        price = self._price(hold.model)
        for meter in self._line():
            meter._held -= hold.usage.total
            meter._held_cost -= price.of(hold.usage) if price else 0.0
            meter._under_way -= 1
            meter._count(usage, price)
            waiting, meter._waiting = meter._waiting, []
            for freed in waiting:
                if not freed.done():
                    freed.set_result(None)

    def _count(self, usage: Usage, price: Price | None) -> None:
        self.usage = self.usage + usage
        self.cost += price.of(usage) if price else 0.0
        self.model_calls += 1

    def _check(self, hold: Hold) -> "Meter | None":
        """The meter that has room only once a call under way is settled, `None` when all have room."""
        late: Meter | None = None
        price = self._price(hold.model)
        for meter in self._line():
            _refuse_calls(meter.limits, meter.model_calls + meter._under_way)
            wanted = hold.usage.total
            _refuse_tokens(meter.limits, meter.usage.total, wanted)
            cost = _refuse_cost(meter.limits, meter.cost, price, hold)
            tokens, money = meter.limits.tokens, meter.limits.cost
            over = tokens is not None and meter.usage.total + meter._held + wanted > tokens
            if over or (money is not None and meter.cost + meter._held_cost + cost > money):
                late = meter
        return late

    def _price(self, model: str) -> Price | None:
        for meter in self._line():
            if price := price_of(meter.limits.prices, model):
                return price
        return None

    def count_past(self, usage: Usage, model: str = "") -> None:
        """Count a model call that the log holds from before a resume, but for the run's own meter:
        that one is restored whole."""
        price = self._price(model)
        for meter in self._line()[:-1]:
            meter._count(usage, price)

    def restore(self, usage: Usage, model_calls: int, tool_calls: int, agents: int) -> None:
        """Take over what a run had spent before it was resumed."""
        self.usage, self.model_calls = usage, model_calls
        self.tool_calls, self.agents = tool_calls, agents

    def restore_cost(self, spent: Mapping[str, Usage]) -> None:
        """Take over the cost of what a run had spent, by model."""
        priced = [(self._price(model), usage) for model, usage in spent.items()]
        self.cost = sum(price.of(usage) for price, usage in priced if price)

    def count_tool(self) -> None:
        """Count one tool call. Raises `LimitReached` when the tree has had its number."""
        for meter in self._line():
            limit = meter.limits.tool_calls
            if limit is not None and meter.tool_calls >= limit:
                raise LimitReached("tool_calls", f"the limit of {limit} tool calls is reached")
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
        room = self.time_room()
        return room[0] if room else None

    def time_room(self) -> tuple[float, float] | None:
        """Seconds left and allowed, of the limit that leaves least; `None` for none."""
        rooms = [
            (meter.limits.seconds - (meter._clock() - meter._started), meter.limits.seconds)
            for meter in self._line()
            if meter.limits.seconds is not None
        ]
        return min(rooms) if rooms else None

    def token_room(self) -> tuple[int, int] | None:
        """Tokens left and allowed, of the limit that leaves least; `None` for none."""
        rooms = [
            (meter.limits.tokens - meter.usage.total, meter.limits.tokens)
            for meter in self._line()
            if meter.limits.tokens is not None
        ]
        return min(rooms) if rooms else None

    def shares(self) -> "list[tuple[str, float, float]]":
        """Name, amount used and limit of each limit on cost and calls that holds here."""
        found: list[tuple[str, float, float]] = []
        for meter in self._line():
            limits = meter.limits
            for name, used, limit in (
                ("cost", meter.cost, limits.cost),
                ("model calls", meter.model_calls, limits.model_calls),
                ("tool calls", meter.tool_calls, limits.tool_calls),
            ):
                if limit is not None:
                    found.append((name, used, limit))
        return found

    def is_last(self, hold: Hold) -> bool:
        """True when after such a call the limits leave no room for another one like it."""
        price = self._price(hold.model)
        for meter in self._line():
            limits, twice = meter.limits, 2 * hold.usage.total
            cost = 2 * price.of(hold.usage) if price else 0.0
            calls = meter.model_calls + meter._under_way + 2
            if limits.model_calls is not None and calls > limits.model_calls:
                return True
            if (
                limits.tokens is not None
                and meter.usage.total + meter._held + twice > limits.tokens
            ):
                return True
            if limits.cost is not None and meter.cost + meter._held_cost + cost > limits.cost:
                return True
        return False

    def _line(self) -> "list[Meter]":
        line: list[Meter] = [self]
        while line[-1]._parent is not None:
            line.append(line[-1]._parent)
        return line


def _refuse_calls(limits: Limits, calls: int) -> None:
    if limits.model_calls is not None and calls >= limits.model_calls:
        raise LimitReached(
            "model_calls", f"the limit of {limits.model_calls} model calls is reached"
        )


def _refuse_tokens(limits: Limits, spent: int, wanted: int) -> None:
    if limits.tokens is not None and spent + wanted > limits.tokens:
        raise LimitReached(
            "tokens",
            f"the limit of {limits.tokens:,} tokens does not allow a call of up to {wanted:,}: "
            f"{spent:,} are spent",
        )


def _refuse_cost(limits: Limits, spent: float, price: Price | None, hold: Hold) -> float:
    """What the call costs at most; 0 where no cost is limited."""
    if limits.cost is None:
        return 0.0
    if price is None:
        raise LimitReached(
            "cost",
            f"the cost is limited and no price is known for the model {hold.model!r}: add it to "
            "Limits.prices",
        )
    wanted = price.of(hold.usage)
    if spent + wanted > limits.cost:
        raise LimitReached(
            "cost",
            f"the limit of {limits.cost:g} on the cost does not allow a call of up to {wanted:.4g}: "
            f"{spent:.4g} are spent",
        )
    return wanted
