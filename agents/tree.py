"""The tree: the threads of one run at work, the places they take, and how any part of them is stopped.

A thread's name begins with its parent's name and a dot, so a subtree is known by its root's name.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from typing import Any

GRACE_SECONDS = 5.0
"""How long a cancelled thread may take to clean up before it is left to itself."""


@dataclass(slots=True)
class Tree:
    """What is at work in one run, in this process."""

    tasks: dict[str, "asyncio.Task[Any]"] = field(default_factory=dict[str, "asyncio.Task[Any]"])
    """The task of each thread at work."""
    cancelled: set[str] = field(default_factory=set[str])
    """Roots of the subtrees that were cancelled; `""` stands for the whole run."""
    abandoned: int = 0
    """Tool calls in threads and agents that did not stop when told to, and were left to themselves."""
    gate: asyncio.Semaphore | None = None
    """Bounds how many subagents of the whole run work at once; made by the first runner."""
    places: dict[str, "Place"] = field(default_factory=dict[str, "Place"])
    """The place of each subagent at work."""
    firsts: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    """Threads whose first words others wait for, because those will share their cached prefix."""

    def began(self, thread: str) -> None:
        """The first piece of a thread's first reply is there, or it has ended: let the others go."""
        if self.firsts and (waited := self.firsts.pop(thread, None)):
            waited.set()

    def stopped(self, thread: str) -> bool:
        """True when this thread, or one above it, was cancelled: it must make no further call."""
        return any(_within(thread, root) for root in self.cancelled)

    def below(self, root: str) -> Iterator["asyncio.Task[Any]"]:
        """The tasks at work of a subtree; `""` for all."""
        for thread, task in list(self.tasks.items()):
            if _within(thread, root) and not task.done():
                yield task

    async def cancel(self, root: str = "") -> int:
        """Stop a subtree and return, once all of it has stopped, how many threads were at work.

        From the return on nothing of the subtree makes a call. A thread that does not clean up within
        `GRACE_SECONDS` is left to itself, and refused at its next call.
        """
        self.cancelled.add(root)
        tasks = [task for task in self.below(root) if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            self.abandoned += len(late)
        return len(tasks)


def _within(thread: str, root: str) -> bool:
    return not root or thread == root or thread.startswith(root + ".")


class Place:
    """A thread's place among those of the tree that may work at once.

    A thread that waits for its children lends its place to them, so that no depth of nesting can use up
    all places by waiting.
    """

    def __init__(self, gate: asyncio.Semaphore) -> None:
        self._gate, self._held, self._children = gate, False, 0

    async def __aenter__(self) -> None:
        await self._gate.acquire()
        self._held = True

    async def __aexit__(self, *_: object) -> None:
        self._give()

    @contextlib.asynccontextmanager
    async def lent(self) -> AsyncGenerator[None]:
        """While a child of this thread waits for a place or works; taken back when all have ended."""
        self._children += 1
        self._give()
        try:
            yield
        finally:
            self._children -= 1
        if not self._children:
            await self._gate.acquire()
            self._held = True

    def _give(self) -> None:
        if self._held:
            self._held = False
            self._gate.release()
