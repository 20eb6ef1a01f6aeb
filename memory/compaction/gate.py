"""The gate: what every proposal must pass, and when compaction is given up for a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..codec import Item
from ..events import (
    CompactionRejected,
    CompactionStarted,
    ContextCompacted,
    Entry,
    ReplyReceived,
    ToolReturned,
)
from ..usage import Usage
from .pinned import lost_texts
from .proposing import Goal, Proposal, Strategy
from .stored import naming_stored, with_room
from .view import View

Reason = Literal[
    "busy",  # another compaction of this thread is under way
    "nothing",  # the strategy had nothing to propose
    "grew",  # it would not shrink the context
    "small",  # it frees less than a rewrite is worth
    "target",  # it does not reach its target
    "range",  # it names events that the context does not show
    "pairs",  # a call would lose its result
    "newest",  # it would hide the newest exchange or the newest words of the user
    "pinned",  # pinned text would not stay as it is
    "stopped",  # compaction was given up for this run
    "abandoned",  # a crash left its start open
]
FAILURES, REFILLS, REFILL_TURNS = 3, 3, 2
"""So many rejections in a row, or compactions that were needed again within so many turns."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a proposal was not taken."""

    reason: Reason
    detail: str = ""


async def proposed(
    strategy: Strategy, view: View, goal: Goal, *, forced: bool = False
) -> Proposal | None:
    """What a strategy proposes, told what the gate asks for, with the names of stored results kept in view.

    `forced` as for `judge`.
    """
    aim = goal if forced else goal.aimed(view.total)
    made = await strategy.propose(view, with_room(aim, view))
    return naming_stored(aim, view, made)


def judge(
    view: View,
    proposal: Proposal | None,
    goal: Goal,
    pinned: Iterable[str] = (),
    *,
    forced: bool = False,
) -> View | Rejection:
    """The view after a proposal, or why it is not taken.

    `forced`: asked for by hand or needed to fit at all; it must shrink the context, but need not be worth
    a rewrite. `pinned` texts must stand in some item of the context.
    """
    if proposal is None or not proposal.replacements:
        return Rejection("nothing", "the strategy found nothing to replace")
    there = {item.seq for item in view.items}
    missing = {seq for each in proposal.replacements for seq in each.hidden} - there
    if missing:
        return Rejection("range", f"events {sorted(missing)[:5]} are not in the context")
    after = view.apply(proposal.replacements)
    if fault := _broken(view, after):
        return fault
    freed = view.total - after.total
    if freed <= 0:
        return Rejection("grew", f"{view.total:,} tokens would become {after.total:,}")
    if after.total > goal.target:
        return Rejection("target", f"{after.total:,} tokens are over the target of {goal.target:,}")
    worth = goal.worth(view.total)
    if not forced and freed < worth:
        return Rejection("small", f"{freed:,} tokens freed, a rewrite must free {worth:,}")
    if lost := lost_texts(view, after, pinned):
        return Rejection(
            "pinned", f"{len(lost)} pinned texts would change, the first: {lost[0][:80]!r}"
        )
    return after


def _broken(before: View, after: View) -> Rejection | None:
    """A pair or a newest exchange that would be lost."""
    for group in after.groups:
        calls = _answers(group.items)
        if group.items[0].seq != after.open_reply and calls[0] != calls[1]:
            return Rejection("pairs", f"the reply at {group.items[0].seq} would lose a result")
    left = {item.seq for item in after.items}
    newest = [g for g in before.groups if g.kind == "user"][-1:] + list(
        before.groups[before.live :]
    )
    for group in newest:
        if not left.issuperset(group.seqs):
            return Rejection("newest", f"event {group.seqs[0]} belongs to the newest exchange")
    return None


def _answers(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    from .describing import calls_of
    from .view import Group

    group = Group("step", tuple(items), 0, 0)
    results = [i.event.call_id for i in group.items if isinstance(i.event, ToolReturned)]
    calls = [call.id for call in calls_of(group)]
    return sorted(calls), sorted(results)


@dataclass(slots=True)
class Gate:
    """What a thread's events say of its compactions: open starts, failures in a row, refills."""

    open: bool = False
    """A compaction was started and neither taken nor rejected."""
    failures: int = 0
    """Rejections in a row."""
    refills: int = 0
    """Compactions in a row that were needed within two turns after the one before."""
    turns: int = 0
    """Replies since the newest compaction."""
    taken: int = 0
    """Compactions so far."""
    usage: Usage = field(default_factory=Usage)
    """What all summary calls cost."""
    _trigger: str = ""

    @property
    def stopped(self) -> str:
        """Why compaction was given up for this run, `""` while it was not."""
        if self.failures >= FAILURES:
            return f"{self.failures} compactions in a row were rejected"
        if self.refills >= REFILLS:
            return f"the context was full again within {REFILL_TURNS} turns {self.refills} times"
        return ""

    def add(self, entry: Entry) -> None:
        """Take in the next event of the thread."""
        match entry.event:
            case CompactionStarted(trigger=trigger):
                self.open, self._trigger = True, trigger
            case CompactionRejected(reason=reason, usage=usage):
                self.open = False
                self.failures += reason not in ("abandoned", "busy", "stopped")
                self.usage = self.usage + usage
            case ContextCompacted(usage=usage, trigger=trigger):
                again = self.taken > 0 and self.turns <= REFILL_TURNS
                by_size = trigger in ("size", "overflow")
                self.refills = self.refills + 1 if again and by_size else 0
                self.open, self.failures, self.turns = False, 0, 0
                self.taken += 1
                self.usage = self.usage + usage
            case ReplyReceived():
                self.turns += 1
            case _:
                pass
