"""The names of stored results stay in view: those that a compaction would hide stand in one line of its text.

A name is made from the hash of the body by code, so the line holds nothing that came from outside.
"""

from collections.abc import Sequence
from dataclasses import replace

from ..blocks import plain_text
from ..frames import with_line
from .proposing import Goal, Proposal
from .view import View

SHARE, MOST = 0.1, 20
"""Of the target, and in number: the names of one line."""
LEAST, SLACK = 60, 10
"""Tokens that the line has whatever the target, and by which lines of as many names may differ."""


def with_room(goal: Goal, view: View) -> Goal:
    """The goal with room left for the line."""
    return replace(goal, target=goal.target - room_of(goal, view))


def room_of(goal: Goal, view: View) -> int:
    """Tokens that the line may have; 0 where there is nothing to name."""
    line = _line(goal, view, list(goal.stored), max(LEAST, int(goal.target * SHARE)))
    return view.text_tokens(line) + SLACK if line else 0


def naming_stored(goal: Goal, view: View, made: Proposal | None) -> Proposal | None:
    """The proposal with the names of the stored results that nothing in the context names after it."""
    if made is None or not goal.stored:
        return made
    shown = "\n".join(plain_text(i.event.content) for i in view.apply(made.replacements).items)
    gone = [path for path in goal.stored if path[1:] not in shown]
    line = _line(goal, view, gone, room_of(goal, view))
    places = [n for n, each in enumerate(made.replacements) if each.kind == "span" and each.text]
    if not line or not places:
        return made
    told = list(made.replacements)
    told[places[-1]] = replace(told[places[-1]], text=with_line(told[places[-1]].text, line))
    return replace(made, replacements=tuple(told))


def _line(goal: Goal, view: View, paths: Sequence[str], most: int) -> str:
    """The newest of some names with their events, as many as fit into `most` tokens; `""` for none."""
    for count in range(min(len(paths), MOST), 0, -1):
        names = ", ".join(f"{path} (event {goal.stored[path]})" for path in paths[-count:])
        more = f"; {len(paths) - count:,} older ones are beside them" if count < len(paths) else ""
        line = f"Stored results, whole: {names}{more}"
        if view.text_tokens(line) <= most:
            return line
    return ""
