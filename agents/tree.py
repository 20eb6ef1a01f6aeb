"""The tree: the threads of one run at work, the places they take, and how any part of them is stopped.

A thread's name begins with its parent's name and a dot, so a subtree is known by its root's name.
"""

import asyncio
from collections.abc import Iterator
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
    places: asyncio.Semaphore | None = None
    """Bounds how many subagents of the whole run work at once; made by the first runner."""

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
