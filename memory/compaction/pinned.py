"""Pinned text: what stays verbatim through every compaction, and the check that it did.

It comes from the user's messages, from rules handed to the agent and from declarations alone; nothing that
a tool or a model wrote can get here.
"""

from collections.abc import Iterable, Sequence

from ..blocks import plain_text
from ..codec import Item
from ..constraints import find_constraints
from ..events import MessageAdded
from ..frames import PINNED, frame_of, pinned_texts
from ..replacing import Replacement
from .view import Group, View

USER_SHARE = 0.15
"""Of the window: what all messages of the user may take together before the long ones are cut (G4)."""
LEAST_HEAD = 60
"""Tokens of a message's beginning below which old messages disappear behind one line."""


def constraints_of(items: Iterable[Item]) -> list[str]:
    """Constraints in the user's messages and declared pinned texts among these items, each once."""
    found: list[str] = []
    for item in items:
        event = item.event
        if not isinstance(event, MessageAdded):
            continue
        text = plain_text(event.content)
        if event.origin == "user":
            found += find_constraints(text)
        elif frame_of(text) == PINNED:
            found += pinned_texts(text)
    return list(dict.fromkeys(found))


def shortened_messages(view: View, window: int) -> list[Replacement]:
    """What becomes of the user's messages when they are over their share of the window.

    The longest are cut to an even share: verbatim beginning, the constraints of the rest, a reference.
    The first and the newest come first.
    """
    users = [group for group in view.groups if group.kind == "user"]
    room = int(window * USER_SHARE)
    if sum(group.tokens for group in users) <= room:
        return []
    newest = view.groups[view.live] if view.live < len(view.groups) else None
    share = _even_share([group.tokens for group in users], room)
    if share < LEAST_HEAD:
        kept = max(2, room // (2 * LEAST_HEAD))
        hidden, users = (
            users[1 : len(users) - kept + 1],
            [users[0], *users[len(users) - kept + 1 :]],
        )
        share = _even_share([group.tokens for group in users], room)
        first = [_together(hidden)] if hidden else []
    else:
        first = []
    return first + [
        _cut(group, share) for group in users if group.tokens > share and group is not newest
    ]


def _even_share(sizes: Sequence[int], room: int) -> int:
    """The most that each may have so that all together fit."""
    left, count = room, len(sizes)
    for size in sorted(sizes):
        if size * count > left:
            return max(1, left // count)
        left, count = left - size, count - 1
    return max(sizes, default=0)


def _cut(group: Group, share: int) -> Replacement:
    item = group.items[0]
    assert isinstance(item.event, MessageAdded)
    text = plain_text(item.event.content)
    head = text[: max(40, int(len(text) * share / max(1, group.tokens) * 0.8) - 120)]
    rest = [rule for rule in find_constraints(text) if rule not in head]
    note = f"[The message goes on: {len(text) - len(head):,} characters more, whole in event {item.seq}.]"
    if rest:
        note += "\nIts rules:\n" + "\n".join(f"- {rule}" for rule in rest)
    return Replacement((item.seq,), f"{head}\n{note}", "message")


def _together(groups: Sequence[Group]) -> Replacement:
    seqs = tuple(group.items[0].seq for group in groups)
    texts = constraints_of(group.items[0] for group in groups)
    rules = "".join(f"\n- {rule}" for rule in texts)
    words = (
        f"[{len(groups)} older messages of the user are hidden: events {seqs[0]} to {seqs[-1]}.]"
    )
    return Replacement(seqs, words + (f"\nTheir rules:{rules}" if rules else ""), "span")


def lost_texts(before: View, after: View, texts: Iterable[str]) -> list[str]:
    """What is not byte-identical afterwards: messages of the user that nothing allowed to cut, and pinned
    texts that no item of the context holds."""
    shown = [_text(item) for item in after.items]
    same = {item.seq: item for item in after.items if isinstance(item.event, MessageAdded)}
    lost = [
        _text(group.items[0])
        for group in before.groups
        if group.kind == "pinned"
        and (
            group.items[0].seq not in same
            or _text(same[group.items[0].seq]) != _text(group.items[0])
        )
    ]
    return lost + [text for text in texts if not any(text in each for each in shown)]


def _text(item: Item) -> str:
    return plain_text(item.event.content)
