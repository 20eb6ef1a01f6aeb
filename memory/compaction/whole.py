"""Strategies that hide whole exchanges: `latest-n`, `retry`, `turns`, `reset`, and `none`."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from ..blocks import plain_text
from ..frames import SUMMARY, framed
from ..replacing import Replacement
from ..todo import step_line
from .describing import call_words, calls_of, one_line, outcome_of, seqs_of, spans_of, step_lines
from .proposing import Goal, Proposal, proposal
from .values import filled, is_structured
from .view import Group, View, results_of

_DETAILS = ((1, 160, 200), (1, 160, 80), (0.5, 160, 80), (0.5, 160, 0), (0, 160, 0), (0, 80, 0))
"""Of `turns`, from full to terse: share of the tail, characters of a call's arguments and of the words."""


def span(groups: list[Group], text: str, name: str) -> Replacement:
    """Some groups hidden behind a framed text."""
    seqs = [seq for seq in seqs_of(groups) if seq > 0]
    where = f'events="{seqs[0]}-{seqs[-1]}" by="{name}"' if seqs else f'by="{name}"'
    return Replacement(seqs_of(groups), framed(SUMMARY, text, where), "span")


def look_back_words(goal: Goal) -> str:
    """How hidden events are reached, in words for the model."""
    if goal.look_back:
        return "history_search finds hidden events, history_read(first=N) shows event N."
    return "They are kept in the run's log and transcript."


@dataclass(frozen=True, slots=True)
class LatestN:
    """The newest messages stay, whole exchanges; older ones are hidden without a summary."""

    messages: int | None = None
    """How many stay; `None` for as many as the tail allows."""
    name: str = "latest-n"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """The old groups hidden behind one line each."""
        place = view.tail_from(goal.tail, goal.cut)
        if self.messages is not None:
            place, count = view.live, sum(len(g.items) for g in view.groups[view.live :])
            while place > 0 and count + len(view.groups[place - 1].items) <= self.messages:
                place -= 1
                count += len(view.groups[place].items)
        runs = spans_of(view.old(place), view.groups)
        words = look_back_words(goal)
        return proposal(
            self.name,
            [
                span(run, f"{len(seqs_of(run))} older events are hidden. {words}", self.name)
                for run in runs
            ],
        )


@dataclass(frozen=True, slots=True)
class Retry:
    """Settled chains of retries become their outcome and count; a live chain is not touched."""

    name: str = "retry"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Failed attempts of one tool that were followed by a success of it, hidden."""
        made: list[Replacement] = []
        chain: list[Group] = []
        for group in view.groups[: view.live]:
            failed, tool = _attempt(group)
            if chain and (not tool or tool != _attempt(chain[0])[1]):
                chain = []
            if tool and failed and view.open_reply not in group.seqs:
                chain.append(group)
            elif tool and len(chain) > 1:
                made.append(span(chain, _chain_words(chain, group), self.name))
                chain = []
            else:
                chain = []
        return proposal(self.name, made)


def _attempt(group: Group) -> tuple[bool, str]:
    """Whether a step is one failed call, and its tool; `""` for a step that is not one call."""
    calls, results = calls_of(group), results_of(group)
    if group.kind != "step" or len(calls) != 1 or len(results) != 1:
        return False, ""
    return results[0][1].is_error, calls[0].name


def _chain_words(chain: list[Group], settled: Group) -> str:
    last = results_of(chain[-1])[0][1]
    kinds = sorted({event.kind or "error" for group in chain for _, event in results_of(group)})
    return (
        f"{len(chain)} failed attempts ({', '.join(kinds)}) before {call_words(calls_of(settled)[0])} "
        f"succeeded in event {settled.items[-1].seq}. The last one: {call_words(calls_of(chain[-1])[0])} -> "
        f"{one_line(plain_text(last.content), 160)}"
    )


@dataclass(frozen=True, slots=True)
class Turns:
    """One archived record for each finished turn, side by side; records are not squashed later."""

    name: str = "turns"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """The old steps as lines where those are shorter; records of earlier compactions stay as they are.

        As much of the words and of the tail is kept as the target allows: the words beside calls go first,
        then the tail, then the ends of long arguments. What room is left then goes to the values of
        structured results.
        """
        made: Sequence[Replacement] = ()
        old: list[Group] = []
        call = said = 0
        for tail, call, said in _DETAILS:
            place = view.tail_from(int(goal.tail * tail), goal.cut)
            old = [group for group in view.old(place) if group.kind != "record"]
            made = self._lines(view, old, call, said)
            if view.apply(made).total <= goal.target:
                break
        texts = (plain_text(e.content) for g in old for _, e in results_of(view.whole(g)))
        if any(map(is_structured, texts)):
            made = filled(view, goal, made, partial(self._lines, view, old, call, said))
        return proposal(self.name, made)

    def _lines(
        self, view: View, old: list[Group], call: int, said: int, room: int = 0
    ) -> list[Replacement]:
        made: list[Replacement] = []
        for run in spans_of(old, view.groups):
            lines = [
                line for group in run for line in step_lines(view.whole(group), call, said, room)
            ]
            line = span(run, "\n".join(lines), self.name)
            if view.text_tokens(line.text) < sum(group.tokens for group in run):
                made.append(line)
        return made


@dataclass(frozen=True, slots=True)
class Reset:
    """A new window without a summary: goal, pinned text, plan, names of notes, how to look back."""

    name: str = "reset"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Everything hidden but what must stay."""
        old = view.old(view.live)
        runs = spans_of(old, view.groups)
        words = "\n".join(_reset_words(goal, old))
        texts = [words if number == 0 else "" for number in range(len(runs))]
        return proposal(
            self.name,
            [
                span(run, text, self.name) if text else Replacement(seqs_of(run), "")
                for run, text in zip(runs, texts, strict=True)
            ],
        )


def _reset_words(goal: Goal, old: list[Group]) -> list[str]:
    lines = [
        f"A new window begins here; {len(old)} older exchanges are hidden. {look_back_words(goal)}"
    ]
    if goal.todo.goal:
        lines.append(f"Goal: {goal.todo.goal}")
    lines += [f"Constraint: {text}" for text in goal.todo.constraints]
    lines += [step_line(number, step) for number, step in goal.todo.open_steps[:20]]
    lines += _note_lines(goal)
    changed = [event for group in old for _, event in results_of(group)][-1:]
    lines += [
        f"Last result: {event.name}: {outcome_of(event, plain_text(event.content))}"
        for event in changed
    ]
    return lines


def _note_lines(goal: Goal) -> list[str]:
    """The notes, each with an even share of a fifth of the target; names alone when there are too many."""
    notes = list(goal.notes.items())[-30:]
    each = min(1_000, goal.target // 5 // max(1, len(notes)))  # characters: a token is one at least
    if notes and each < 40:
        return ["Notes you kept: " + ", ".join(one_line(name, 60) for name, _ in notes)]
    return [f"Note {one_line(name, 60)}: {one_line(text, each)}" for name, text in notes]


@dataclass(frozen=True, slots=True)
class NoCompaction:
    """Hides nothing: the history grows until the window is full."""

    name: str = "none"

    async def propose(self, view: View, goal: Goal) -> Proposal | None:
        """Nothing."""
        return None
