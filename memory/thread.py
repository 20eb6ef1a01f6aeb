"""A thread: one agent's line in the log, and the bytes of its next request, kept up to date."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from .codec import Codec, Piece
from .context import Context, build_context
from .errors import ContextError
from .events import ConfigSet, Entry, Event, RequestSent
from .log import EventLog


@dataclass(frozen=True, slots=True)
class Request:
    """One model call, ready to leave."""

    seq: int
    """Position of its `RequestSent` in the log."""
    body: bytes
    """The exact bytes."""


class Thread:
    """Appends events of one agent and keeps its context and pieces in step.

    A message is turned into bytes once, when its event is appended; a request only joins them.
    """

    def __init__(self, log: EventLog, name: str) -> None:
        self.log, self.name = log, name
        self.context = Context()
        self._codec: Codec | None = None
        self._head = b""
        self._pieces: list[Piece] = []
        self._encoded = 0
        self._revision = 0

    @classmethod
    def of(cls, log: EventLog, name: str, entries: Iterable[Entry]) -> "Thread":
        """The thread as the log has it, for a run that goes on; `entries` are its own, in order."""
        thread = cls(log, name)
        thread.context = build_context(entries)
        thread._revision = thread.context.revision
        return thread

    def append(self, event: Event) -> Entry:
        """Add an event to the log and to the context; durable after the next `commit`."""
        entry = self.log.append(self.name, event)
        self.context.add(entry)
        return entry

    async def commit(self) -> None:
        """Wait until everything appended so far is durable."""
        await self.log.commit()

    def configure(self, config: ConfigSet, codec: Codec) -> None:
        """Fix what heads the requests from here on. The same configuration again changes nothing."""
        current = self.context.config
        if current is None or current.event != config:
            self.append(config)
        self._codec, self._head = codec, codec.head(config)
        self._pieces, self._encoded = [], 0

    def request(self, tail: str = "") -> Request:
        """Make the next request and record it. Raises `ContextError` before `configure`."""
        config = self.context.config
        if self._codec is None or config is None:
            raise ContextError(f"thread {self.name!r} has no model configured yet")
        self.context.close_open_calls(self.context.last_event)
        last_event = self.context.last_event
        body = self._codec.body(self._head, self._encode(self._codec), tail)
        sent = RequestSent(
            revision=self.context.revision,
            last_event=last_event,
            tail=tail,
            config=config.seq,
            sha256=hashlib.sha256(body).hexdigest(),
            size=len(body),
        )
        return Request(self.append(sent).seq, body)

    def _encode(self, codec: Codec) -> list[Piece]:
        if self._revision != self.context.revision:
            self._pieces, self._encoded, self._revision = [], 0, self.context.revision
        for item in self.context.items[self._encoded :]:
            self._pieces.extend(codec.pieces(item))
        self._encoded = len(self.context.items)
        return self._pieces
