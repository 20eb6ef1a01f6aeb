"""Streaming: a run's events as typed progress, and from any position of its log again.

What is durable is told from the log's own entries, so that each event has its position there (`seq`) and a
reader who was cut off goes on behind the last one it saw. Pieces of text are streamed once and not kept.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING

from agents import (
    AgentEnded,
    AgentStarted,
    Compacted,
    Emit,
    LimitHit,
    Progress,
    StageStarted,
    TokenStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from memory import (
    COPIED,
    ContextCompacted,
    Entry,
    Event,
    EventLog,
    ReplyReceived,
    RequestSent,
    ThreadEnded,
    ThreadStarted,
    ToolCall,
    ToolReturned,
)

from .result import RunResult
from .runs import LiveRun

if TYPE_CHECKING:
    from pathlib import Path

    from .coordinator import Coordinator

LIMITS = frozenset({"limit", "timed_out"})


class Teller:
    """Turns entries of a log, in order, into progress events."""

    def __init__(self) -> None:
        self._turns: dict[str, int] = {}

    def told(self, entry: Entry) -> Iterator[Progress]:
        """What an entry means to whoever watches."""
        thread, seq = entry.thread, entry.seq
        match entry.event:
            case ThreadStarted(agent=agent, task=task):
                yield AgentStarted(thread, agent, task, seq)
            case RequestSent():
                turn = self._turns[thread] = self._turns.get(thread, 0) + 1
                yield TurnStarted(thread, turn, seq)
            case ReplyReceived(request=request) as event if request != COPIED:
                yield from _replied(thread, event, seq)
            case ToolReturned() as event:
                yield ToolEnded(thread, event.name, event.is_error, event.seconds, seq)
            case ContextCompacted() as event:
                yield Compacted(thread, event.strategy, event.before, event.after, seq)
            case ThreadEnded() as event:
                yield from _ended(thread, event, seq)
            case _:
                pass


def _replied(thread: str, event: ReplyReceived, seq: int) -> Iterator[Progress]:
    yield TurnEnded(thread, event.usage, seq)
    for block in event.content:
        if isinstance(block, ToolCall):
            yield ToolStarted(thread, block.name, block.arguments, seq)


def _ended(thread: str, event: ThreadEnded, seq: int) -> Iterator[Progress]:
    if event.status in LIMITS:
        yield LimitHit(thread, event.reason, seq)
    yield AgentEnded(thread, event.status, event.reason, seq, event.result)


class ToldLog:
    """An `EventLog` in front of another one that tells every entry as it is appended."""

    def __init__(self, log: EventLog, tell: Callable[[Entry], None]) -> None:
        self._log, self._tell = log, tell

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event and tell it; see `EventLog.append`."""
        entry = self._log.append(thread, event)
        self._tell(entry)
        return entry

    def has(self, thread: str) -> bool:
        """See `EventLog.has`."""
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


async def stream_new(
    coordinator: "Coordinator", task: str, run_id: str | None
) -> AsyncGenerator[Progress | RunResult, None]:
    """Start a run and yield its events and its result; see `Coordinator.stream`."""
    async with contextlib.aclosing(
        _streamed(lambda emit: coordinator.start(task, run_id, emit), coordinator.drive, 0)
    ) as events:
        async for event in events:
            yield event


async def stream_again(
    coordinator: "Coordinator", run: "str | Path", after: int
) -> AsyncGenerator[Progress | RunResult, None]:
    """Yield what the log has behind a position, then go on; see `Coordinator.follow`."""
    async with contextlib.aclosing(
        _streamed(lambda emit: coordinator.open(run, emit), coordinator.drive, after)
    ) as events:
        async for event in events:
            yield event


async def _streamed(
    opening: Callable[[Emit], Awaitable[LiveRun]],
    driving: Callable[[LiveRun], Awaitable[RunResult]],
    after: int,
) -> AsyncGenerator[Progress | RunResult, None]:
    queue: asyncio.Queue[Progress | None] = asyncio.Queue()
    running = asyncio.create_task(_working(opening, driving, after, queue))
    running.add_done_callback(lambda _: queue.put_nowait(None))
    try:
        while (event := await queue.get()) is not None:
            yield event
        yield running.result()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def _working(
    opening: Callable[[Emit], Awaitable[LiveRun]],
    driving: Callable[[LiveRun], Awaitable[RunResult]],
    after: int,
    queue: "asyncio.Queue[Progress | None]",
) -> RunResult:
    """Work on a run to its end and put all that it tells into the queue, from behind a position on."""
    teller = Teller()

    def emit(event: Progress) -> None:
        if isinstance(event, TokenStreamed | StageStarted):
            queue.put_nowait(event)

    def tell(entry: Entry) -> None:
        for event in teller.told(entry):
            if entry.seq > after:
                queue.put_nowait(event)

    live = await opening(emit)
    try:
        for entry in await live.run.log.read():
            tell(entry)
    except BaseException:
        await live.close()
        raise
    live.run.log = ToldLog(live.run.log, tell)
    return await driving(live)
