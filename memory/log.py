"""The event log: what it promises, and the one in memory."""

import time
from collections.abc import Callable
from typing import Protocol

from .events import Entry, Event


class EventLog(Protocol):
    """An append-only list of events of one run, shared by all of its threads."""

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event and give it its position. Returns at once; `commit` makes it durable.

        Must be called on one event loop (or one program thread); raises `LogError` after `close`.
        """
        ...

    def has(self, thread: str) -> bool:
        """True when the log holds at least one event of this thread."""
        ...

    async def commit(self) -> None:
        """Return when everything appended so far is durable; raises `LogError` when it cannot be."""
        ...

    async def read(self, thread: str | None = None, after: int = 0) -> list[Entry]:
        """Entries in order with position > `after`, of one thread or (`None`) of all."""
        ...

    async def close(self) -> None:
        """Commit and release; closing twice is allowed."""
        ...


class MemoryEventLog:
    """A log that lives as long as the process: for tests and for runs nobody wants to keep."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._entries: list[Entry] = []
        self._threads: set[str] = set()

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event; see `EventLog.append`."""
        entry = Entry(len(self._entries) + 1, thread, self._clock(), event)
        self._entries.append(entry)
        self._threads.add(thread)
        return entry

    def has(self, thread: str) -> bool:
        """Whether there is such a thread; see `EventLog.has`."""
        return thread in self._threads

    async def commit(self) -> None:
        """Nothing to do: the list is the store."""

    async def read(self, thread: str | None = None, after: int = 0) -> list[Entry]:
        """Entries after a position; see `EventLog.read`."""
        return [e for e in self._entries[after:] if thread is None or e.thread == thread]

    async def close(self) -> None:
        """Nothing to release."""
