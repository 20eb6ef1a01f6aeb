"""Threads for sync tools: daemon threads, so that a call that never returns keeps nobody from ending.

A Python thread cannot be killed. A call whose time is up is therefore abandoned: its thread goes on, what
it returns is dropped, and the next call gets another thread. The usual executor would run out of threads
after a few such calls, and would wait for all of them when the program ends.
"""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

IDLE_SECONDS = 30.0
"""How long a thread without work waits for more."""


@dataclass(slots=True)
class _Job:
    function: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[Any]"


_idle: "list[queue.SimpleQueue[_Job]]" = []
_lock = threading.Lock()


async def in_thread(function: Callable[..., Any], /, *args: Any, **given: Any) -> Any:
    """What `function` returns or raises, run in a thread with this task's context variables.

    Cancelling it leaves the thread to itself.
    """
    context = contextvars.copy_context()
    loop = asyncio.get_running_loop()
    job = _Job(lambda: context.run(function, *args, **given), loop, loop.create_future())
    with _lock:
        inbox = _idle.pop() if _idle else None
        if inbox is not None:
            inbox.put(job)
    if inbox is None:
        threading.Thread(target=_work, args=(job,), name="undrift-tool", daemon=True).start()
    return await job.done


def _work(job: _Job) -> None:
    inbox: queue.SimpleQueue[_Job] = queue.SimpleQueue()
    while True:
        _do(job)
        with _lock:
            _idle.append(inbox)
        try:
            job = inbox.get(timeout=IDLE_SECONDS)
        except queue.Empty:
            with _lock:
                if inbox in _idle:
                    _idle.remove(inbox)
                    return
            job = inbox.get()  # given in the moment between


def _do(job: _Job) -> None:
    try:
        result, error = job.function(), None
    except BaseException as raised:  # noqa: BLE001 - handed to whoever awaits, whatever it is
        result, error = None, raised
    try:
        job.loop.call_soon_threadsafe(_settle, job.done, result, error)
    except RuntimeError:  # the loop has ended: nobody waits any more
        return


def _settle(done: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if done.done():
        return
    if error is None:
        done.set_result(result)
    elif isinstance(error, StopIteration):  # a future refuses it
        done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
    else:
        done.set_exception(error)
