"""The coordinator: an agent that sends subagents out in parallel, run by a LangGraph graph."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from agents import (
    Agent,
    AgentDefinitionError,
    Emit,
    Limits,
    Meter,
    Outcome,
    Progress,
    Run,
    ignore,
    open_session,
)
from memory import JsonObject, MessageAdded, Text

from .delegation import delegate_tool
from .errors import QuestionRefused
from .foreign import RunnableSubagent, as_subagent, message_text
from .models import Chain
from .result import RunResult
from .runner import AgentSubagent, AsyncRunner, Subagent, TaskSpec, resolve_chain
from .runs import LiveRun, open_run, start_run
from .work import Work

MAIN = "main"
"""The thread of a run's first agent."""


class Coordinator:
    """An agent with subagents: delegates, waits for all of them, goes on with their conclusions.

    `subagents` may be agents, other coordinators and LangGraph runnables. `model` serves every agent
    that names none. `runs` is the folder in which runs are kept; `None` keeps them in memory only.
    Raises `AgentDefinitionError` for two subagents of one name or an agent without a model.
    """

    def __init__(
        self,
        agent: Agent,
        subagents: Sequence[Any] = (),
        *,
        model: Chain | None = None,
        limits: Limits | None = None,
        runs: Path | str | None = None,
        deps: Any = None,
    ) -> None:
        self.limits = limits or agent.limits
        self.model, self.deps = model, deps
        self.runs = Path(runs) if runs is not None else None
        self.options: JsonObject = {"kind": "coordinator"}
        """Kept in the log of every run, enough for the command line to find this object again."""
        self.subagents = _named(subagents, agent, model)
        tools = [*agent.tools, *([delegate_tool(self.subagents)] if self.subagents else [])]
        self.agent = replace(
            agent, tools=tools, limits=replace(agent.limits, turns=self.limits.turns)
        )
        self.agent.toolbox()
        self._works: dict[str, Work] = {}
        self._kept: dict[str, LiveRun] = {}
        self._compiled: Any = None

    @property
    def name(self) -> str:
        """The agent's name."""
        return self.agent.name

    @property
    def description(self) -> str:
        """What it is for, shown to a coordinator above it."""
        return self.agent.description or self.agent.instructions.strip().partition("\n")[0]

    async def run(self, task: str, *, run_id: str | None = None, emit: Emit = ignore) -> RunResult:
        """Work on a task as a new run. Failures inside are the result's status, not raises.

        Raises `QuestionRefused` for an empty task and the errors of `start_run`.
        """
        if not task.strip():
            raise QuestionRefused("the task is empty; say what is to be done")
        live = await self._start(task, run_id, emit)
        return await self._drive(live, None)

    def run_sync(self, task: str, **options: Any) -> RunResult:
        """`run` for scripts without an event loop."""
        return asyncio.run(self.run(task, **options))

    async def ask(self, run: str | Path, message: str, *, emit: Emit = ignore) -> RunResult:
        """Send a follow-up message to a finished run; it sees everything that the run saw.

        `run` is a folder or an id under `runs`. Raises `RunNotFound`, `LogLocked`, `LogError`.
        """
        return await self._drive(await self._open(run, emit), message)

    async def resume(self, run: str | Path, *, emit: Emit = ignore) -> RunResult:
        """Go on with a run that was interrupted; a finished one gives its result again, at no cost."""
        return await self._drive(await self._open(run, emit), None)

    async def stream(
        self, task: str, *, run_id: str | None = None
    ) -> AsyncIterator[Progress | RunResult]:
        """`run`, yielding every progress event of the whole tree as it happens and the result last."""
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        running = asyncio.create_task(self.run(task, run_id=run_id, emit=queue.put_nowait))
        running.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            while (event := await queue.get()) is not None:
                yield event
            yield running.result()
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    def compile(self, checkpointer: Any = None) -> Any:
        """A compiled LangGraph graph (`messages` in, the answer's message out) for other graphs.

        Each host thread is one run of ours: a second call on it is a follow-up message.
        """
        from .graph import CoordinatorGraph

        return CoordinatorGraph(self).build(checkpointer)

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Do a task as a subagent of another coordinator."""
        work = await self._work_on(run, spec, meter)
        await self._invoke(work)
        return work.outcome or Outcome(spec.thread, spec.agent, spec.task, "failed", "no outcome")

    # What the graph's nodes call.

    def work_of(self, state: Mapping[str, Any]) -> Work:
        """The work that a graph's state names. Raises `AgentDefinitionError` when it is not here."""
        work = self._works.get(state.get("run_id", ""))
        if work is None:
            raise AgentDefinitionError(
                "this graph's state belongs to another process; start the graph from its beginning with "
                "the same thread, and it goes on from the event log"
            )
        return work

    async def open_work(self, state: Mapping[str, Any], config: Mapping[str, Any]) -> Work:
        """The work of a state, or a new one for a host graph's thread."""
        if state.get("run_id", "") in self._works:
            return self.work_of(state)
        task = state.get("task") or _last_text(state.get("messages") or [])
        if not task.strip():
            raise QuestionRefused("the graph got no task: give `task` or a last message with text")
        host = str((config.get("configurable") or {}).get("thread_id") or "")
        run_id = f"host-{hashlib.sha256(host.encode()).hexdigest()[:16]}" if host else None
        emit = _writer()
        live = await self._host_run(run_id, emit) if run_id else None
        if live is not None:
            return await self._begin(live, task)
        live = await self._start(task, run_id, emit)
        if run_id and self.runs is None:
            self._kept[run_id] = live
        return await self._begin(live, None)

    async def close_work(self, work: Work) -> None:
        """End what `open_work` opened; a run that `run` opened is closed by `run`."""
        if work.live is not None:
            self._works.pop(work.key, None)
            outcome = work.outcome
            await work.live.end(*((outcome.status, outcome.reason) if outcome else ("failed", "")))
            await work.live.close()

    # Inside.

    async def _host_run(self, run_id: str, emit: Emit) -> LiveRun | None:
        """The run of a host thread from an earlier call, on disk or in this object's memory."""
        if self.runs is not None and (self.runs / run_id).exists():
            return await self._open(self.runs / run_id, emit)
        live = self._kept.get(run_id)
        if live is not None:
            live.run.emit = emit
        return live

    async def _start(self, task: str, run_id: str | None, emit: Emit) -> LiveRun:
        return await start_run(
            self.runs,
            task,
            self.options,
            run_id=run_id,
            limits=self.limits,
            emit=emit,
            deps=self.deps,
        )

    async def _open(self, run: str | Path, emit: Emit) -> LiveRun:
        from .runs import find_run

        path = run if isinstance(run, Path) else find_run(self.runs or Path("runs"), run)
        return await open_run(path, limits=self.limits, emit=emit, deps=self.deps)

    async def _drive(self, live: LiveRun, message: str | None) -> RunResult:
        try:
            work = await self._begin(live, message)
            work.live = None
            await self._invoke(work)
            outcome = work.outcome
            if outcome is None:
                raise AgentDefinitionError(f"the graph of {self.name!r} ended without an outcome")
            await live.end(outcome.status, outcome.reason)
            return live.result(outcome.status, outcome.reason, outcome.text, outcome.output)
        finally:
            await asyncio.shield(live.close())

    async def _begin(self, live: LiveRun, message: str | None) -> Work:
        spec = TaskSpec(MAIN, self.name, live.started.task, "", depth=0)
        work = await self._work_on(live.run, spec, live.run.meter)
        work.live = live
        if message is not None:
            live.run.log.append("", MessageAdded((Text(message),)))
            work.session.thread.append(MessageAdded((Text(message),)))
            work.session.pending = work.session.ended = None
        return work

    async def _work_on(self, run: Run, spec: TaskSpec, meter: Meter) -> Work:
        chain = self.agent.model or self.model
        session = await open_session(
            run,
            self.agent,
            spec.task,
            thread=spec.thread,
            models=resolve_chain(_required(chain, self.name)),
            parent=spec.parent or None,
            meter=meter,
        )
        key = f"{run.id}/{spec.thread}"
        work = Work(key, session, AsyncRunner(run, self.subagents, meter), spec.depth)
        self._works[key] = work
        return work

    async def _invoke(self, work: Work) -> None:
        if self._compiled is None:
            self._compiled = self.compile()
        try:
            # Three supersteps a turn; the agent's own limit of turns is the one that counts.
            config = {"recursion_limit": 10 + 8 * (self.agent.limits.turns + 1)}
            await self._compiled.ainvoke({"run_id": work.key}, config)
        finally:
            self._works.pop(work.key, None)


