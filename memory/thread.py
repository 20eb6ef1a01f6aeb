"""A thread: one agent's line in the log, and the bytes of its next request, kept up to date."""

import contextlib
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .blocks import JsonObject, plain_text
from .codec import Codec, Item, Piece, own_fields
from .compaction import Gate, View, constraints_of
from .context import Context
from .counting import count_piece, count_tail, shared_head
from .errors import ContextError, TodoError
from .events import (
    ConfigSet,
    ContextCompacted,
    Entry,
    Event,
    MessageAdded,
    NoteWritten,
    RequestSent,
    SummaryAsked,
    TodoWritten,
    ToolReturned,
)
from .log import EventLog
from .offloaded import ContentOffloaded
from .prefix import Prefix
from .recitation import is_tail
from .requests import answered_request, answers
from .status import CallRule, StatusKeeper
from .todo import Todo, parse_todo
from .tokens import Calibration, Counter, best_counter

MOST_RULES = 2_000
"""Characters of rules that a tail restates; all of them stay in the history anyway."""


@dataclass(frozen=True, slots=True)
class Request:
    """One model call, ready to leave."""

    seq: int
    """Position of its `RequestSent` in the log."""
    body: bytes
    """The exact bytes."""
    tokens: int
    """What it is expected to be counted as by the provider, tail included."""


