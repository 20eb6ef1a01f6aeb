"""The ladder: strategies one after the other, each only if those before did not reach the target."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ContextError
from .in_place import Arguments, Clip, Micro, Noise, Query
from .proposing import Goal, Proposal, Strategy, joined
from .summarising import Summarising
from .view import View
from .whole import LatestN, NoCompaction, Reset, Retry, Turns

NAMES = (
    "auto",
    "latest-n",
    "micro",
    "arguments",
    "noise",
    "retry",
    "query",
    "turns",
    "summary",
    "reset",
    "clip",
    "none",
)


@dataclass(frozen=True, slots=True)
class Ladder:
    """Rungs, each a list of strategies that are taken together."""

    rungs: Sequence[Sequence[Strategy]]
    name: str = "auto"
    instead: frozenset[str] = frozenset()
    """Strategies whose work is given up when it does not reach the target, because what comes after them
    does better from the events than from what they made of these."""

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """The proposals of as many rungs as the target needs, as one."""
        taken: Proposal | None = None
        current = view
        for rung in self.rungs:
            before = taken, current
            for strategy in rung:
                made = await strategy.propose(current, goal)
                if made is None:
                    continue
                both = joined(taken, made)
                after = view.apply(both.replacements)
                if after.total < current.total:
                    taken, current = both, after
            if current.total <= goal.target:
                break
            if any(strategy.name in self.instead for strategy in rung):
                taken, current = before
        return taken


def strategy_named(name: str, summary: Summarising) -> Strategy:
    """The strategy of this name; `summary` is what the ladder and the name `summary` take.

    Names joined by `+` make a ladder of single rungs. Raises `ContextError` for a name there is not.
    """
    if "+" in name:
        return Ladder([[strategy_named(part.strip(), summary)] for part in name.split("+")], name)
    made: dict[str, Strategy] = {
        "latest-n": LatestN(),
        "micro": Micro(),
        "arguments": Arguments(),
        "noise": Noise(),
        "retry": Retry(),
        "query": Query(),
        "turns": Turns(),
        "summary": summary,
        "reset": Reset(),
        "clip": Clip(),
        "none": NoCompaction(),
    }
    made["auto"] = Ladder(
        [[Noise(), Micro(), Arguments()], [Retry()], [Turns()], [summary], [Reset()], [Clip()]],
        instead=frozenset({"turns"}),
    )
    if name not in made:
        raise ContextError(f"no compaction strategy {name!r}; there are: {', '.join(NAMES)}")
    return made[name]
