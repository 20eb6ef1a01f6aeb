"""The view: a context as strategies see it, with the tokens of each item, and what must stay."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ..blocks import Text, plain_text
from ..codec import Item
from ..events import MessageAdded, ReplyReceived, ToolReturned
from ..frames import PINNED, SUMMARY, frame_of
from ..projecting import exchanges, replace_items
from ..replacing import Replacement

GroupKind = Literal["user", "pinned", "record", "note", "step"]


@dataclass(frozen=True, slots=True)
class Group:
    """Items that stay or go together."""

    kind: GroupKind
    """`user`: the user's words. `pinned`: text declared as such. `record`: the text of an earlier
    compaction. `note`: another message of the framework. `step`: a reply with its results."""
    items: tuple[Item, ...]
    tokens: int
    turn: int
    """How many messages of the user there are up to here."""

    @property
    def seqs(self) -> tuple[int, ...]:
        """Positions of its events, ascending."""
        return tuple(sorted({item.seq for item in self.items}))

    @property
    def kept(self) -> bool:
        """True for what no strategy hides: the user's words and pinned text."""
        return self.kind in ("user", "pinned")


@dataclass(frozen=True)
class View:
    """A context at one moment; never changed, `apply` makes another."""

    items: tuple[Item, ...]
    tokens: tuple[int, ...]
    """Of each item."""
    fixed: int
    """Tokens that no compaction frees: system prompt, tool schemas, tail."""
    count: Callable[[Item], int]
    """Tokens of an item that is not among these."""
    open_reply: int = 0
    """Position of the reply whose results are still to come, 0 for none."""
    made: int = 0
    """How many texts were put in by `apply`; they have the positions -1, -2..."""
    first: "View | None" = None
    """The view before any `apply`, `None` for that one itself."""

    @cached_property
    def total(self) -> int:
        """Tokens of the whole request."""
        return self.fixed + sum(self.tokens)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The items in groups, in order."""
        found: list[Group] = []
        at = turn = 0
        for items in exchanges(self.items):
            size = sum(self.tokens[at : at + len(items)])
            at += len(items)
            kind = _kind(items[0])
            turn += kind == "user"
            found.append(Group(kind, tuple(items), size, turn))
        return tuple(found)

    @cached_property
    def live(self) -> int:
        """Place of the first group that no strategy may hide: the newest exchange and all behind it."""
        for place in range(len(self.groups) - 1, -1, -1):
            if self.groups[place].kind in ("step", "user"):
                return place
        return max(0, len(self.groups) - 1)

    def tail_from(self, tokens: int, cut: str) -> int:
        """Place of the first group of the tail that stays verbatim: at most `tokens`, at least what is
        live, beginning where `cut` allows: `message` and `step` at any group, `turn` at a user's
        message."""
        place, spent = self.live, sum(group.tokens for group in self.groups[self.live :])
        while place > 0 and spent + self.groups[place - 1].tokens <= tokens:
            place -= 1
            spent += self.groups[place].tokens
        if cut == "step":
            while place < self.live and self.groups[place].kind == "note":
                place += 1
        if cut == "turn":
            later = [p for p in range(place, self.live + 1) if self.groups[p].kind == "user"]
            place = later[0] if later else self.live
        return place

    def old(self, place: int) -> list[Group]:
        """Groups before `place` that may be hidden."""
        return [
            group
            for group in self.groups[:place]
            if not group.kept and self.open_reply not in group.seqs
        ]

    def text_tokens(self, text: str) -> int:
        """Tokens of a message of the framework with this text."""
        return self.count(Item(-1, MessageAdded((Text(text),), "framework")))

    def apply(self, replacements: Sequence[Replacement]) -> "View":
        """The view after some replacements; each span's text has a position of its own, below 0."""
        known = {id(item): tokens for item, tokens in zip(self.items, self.tokens, strict=True)}
        made = self.made + sum(each.kind == "span" for each in replacements)
        positions = iter(range(-self.made - 1, -made - 1, -1))
        items = replace_items(self.items, replacements, positions, live=self.open_reply)
        tokens = tuple(known[id(i)] if id(i) in known else self.count(i) for i in items)
        return replace(self, items=tuple(items), tokens=tokens, made=made, first=self.first or self)

    def whole(self, group: Group) -> Group:
        """A group of this view as it was before any `apply`: what stands for it is made from all of it,
        not from a shorter form."""
        items = tuple(self._known.get(_key(item), item) for item in group.items)
        return replace(group, items=items)

    @cached_property
    def _known(self) -> dict[tuple[int, str], Item]:
        return {_key(item): item for item in (self.first or self).items}


def _key(item: Item) -> tuple[int, str]:
    # An interrupted call's answer carries the position of its reply.
    return item.seq, getattr(item.event, "call_id", "")


def _kind(item: Item) -> GroupKind:
    match item.event:
        case MessageAdded(origin="framework", content=content):
            frame = frame_of(plain_text(content))
            return "record" if frame == SUMMARY else "pinned" if frame == PINNED else "note"
        case MessageAdded(origin="user"):
            return "user"
        case ReplyReceived():
            return "step"
        case _:
            return "note"


def results_of(group: Group) -> list[tuple[Item, ToolReturned]]:
    """The tool results of a step."""
    return [(item, item.event) for item in group.items if isinstance(item.event, ToolReturned)]
