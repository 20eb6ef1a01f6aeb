"""Running async work that Ctrl-C and SIGTERM stop without losing anything."""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from .guard import INTERRUPTED, Interrupted
from .screen import say

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Run `work` to its end. The first signal cancels it and lets it clean up; a second one ends the
    process at once, which the event log survives.

    Raises `Interrupted` when a signal ended it, and what `work` raises.
    """
    return asyncio.run(_stoppable(work))


async def _stoppable(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        if stopped:
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # the live display hides the cursor
                sys.stderr.flush()
            os._exit(INTERRUPTED)
        stopped = True
        say("stopping and saving the run; once more to stop at once")
        task.cancel()

    # They stay until the loop is closed, so that a second signal also ends a slow clean-up.
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        if not stopped:
            raise
        raise Interrupted from None
