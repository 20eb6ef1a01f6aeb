"""The runner: works on one task with one subagent, and turns whatever happens into an outcome.

A child cannot hurt its parent: a raise, a hang, a cancellation or a limit comes back as data. Asking
for a thread that the log already holds finished gives its recorded outcome and costs nothing, which is
how a run goes on after a crash.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents import (
    Agent,
    AgentEnded,
    AgentStarted,
    LimitReached,
    Limits,
    Meter,
    Model,
    Outcome,
    Run,
    Session,
    open_session,
    resolve_model,
)
from memory import ThreadStarted

from .models import Chain


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task for one subagent; plain data, so that a distributed runner can follow."""

    thread: str
    """The child's thread; its name is the same in every resume."""
    agent: str
    """Name of the subagent."""
    task: str
    parent: str
    """The thread that asks."""
    seconds: float | None = None
    """Wall time for this task, `None` for the agent's own limit."""
    depth: int = 1
    """Levels below the run's first agent."""


class Runner(Protocol):
    """Where subagents run."""

    async def submit(self, spec: TaskSpec) -> Outcome:
        """Work on one task until it has an outcome. Raises only `CancelledError`."""
        ...


class Subagent(Protocol):
    """What can be delegated to: an agent, a coordinator, a LangGraph runnable."""

    @property
    def name(self) -> str:
        """Name by which it is asked."""
        ...

    @property
    def description(self) -> str:
        """What it is for."""
        ...

    @property
    def limits(self) -> Limits:
        """Its own limits; those of the tree above hold besides."""
        ...

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Do the task on the thread `spec.thread` of `run`."""
        ...


def resolve_chain(chain: Chain, *, base_url: str | None = None) -> tuple[Model, ...]:
    """The models of a fallback chain. Raises `AgentDefinitionError` for a name that is none."""
    names: Sequence[Model | str] = (
        chain if isinstance(chain, Sequence) and not isinstance(chain, str) else (chain,)
    )
    return tuple(resolve_model(name, base_url=base_url) for name in names)


@dataclass(frozen=True, slots=True)
class AgentSubagent:
    """An `Agent` that can be delegated to."""

    agent: Agent
    models: Sequence[Model]

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def description(self) -> str:
        """The agent's description, or the first line of its instructions."""
        return self.agent.description or self.agent.instructions.strip().partition("\n")[0]

    @property
    def limits(self) -> Limits:
        """The agent's limits."""
        return self.agent.limits

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Run the agent's loop on the task."""
        session = await open_session(
            run,
            self.agent,
            spec.task,
            thread=spec.thread,
            models=self.models,
            parent=spec.parent,
            meter=meter,
        )
        outcome = await self.agent.run(session)
        return await record_outcome(session, outcome)


async def record_outcome(session: Session, outcome: Outcome) -> Outcome:
    """Append the thread's end, unless it has one or only waits for a person, and make all durable."""
    if session.ended is None and outcome.status != "paused":
        session.thread.append(outcome.event())
        session.ended = outcome
    await session.thread.commit()
    return outcome


class AsyncRunner:
    """Runs subagents as tasks of this event loop, a bounded number at a time."""

    def __init__(self, run: Run, subagents: Mapping[str, Subagent], meter: Meter) -> None:
        self.run, self.subagents, self.meter = run, subagents, meter
        self._gate = asyncio.Semaphore(meter.limits.parallel_agents)

    async def submit(self, spec: TaskSpec) -> Outcome:
        """Work on one task; see `Runner.submit`."""
        async with self._gate:
            self.run.emit(AgentStarted(spec.thread, spec.agent, spec.task))
            outcome = await self._guarded(spec)
            self.run.emit(AgentEnded(spec.thread, outcome.status, outcome.reason))
            return outcome

    async def _guarded(self, spec: TaskSpec) -> Outcome:
        subagent = self.subagents.get(spec.agent)
        if subagent is None:
            known = ", ".join(self.subagents) or "none"
            return _failed(spec, f"there is no agent {spec.agent!r}; the agents are: {known}")
        meter = Meter(subagent.limits, self.meter)
        deadline = asyncio.timeout(_least(spec.seconds, meter.time_left()))
        try:
            if not self.run.log.has(spec.thread):  # a resumed run counted it when it was opened
                self.meter.count_agent()
            if spec.depth > self.run.meter.limits.depth:
                raise LimitReached(
                    "depth", f"agents may stand {spec.depth - 1} levels deep, not deeper"
                )
            async with deadline:
                return await subagent.work(self.run, spec, meter)
        except LimitReached as error:
            return await self._ended(
                spec, Outcome(spec.thread, spec.agent, spec.task, "limit", str(error))
            )
        except TimeoutError as error:
            if not deadline.expired():
                return await self._ended(spec, _failed(spec, f"{type(error).__name__}: {error}"))
            reason = "it did not finish within its time"
            return await self._ended(
                spec, Outcome(spec.thread, spec.agent, spec.task, "timed_out", reason)
            )
        except Exception as error:  # noqa: BLE001 - the boundary: a child's failure is data for its parent
            return await self._ended(spec, _failed(spec, f"{type(error).__name__}: {error}"))

    async def _ended(self, spec: TaskSpec, outcome: Outcome) -> Outcome:
        """Record an end that the child could not record itself."""
        if not self.run.log.has(spec.thread):
            self.run.log.append(spec.thread, ThreadStarted(spec.agent, spec.parent, spec.task))
        self.run.log.append(spec.thread, outcome.event())
        await self.run.log.commit()
        return outcome


def _failed(spec: TaskSpec, reason: str) -> Outcome:
    return Outcome(spec.thread, spec.agent, spec.task, "failed", reason)


def _least(first: float | None, second: float | None) -> float | None:
    given = [value for value in (first, second) if value is not None]
    return min(given) if given else None
