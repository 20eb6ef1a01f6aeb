"""The strategy `summary`: the old exchanges become one record, by a model or by code."""

from dataclasses import dataclass, field
from typing import Protocol

from ..codec import Item
from ..replacing import Replacement
from ..summary import (
    Record,
    capped,
    merged,
    parse_summary,
    record_from,
    record_json,
    render_summary,
)
from ..tokens import Counter, EstimateCounter
from ..usage import Usage
from .describing import seqs_of, spans_of
from .extracting import borne_out, extracted
from .proposing import Goal, Proposal
from .view import Group, View
from .whole import look_back_words, span

CAP_SHARE = 0.35
"""Of the target: what a record may take."""
LEAST_CAP = 160
"""Tokens."""
FRAME = 80
"""Tokens of a record's frame and of the words that say how to look back."""
_TAILS = (1, 0.5, 0)
"""Shares of the tail that are tried."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a summariser answered."""

    text: str
    """`""` when there is nothing to use: a failure, a refusal, a tool call."""
    usage: Usage
    trouble: str = ""
    """Why there is nothing, in one fixed word; `""` when there is."""


class Summarise(Protocol):
    """Asks a model for a summary of the conversation so far. Never raises for what a model does."""

    async def __call__(self, focus: str, limit: int) -> Summary:
        """A summary of at most `limit` tokens, with what `focus` names kept."""
        ...


@dataclass(frozen=True, slots=True)
class Summarising:
    """One record for all that is hidden, merged with the one before."""

    summarise: Summarise | None = None
    """`None` makes the record by code."""
    counter: Counter = field(default_factory=EstimateCounter)
    name: str = "summary"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """The old groups, earlier records among them, behind one record."""
        old, cap = _hidden_and_cap(view, goal)
        if not old or all(group.kind == "record" for group in old):
            return None
        fresh = [i for group in old if group.kind != "record" for i in view.whole(group).items]
        told = [item for group in view.groups if group.kind == "user" for item in group.items]
        answer = await self.summarise(goal.focus, cap) if self.summarise else None
        record = self._record(told, fresh, goal, answer, cap)
        words = f"{render_summary(record)}\n\n{look_back_words(goal)}"
        first, *others = spans_of(old, view.groups)
        spans = [span(first, words, self.name)]
        spans += [Replacement(seqs_of(run), "") for run in others]
        usage = answer.usage if answer else Usage()
        return Proposal(self.name, tuple(spans), usage, record_json(record))

    def _record(
        self, told: list[Item], fresh: list[Item], goal: Goal, answer: Summary | None, cap: int
    ) -> Record:
        record = extracted([*told, *fresh])
        if answer and answer.text and self.counter.count(answer.text) <= 4 * cap:
            record = _with_model(record, borne_out(parse_summary(answer.text), [*told, *fresh]))
        record = merged(record_from(goal.record), record)

        def fits(text: str) -> bool:
            return self.counter.count(text) <= cap

        return capped(record, fits)


def _hidden_and_cap(view: View, goal: Goal) -> tuple[list[Group], int]:
    """What to hide, and the tokens of the record: of the tail as much stays as leaves the record its cap,
    and where nothing of it does, the record has what room there is."""
    old: list[Group] = []
    cap = 0
    for share in _TAILS:
        old = view.old(view.tail_from(int(goal.tail * share), goal.cut))
        hidden = sum(group.tokens for group in old)
        cap = min(int(goal.target * CAP_SHARE), hidden // 2)
        room = goal.target - (view.total - hidden) - FRAME
        if room >= cap:
            break
        cap = room
    return old, max(LEAST_CAP, cap)


def _with_model(by_code: Record, by_model: Record) -> Record:
    """The sections that a model filled instead of those that code filled; the user's intent stays."""
    return Record(
        intent=(*by_code.intent, *by_model.intent),
        constraints=by_code.constraints,
        decisions=by_model.decisions or by_code.decisions,
        artifacts=by_code.artifacts,
        identifiers=by_code.identifiers,
        verification=by_code.verification,
        failed=by_model.failed or by_code.failed,
        questions=by_model.questions or by_code.questions,
        next_steps=by_model.next_steps or by_code.next_steps,
    )
