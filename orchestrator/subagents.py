"""Subagents: what can be delegated to, and an `Agent` as one."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from pydantic import BaseModel

from agents import (
    Agent,
    Handing,
    Limits,
    Meter,
    Model,
    Outcome,
    Run,
    See,
    Session,
    open_session,
    resolve_model,
    salvaged,
)
from memory import dumps

from .briefing import briefed
from .models import Chain
from .prefix import open_fork
from .tasks import TaskSpec


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


@dataclass(frozen=True)
class AgentSubagent:
    """An `Agent` that can be delegated to."""

    agent: Agent
    models: Sequence[Model]
    lead: Sequence[Model] = ()
    """The coordinator's models: a child that forks uses them, or it would miss the cache."""

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

    @property
    def sees(self) -> See:
        """What it sees of its parent when the delegation does not say."""
        return self.agent.sees

    @property
    def output_type(self) -> type[BaseModel] | None:
        """The type of its output, `None` when it answers in text."""
        return self.agent.output_type

    @cached_property
    def prefix_bytes(self) -> int:
        """Bytes that head the requests of all its threads: instructions and tool schemas."""
        tools = [tool.spec() for tool in self.agent.toolbox().values()]
        return len(self.agent.instructions) + len(dumps(tools))

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Run the agent's loop on the task."""
        session = await self._session(run, spec, meter)
        session.handing = Handing(spec.cap)
        session.pinned = (*session.pinned, *spec.constraints)
        outcome = await record_outcome(session, await session.agent.run(session))
        session.let_go()
        return outcome

    async def _session(self, run: Run, spec: TaskSpec, meter: Meter) -> Session:
        if spec.see == "fork":
            return await open_fork(run, self.agent, spec, self.lead or self.models, meter)
        return await open_session(
            run,
            self.agent,
            await briefed(run, spec, self.models[0].window),
            thread=spec.thread,
            models=self.models,
            parent=spec.parent,
            meter=meter,
        )


async def record_outcome(session: Session, outcome: Outcome) -> Outcome:
    """Append the thread's end, unless it has one or only waits for a person, and make all durable.

    One that ended badly gets what it had found, from its log.
    """
    if session.ended is None and outcome.status != "paused":
        outcome = await salvaged(session.run.log, outcome, session.agent.output_type)
        session.thread.append(outcome.event())
        session.ended = outcome
    await session.thread.commit()
    return outcome
