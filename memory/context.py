"""The context: what the model sees at a turn, computed from the events and from nothing else.

`Context.add` takes one event at a time and costs the same whatever the history; `build_context` is the
fold of it. Whatever happened before - an interrupted call, a duplicate id, a result without a call -
the items make a request that a provider accepts. Repairs live here only, never in the log.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import repeat

from .blocks import Block, Text, ToolCall
from .codec import Item
from .events import (
    ConfigSet,
    ContextCompacted,
    Entry,
    MessageAdded,
    ReplyReceived,
    RequestSent,
    ToolReturned,
)
from .offload import refs_in
from .offloaded import ContentOffloaded
from .projecting import replace_items

INTERRUPTED = (
    "This call was interrupted before a result was recorded. Whether it took effect is unknown."
)
OPENING = "(The conversation goes on.)"


@dataclass(slots=True)
class _Open:
    """A call of the newest reply, and its result once there is one."""

    original: str
    """The id in the log; the projected call may carry a repaired one."""
    call: ToolCall
    seq: int
    """Position of the reply."""
    answer: Item | None = None


class Context:
    """The items a model sees, in order, and the calls that still wait for a result."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        """What is visible, repaired."""
        self.config: Entry | None = None
        """The `ConfigSet` in force."""
        self.revision = 0
        """How many compactions this context has seen."""
        self.last_event = 0
        """Position of the newest event that was added."""
        self.sent = 0
        """Position of the newest request: what stands before it in the log has been shown."""
        self.stored: dict[str, int] = {}
        """Path of each stored body, to the position of the newest event that it stands for, oldest first."""
        self._batch: list[_Open] = []
        self._used: dict[str, int] = {}

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the newest reply without a result, as projected, in order."""
        return tuple(call.call for call in self._batch if call.answer is None)

    @property
    def open_reply(self) -> int:
        """Position of the newest reply while its results are not all there, else 0."""
        return self._batch[0].seq if self._batch else 0

    @property
    def answered(self) -> list[Item]:
        """The items without the newest reply, while its results are not all there."""
        return [item for item in self.items if item.seq != self.open_reply or not self.open_reply]

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls of the newest reply, as projected, in order; none once every one has its result."""
        return tuple(call.call for call in self._batch)

    def call_for(self, call_id: str) -> ToolCall | None:
        """The open call that a result of this id would answer, as projected; `None` for none."""
        waiting = self._waiting_for(call_id)
        return waiting.call if waiting else None

    def add(self, entry: Entry) -> None:
        """Take in the next event of the thread."""
        self.last_event = entry.seq
        match entry.event:
            case ConfigSet():
                self.config = entry
            case MessageAdded() as event:
                self.close_open_calls()
                self._note_stored(entry.seq, event.content)
                if event.content:
                    self.items.append(Item(entry.seq, event))
            case ReplyReceived() as event:
                self._add_reply(entry.seq, event)
            case ToolReturned() as event:
                self._note_stored(entry.seq, event.content)
                self._add_result(entry.seq, event)
            case ContentOffloaded() | ContextCompacted() as event:
                self._change(entry.seq, event)
            case RequestSent():
                self.sent = entry.seq
                self.close_open_calls()
            case _:
                pass

    def close_open_calls(self) -> None:
        """Answer every open call with an honest "interrupted", so that a request can be made.

        The answers carry the position of their reply: they are hidden with it.
        """
        for waiting in self._batch:
            if waiting.answer is None:
                call = waiting.call
                result = ToolReturned(call.id, call.name, (Text(INTERRUPTED),), is_error=True)
                waiting.answer = Item(waiting.seq, result)
        self._show_results()

    def _note_stored(self, seq: int, content: tuple[Block, ...]) -> None:
        for ref in refs_in(content):
            self.stored.pop(ref.path, None)
            self.stored[ref.path] = seq

    def _add_reply(self, seq: int, event: ReplyReceived) -> None:
        self.close_open_calls()
        content = self._unique_calls(seq, event.content)
        if not any(not isinstance(block, Text) or block.text.strip() for block in content):
            return
        if not self.items:
            self.items.append(Item(seq, MessageAdded((Text(OPENING),), "framework")))
        # The provider's own form of it stays in the log: no request shows it.
        self.items.append(Item(seq, replace(event, content=content, raw={})))

    def _unique_calls(self, seq: int, content: tuple[Block, ...]) -> tuple[Block, ...]:
        """Number repeated or empty call ids, so that each result meets its own call."""
        blocks: list[Block] = []
        for block in content:
            if not isinstance(block, ToolCall):
                blocks.append(block)
                continue
            name = self._new_id(block.id or "call")
            call = block if name == block.id else replace(block, id=name)
            self._batch.append(_Open(block.id, call, seq))
            blocks.append(call)
        return tuple(blocks)

    def _new_id(self, wanted: str) -> str:
        """An id no other call of this thread has: some servers begin again with each reply, and some
        providers refuse a request that repeats one."""
        name, number = wanted, self._used.get(wanted, 0)
        while name in self._used:
            number += 1
            name = f"{wanted}_{number}"
        self._used[wanted] = max(number, 1)
        self._used.setdefault(name, 1)
        return name

    def _add_result(self, seq: int, event: ToolReturned) -> None:
        """Pair a result with the first open call of its id; one without a call stays hidden.

        Results are shown in the order of their calls, whichever finished first, so that the same
        replies and results always make the same request.
        """
        waiting = self._waiting_for(event.call_id)
        if waiting:
            waiting.answer = Item(seq, replace(event, call_id=waiting.call.id))
        if not self.open_calls:
            self._show_results()

    def _waiting_for(self, call_id: str) -> _Open | None:
        """The first open call of an id, whether as logged or as projected."""
        for waiting in self._batch:
            if waiting.answer is None and call_id in (waiting.original, waiting.call.id):
                return waiting
        return None

    def _show_results(self) -> None:
        self.items.extend(waiting.answer for waiting in self._batch if waiting.answer)
        self._batch = []

    def _change(self, seq: int, event: ContentOffloaded | ContextCompacted) -> None:
        """Show the content that stands for an event's own; compactions have a way of their own."""
        if isinstance(event, ContextCompacted):
            self._compact(seq, event)
            return
        self._note_stored(event.target, event.content)
        for number in range(len(self.items) - 1, -1, -1):
            item = self.items[number]
            shown = item.event
            if item.seq == event.target and isinstance(shown, MessageAdded | ToolReturned):
                self.items[number] = Item(item.seq, replace(shown, content=event.content))
                return

    def _compact(self, seq: int, event: ContextCompacted) -> None:
        """Show the history as the compaction says; a request that opens with a reply gets an opening."""
        self.items = replace_items(
            self.items, event.replacements, repeat(seq), live=self.open_reply
        )
        if self.items and isinstance(self.items[0].event, ReplyReceived):
            opening = MessageAdded((Text(OPENING),), "framework")
            self.items.insert(0, Item(self.items[0].seq, opening))
        self.revision += 1


def build_context(entries: Iterable[Entry]) -> Context:
    """The context after these entries of one thread, in order of position."""
    context = Context()
    for entry in entries:
        context.add(entry)
    return context