def _named(subagents: Sequence[Any], lead: Agent, model: Chain | None) -> dict[str, Subagent]:
    named: dict[str, Subagent] = {}
    for value in subagents:
        subagent = _subagent(value, lead, model)
        if subagent.name in named:
            raise AgentDefinitionError(f"two subagents are called {subagent.name!r}; rename one")
        named[subagent.name] = subagent
    return named


def _subagent(value: Any, lead: Agent, model: Chain | None) -> Subagent:
    if isinstance(value, Coordinator):
        value.model = value.model or model or lead.model
        return value
    if isinstance(value, Agent):
        chain = _required(value.model or model or lead.model, value.name)
        return AgentSubagent(value, resolve_chain(chain))
    return value if isinstance(value, RunnableSubagent) else as_subagent(value)


def _required(chain: Any, name: str) -> Chain:
    if chain is None:
        raise AgentDefinitionError(f"agent {name!r} has no model; give it one, or the coordinator")
    return cast(Chain, chain)


def _last_text(messages: Sequence[Any]) -> str:
    """The text of the last message of a host graph, whatever form it has."""
    if not messages:
        return ""
    return message_text(messages[-1])


def _writer() -> Emit:
    """Progress into the host graph's custom stream, when it has one."""
    try:
        from langgraph.config import get_stream_writer

        return get_stream_writer()
    except RuntimeError:
        return ignore
