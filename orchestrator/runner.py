"""The runner: works on tasks with subagents, and turns whatever happens into outcomes.

A child cannot hurt its parent: a raise, a hang, a cancellation or a limit comes back as data. Asking
for a thread that the log already holds finished gives its recorded outcome and costs nothing, which is
how a run goes on after a crash.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping

from agents import (
    GRACE_SECONDS,
    AgentEnded,
    AgentStarted,
    LimitReached,
    Meter,
    Outcome,
    Place,
    Run,
    agent_span,
    outcome_from,
    salvaged,
    tell_status,
)
from memory import Status, ThreadEnded, ThreadStarted

from .subagents import Subagent
from .tasks import TaskSpec

CACHED_BYTES = 4_096
"""A shared beginning from this size on (about 1,024 tokens, the least that providers cache) is worth
waiting for: the first child goes ahead, and the others read what it put into the cache."""
AHEAD_SECONDS = 10.0
"""How long the others wait for the first one's first words."""
CANCELLED = "it was cancelled"
CANCELLED_INSIDE = "it was cancelled by something inside it"
"""Reasons of the status `cancelled`: somebody stopped it, or its own code raised the cancellation."""


class AsyncRunner:
    """Runs subagents as tasks of this event loop, a bounded number of the whole tree at a time.

    `thread` is the one that asks; it lends its place to its children while it waits for them.
    """

    def __init__(
        self, run: Run, subagents: Mapping[str, Subagent], meter: Meter, thread: str = ""
    ) -> None:
        self.run, self.subagents, self.meter = run, subagents, meter
        tree = run.tree
        if tree.gate is None:
            tree.gate = asyncio.Semaphore(run.meter.limits.parallel_agents)
        self._gate = tree.gate
        self._place = tree.places.get(thread)
        self._submitted: set[str] = set()
        self._ahead: dict[str, asyncio.Event] = {}
        self._closed = False

    async def submit(self, spec: TaskSpec) -> Outcome:
        """Work on one task; see `Runner.submit`."""
        self._submitted.add(spec.thread)
        if recorded := await self._recorded(spec):
            return recorded
        lent = self._place.lent() if self._place else contextlib.nullcontext()
        try:
            async with lent:
                await self._wait_for_first(spec)
                return await self._placed(spec)
        finally:
            self.run.tree.began(spec.thread)

    async def results(self, specs: Iterable[TaskSpec]) -> AsyncIterator[Outcome]:
        """Outcomes as they finish; see `Runner.results`."""
        tasks = [asyncio.create_task(self.submit(spec)) for spec in specs]
        try:
            for finished in asyncio.as_completed(tasks):
                yield await finished
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def cancel(self, thread: str) -> int:
        """Stop a subtree; see `Runner.cancel`."""
        return await self.run.tree.cancel(thread)

    async def close(self) -> None:
        """Stop what was submitted here; see `Runner.close`."""
        self._closed = True
        for thread in list(self._submitted):
            if thread in self.run.tree.tasks:
                await self.run.tree.cancel(thread)

    async def _placed(self, spec: TaskSpec) -> Outcome:
        """Queue for a place and work; whoever gets none in time is refused with an outcome."""
        place = Place(self._gate)
        try:
            async with asyncio.timeout(self.meter.time_left()):
                await place.__aenter__()
        except TimeoutError:
            return await self._ended(spec, "limit", "the time was up before its turn came")
        self.run.tree.places[spec.thread] = place
        try:
            self.run.emit(AgentStarted(spec.thread, spec.agent, spec.task))
            with agent_span(self.run, spec.agent, spec.thread, spec.traceparent) as span:
                outcome = await self._watched(spec)
                tell_status(span, outcome.status)
            self.run.emit(AgentEnded(spec.thread, outcome.status, outcome.reason))
            return outcome
        finally:
            del self.run.tree.places[spec.thread]
            await place.__aexit__()

    async def _watched(self, spec: TaskSpec) -> Outcome:
        """Work in a task of its own, which can be stopped without stopping who waits for it."""
        tree, thread = self.run.tree, spec.thread
        if tree.stopped(thread) or self._closed:
            return await self._ended(spec, "cancelled", "it was cancelled before it began")
        meter = self._meter(spec)
        task = tree.tasks[thread] = asyncio.create_task(self._guarded(spec, meter))
        try:
            await asyncio.wait({task}, timeout=meter.time_left())
            if late := not task.done():
                tree.cancelled.add(thread)  # so that those below it end too, and not only stop
                await self._stop(spec, task)
        except asyncio.CancelledError:
            await asyncio.shield(self._stop(spec, task))
            if tree.stopped(thread):
                await asyncio.shield(self._ended(spec, "cancelled", CANCELLED))
            raise
        finally:
            tree.tasks.pop(thread, None)
        if task.done() and not task.cancelled():
            return task.result()
        if late:
            return await self._ended(spec, "timed_out", "it did not finish within its time")
        reason = CANCELLED if tree.stopped(thread) else CANCELLED_INSIDE
        return await self._ended(spec, "cancelled", reason)

    async def _stop(self, spec: TaskSpec, task: "asyncio.Task[Outcome]") -> None:
        """Cancel a child and wait for its clean-up; one that does not stop is left, and refused calls."""
        if not task.cancelling():
            task.cancel()
        await asyncio.wait({task}, timeout=GRACE_SECONDS)
        if not task.done():
            self.run.tree.abandoned += 1
            self.run.tree.cancelled.add(spec.thread)

    def _meter(self, spec: TaskSpec) -> Meter:
        """The child's meter: the task's own limits, below the agent's, below this runner's."""
        subagent = self.subagents.get(spec.agent)
        meter = Meter(subagent.limits, self.meter) if subagent else self.meter
        return spec.meter(meter)

    async def _guarded(self, spec: TaskSpec, meter: Meter) -> Outcome:
        try:
            subagent = self.subagents.get(spec.agent)
            if subagent is None:
                known = ", ".join(self.subagents) or "none"
                reason = f"there is no agent {spec.agent!r}; the agents are: {known}"
                return await self._ended(spec, "failed", reason)
            if spec.depth > self.run.meter.limits.depth:
                levels = f"agents may stand {spec.depth - 1} levels deep, not deeper"
                raise LimitReached("depth", f"{levels}; do this task yourself")
            if not self.run.log.has(spec.thread):  # a resumed run counted it when it was opened
                self.meter.count_agent()
            return await subagent.work(self.run, spec, meter)
        except LimitReached as error:
            return await self._ended(spec, "limit", str(error))
        except Exception as error:  # noqa: BLE001 - the boundary: a child's failure is data for its parent
            return await self._ended(spec, "failed", f"{type(error).__name__}: {error}")

    async def _recorded(self, spec: TaskSpec) -> Outcome | None:
        """The outcome that the log holds for a thread that has ended."""
        entries = await self.run.log.read(spec.thread) if self.run.log.has(spec.thread) else []
        end = entries[-1].event if entries else None
        if isinstance(end, ThreadEnded):
            return outcome_from(end, spec.thread, spec.agent, spec.task)
        return None

    async def _ended(self, spec: TaskSpec, status: Status, reason: str) -> Outcome:
        """Record an end that the child could not record itself, with what it had found."""
        if recorded := await self._recorded(spec):
            return recorded
        log, subagent = self.run.log, self.subagents.get(spec.agent)
        outcome = Outcome(spec.thread, spec.agent, spec.task, status, reason)
        outcome = await salvaged(log, outcome, getattr(subagent, "output_type", None))
        if not log.has(spec.thread):
            log.append(spec.thread, ThreadStarted(spec.agent, spec.parent, spec.task))
        log.append(spec.thread, outcome.event())
        await log.commit()
        return outcome

    async def _wait_for_first(self, spec: TaskSpec) -> None:
        """Let the first child of a large shared beginning go ahead until its first words are there."""
        size = getattr(self.subagents.get(spec.agent), "prefix_bytes", 0)
        if spec.see != "fork" and size < CACHED_BYTES:
            return
        shared = f"{spec.parent}/{spec.seen if spec.see == 'fork' else spec.agent}"
        first = self._ahead.get(shared)
        if first is None:
            self._ahead[shared] = self.run.tree.firsts[spec.thread] = asyncio.Event()
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AHEAD_SECONDS):
                await first.wait()
