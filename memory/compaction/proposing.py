"""Strategies and what passes between them and the gate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Literal, Protocol

from ..blocks import JsonObject
from ..replacing import Replacement
from ..todo import Todo
from ..usage import Usage
from .view import View

Cut = Literal["message", "step", "turn"]
WORTH = 0.05
"""Of the window: what a rewrite must free, since it breaks the provider's cached prefix."""
WORTH_OF_TRIGGER = 0.2
"""Of the size before, where the trigger is a small share of the window."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a compaction is for."""

    target: int
    """Tokens that the request should have afterwards, its fixed part counted."""
    window: int
    """Tokens of the model's window."""
    tail: int = 0
    """Tokens at the end of the history that stay verbatim."""
    cut: Cut = "step"
    """Where that tail may begin."""
    focus: str = ""
    """What whoever asked for the compaction wants kept, `""` for nothing special."""
    todo: Todo = field(default_factory=Todo)
    """The thread's plan."""
    notes: Mapping[str, str] = field(default_factory=dict[str, str])
    """The thread's notes, name to text."""
    record: JsonObject = field(default_factory=dict[str, Any])
    """The thread's newest summary record, empty for none."""
    look_back: bool = False
    """True when the agent has the tools to look back."""
    stored: Mapping[str, int] = field(default_factory=dict[str, int])
    """Stored results that the agent can read, oldest first: path, and position of the event."""
    enough: int = 0
    """Tokens from which a request is small enough for its newest results to stay whole, at least `target`: a
    rewrite that is not worth it is no reason to clip them. 0 for `target`."""

    def worth(self, tokens: int) -> int:
        """What a rewrite of a request of so many tokens must free to be worth it."""
        return ceil(min(self.window * WORTH, tokens * WORTH_OF_TRIGGER))

    def aimed(self, tokens: int) -> "Goal":
        """The goal for a request of so many tokens, its target low enough that reaching it is worth it."""
        target = min(self.target, tokens - self.worth(tokens))
        return replace(self, target=target, enough=self.target)

    @property
    def question(self) -> str:
        """The words that say what matters now: focus, steps in progress, goal."""
        steps = [step.text for _, step in self.todo.open_steps]
        return " ".join([self.focus, *steps[:3], self.todo.goal]).strip()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a strategy would put in place of what."""

    strategy: str
    """Names of the strategies, joined by ` + `."""
    replacements: tuple[Replacement, ...]
    usage: Usage = field(default_factory=Usage)
    """What making it cost."""
    record: JsonObject = field(default_factory=dict[str, Any])
    """The summary record, empty for strategies without one."""


class Strategy(Protocol):
    """One way to make a context smaller. Holds no state."""

    @property
    def name(self) -> str:
        """A fixed word, kept in the log."""
        ...

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """What to replace, `None` when there is nothing to gain. Never changes what must stay."""
        ...


def proposal(name: str, replacements: Sequence[Replacement]) -> Proposal | None:
    """A proposal of some replacements, `None` of none."""
    return Proposal(name, tuple(replacements)) if replacements else None


def joined(first: Proposal | None, second: Proposal) -> Proposal:
    """Two proposals as one, the second made on the view after the first.

    What the second hides needs no shorter form, and texts of the first that it hides disappear.
    """
    if first is None:
        return second
    spans = [each for each in first.replacements if each.kind == "span"]
    made = {-(number + 1): each for number, each in enumerate(spans)}
    later: list[Replacement] = []
    gone: set[int] = set()
    for each in second.replacements:
        if each.kind == "span" and any(seq < 0 for seq in each.hidden):
            inner = {seq for old in each.hidden if old < 0 for seq in made[old].hidden}
            gone |= {id(made[old]) for old in each.hidden if old < 0}
            hidden = tuple(sorted({seq for seq in each.hidden if seq > 0} | inner))
            later.append(replace(each, hidden=hidden))
        else:
            later.append(each)
    covered = {seq for each in later if each.kind == "span" for seq in each.hidden}
    again = {(each.kind, each.hidden, each.call) for each in later}
    kept = [
        each
        for each in first.replacements
        if id(each) not in gone
        and (each.kind, each.hidden, each.call) not in again
        and (each.kind == "span" or not covered.issuperset(each.hidden))
    ]
    # Spans of the first stand before those of the second: positions below 0 are counted in this order.
    return Proposal(
        f"{first.strategy} + {second.strategy}",
        tuple(kept + later),
        first.usage + second.usage,
        second.record or first.record,
    )
