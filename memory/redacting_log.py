"""A log that keeps secrets out of itself, for runs that hide them from their models as well."""

from dataclasses import replace
from typing import cast

from .blocks import Block, ResultBlock, Text, ToolResult, Unknown
from .events import (
    Entry,
    Event,
    MessageAdded,
    NoteWritten,
    RunStarted,
    ThreadStarted,
    TodoWritten,
    ToolReturned,
)
from .log import EventLog
from .redaction import redact, redact_value


class RedactingLog:
    """An `EventLog` in front of another one: words of users, tools and agents are redacted first.

    What a model says is kept as it is: it has not seen what was hidden. The configuration is kept as it
    is: it is the developer's own text, and its bytes head every request.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event without its secrets; see `EventLog.append`. The entry holds what was added."""
        return self._log.append(thread, _redacted(event))

    def has(self, thread: str) -> bool:
        """Whether there is such a thread; see `EventLog.has`."""
        return self._log.has(thread)

    async def commit(self) -> None:
        """See `EventLog.commit`."""
        await self._log.commit()

    async def read(self, thread: str | None = None, after: int = 0) -> list[Entry]:
        """See `EventLog.read`."""
        return await self._log.read(thread, after)

    async def close(self) -> None:
        """See `EventLog.close`."""
        await self._log.close()


def redact_blocks(blocks: tuple[ResultBlock, ...]) -> tuple[ResultBlock, ...]:
    """A tool's result without its secrets; images stay."""
    return cast(tuple[ResultBlock, ...], tuple(_block(block) for block in blocks))


def _redacted(event: Event) -> Event:
    match event:
        case RunStarted() | ThreadStarted():
            return replace(event, task=redact(event.task))
        case MessageAdded():
            return replace(event, content=tuple(_block(block) for block in event.content))
        case ToolReturned():
            return replace(event, content=redact_blocks(event.content))
        case NoteWritten() | TodoWritten():
            return replace(event, text=redact(event.text))
        case _:
            return event


def _block(block: Block) -> Block:
    match block:
        case Text():
            return replace(block, text=redact(block.text))
        case ToolResult():
            return replace(block, content=redact_blocks(block.content))
        case Unknown():
            return replace(block, data=redact_value(block.data))
        case _:
            return block