class Thread:
    """Appends events of one agent and keeps what is computed from them in step, each event once.

    A message is turned into bytes and counted once, when its event is appended; a request only joins.
    """

    def __init__(
        self,
        log: EventLog,
        name: str,
        *,
        counter: Counter | None = None,
        rules: Sequence[CallRule] = (),
    ) -> None:
        """`counter` defaults to `best_counter()`; `rules` say which calls the status counts by argument."""
        self.log, self.name = log, name
        self.counter: Counter = counter or best_counter()
        self.context = Context()
        self.calibration = Calibration()
        self.status = StatusKeeper(rules)
        self.gate = Gate()
        """What the log says of this thread's compactions."""
        self.record: JsonObject = {}
        """The newest summary record, empty for none."""
        self.todo = Todo()
        """The plan as the newest `TodoWritten` has it."""
        self.notes: dict[str, str] = {}
        """Name to text, in the order in which they were first written."""
        self._said = 0
        self._rules: tuple[tuple[int, int], list[str]] = (-1, 0), []
        self.recited = ""
        """The newest recitation that stands in the history, for agents that append theirs."""
        self._codec: Codec | None = None
        self._head, self._head_tokens = b"", 0
        self._made: list[_Made] = []
        self._pieces: list[Piece] = []
        self._tokens = 0
        self._revision = 0
        self._prefix: Prefix | None = None
        self._earlier: Sequence[Entry] = ()
        """The events before this process, until the first request has looked for the last one in them."""

    @classmethod
    def of(
        cls, log: EventLog, name: str, entries: Iterable[Entry], rules: Sequence[CallRule] = ()
    ) -> "Thread":
        """The thread as the log has it, for a run that goes on; `entries` are its own, in order."""
        thread = cls(log, name, rules=rules)
        thread._earlier = tuple(entries)
        for entry in thread._earlier:
            thread._take(entry)
        return thread

    @property
    def tokens(self) -> int:
        """Tokens of the next request without its tail: head, tools and history, corrected by reports.

        Raises `ContextError` before `configure`.
        """
        self._encode(self._ready())
        return self.calibration.correct(self._head_tokens + self._tokens)

    @property
    def head_tokens(self) -> int:
        """The part of `tokens` that no compaction can free: system prompt and tool schemas."""
        return self.calibration.correct(self._head_tokens)

    @property
    def item_tokens(self) -> list[int]:
        """Tokens of each of `context.items`, corrected, in their order. Raises as `tokens` does."""
        self._encode(self._ready())
        return [self.calibration.correct(made.tokens) for made in self._made]

    def size(self, tail: str = "") -> int:
        """Tokens of the next request with this tail. Raises as `tokens` does."""
        return self.tokens + self.calibration.correct(count_tail(tail, self.counter))

    def view(self, tail: str = "") -> View:
        """The context as compaction strategies see it. Raises as `tokens` does."""
        codec, tokens = self._ready(), tuple(self.item_tokens)

        def count(item: Item) -> int:
            return self.calibration.correct(self._make(codec, item).tokens)

        fixed = self.head_tokens + self.calibration.correct(count_tail(tail, self.counter))
        items = tuple(self.context.items)
        return View(items, tokens, fixed, count, self.context.open_reply)

    def rules(self) -> list[str]:
        """Constraints in the user's messages and pinned texts, short ones first come, up to `MOST_RULES`."""
        revision = (self.context.revision, self._said)
        if self._rules[0] != revision:
            found, room = list[str](), MOST_RULES
            for text in constraints_of(self.context.items):
                room -= len(text)
                if room < 0:
                    break
                found.append(text)
            self._rules = revision, found
        return self._rules[1]

    def append(self, event: Event) -> Entry:
        """Add an event to the log and to the context; durable after the next `commit`."""
        entry = self.log.append(self.name, event)
        self._take(entry)
        return entry

    async def commit(self) -> None:
        """Wait until everything appended so far is durable."""
        await self.log.commit()

    def configure(self, config: ConfigSet, codec: Codec) -> None:
        """Fix what heads the requests from here on. The same configuration again changes nothing."""
        current = self.context.config
        if current is None or current.event != config:
            # What was sent under another configuration cannot be reused.
            self._prefix, self._earlier = Prefix(), ()
            self.append(config)
        self._codec = codec
        self._head, self._head_tokens = shared_head(codec.head(config), self.counter)
        self._made, self._pieces, self._tokens = [], [], 0

    def request(self, tail: str = "") -> Request:
        """Make the next request and record it. Raises `ContextError` before `configure`."""
        codec, config = self._ready(), self.context.config
        assert config is not None
        self.context.close_open_calls()
        last_event = self.context.last_event
        body = codec.body(self._head, self._encode(codec), tail)
        counted = self._head_tokens + self._tokens + count_tail(tail, self.counter)
        if self._prefix is None:
            self._prefix = Prefix(answered_request(self._earlier, codec))
            self._earlier = ()
        sha256, prefix = self._prefix.measure(body)
        sent = RequestSent(
            revision=self.context.revision,
            last_event=last_event,
            tail=tail,
            config=config.seq,
            sha256=sha256,
            size=len(body),
            counted=counted,
            prefix=prefix,
        )
        return Request(self.append(sent).seq, body, self.calibration.correct(counted))

    def ask_summary(
        self, instruction: str, codec: Codec, settings: JsonObject, model: str
    ) -> Request:
        """Make the request for a summary and record it: the history without open calls, the instruction.

        `settings` and `model` are the summariser's; with the thread's own the head is the same.
        """
        config, own = self.context.config, self._ready()
        assert config is not None
        assert isinstance(config.event, ConfigSet)
        shown, head, instead = self.context.answered, self._head, JsonObject()
        if codec == own and settings == config.event.settings:
            self._encode(own)
            made = [made.pieces for made in self._made[: len(shown)]]
        else:
            instead = own_fields(model, codec, settings)
            made = [codec.pieces(item) for item in shown]
            head = codec.head(replace(config.event, **instead))
        body = codec.body(head, [piece for pieces in made for piece in pieces], instruction)
        counted = self._head_tokens + self._tokens + count_tail(instruction, self.counter)
        asked = SummaryAsked(
            revision=self.context.revision,
            last_event=self.context.last_event,
            tail=instruction,
            config=config.seq,
            sha256=hashlib.sha256(body).hexdigest(),
            size=len(body),
            counted=counted,
            prefix=self._prefix.shared(body) if self._prefix and not instead else 0,
            model=model,
            instead=instead,
        )
        return Request(self.append(asked).seq, body, self.calibration.correct(counted))

    def _take(self, entry: Entry) -> None:
        event = entry.event
        answered = isinstance(event, ToolReturned)
        self.status.add(entry, self.context.call_for(event.call_id) if answered else None)
        self.context.add(entry)
        self.calibration.add(entry)
        self.gate.add(entry)
        if self._prefix is not None and answers(entry, self.context.sent):
            self._prefix.answer()
        match event:
            case TodoWritten(text=text):
                # A plan of a later form cannot be read: the one before stands.
                with contextlib.suppress(TodoError):
                    self.todo = parse_todo(text)
            case MessageAdded():
                self._hear(event)
            case ContentOffloaded():
                self._revision = -1  # what the item was made into before no longer holds
            case ContextCompacted(record=record):
                self.recited = ""
                self.record = record or self.record
            case NoteWritten(name=name, text=text):
                self.notes[name] = text
                if not text:
                    del self.notes[name]
            case _:
                pass

    def _hear(self, event: MessageAdded) -> None:
        self._said += event.origin == "user"
        text = plain_text(event.content) if event.origin == "framework" else ""
        self.recited = text if is_tail(text) else self.recited

    def _ready(self) -> Codec:
        if self._codec is None or self.context.config is None:
            raise ContextError(f"thread {self.name!r} has no model configured yet")
        return self._codec

    def _encode(self, codec: Codec) -> list[Piece]:
        """The pieces of all items; those that were made before, compacted or not, are not made again."""
        items = self.context.items
        if self._revision != self.context.revision:
            known = {id(made.item): made for made in self._made}
            self._revision = self.context.revision
            self._made, self._pieces, self._tokens = [], [], 0
            for item in items:
                self._show(known.get(id(item)) or self._make(codec, item))
        for item in items[len(self._made) :]:
            self._show(self._make(codec, item))
        return self._pieces

    def _make(self, codec: Codec, item: Item) -> "_Made":
        pieces = codec.pieces(item)
        tokens = sum(count_piece(piece.data, self.counter) for piece in pieces)
        return _Made(item, pieces, tokens)

    def _show(self, made: "_Made") -> None:
        self._made.append(made)
        self._pieces.extend(made.pieces)
        self._tokens += made.tokens


@dataclass(frozen=True, slots=True)
class _Made:
    """What one item of the context became; holding the item keeps its identity from being used again."""

    item: Item
    pieces: tuple[Piece, ...]
    tokens: int
    """Before correction."""
