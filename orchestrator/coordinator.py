"""The coordinator: an agent that sends subagents out in parallel, run by a LangGraph graph."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents import (
    Agent,
    AgentDefinitionError,
    Emit,
    Handing,
    Limits,
    Meter,
    Outcome,
    Progress,
    Run,
    agent_span,
    ignore,
    open_session,
)
from filesystem import FileStore
from memory import JsonObject, LogLocked, MessageAdded, Text

from .approvals import Decisions, pending_calls, read_decisions
from .briefing import briefed
from .delegation import delegate_tool
from .errors import QuestionRefused, RunNotFound
from .filing import readable
from .models import Chain
from .result import RunResult
from .roster import required, roster
from .runner import AsyncRunner
from .runs import LiveRun, find_run, open_run, start_run
from .streaming import stream_again, stream_new
from .subagents import resolve_chain
from .tasks import TaskSpec
from .work import Work

MAIN = "main"
"""The thread of a run's first agent."""


class Coordinator:
    """An agent with subagents: delegates, waits for all of them, goes on with their conclusions.

    `subagents` may be agents, other coordinators and LangGraph runnables. `model` serves every agent
    that names none. `runs` is the folder in which runs are kept; `None` keeps them in memory only.
    `shared_files` gives all its agents one folder `/shared` that they all write.
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
        shared_files: bool = False,
    ) -> None:
        self.limits = limits or agent.limits
        self.model, self.deps = model, deps
        self.runs = Path(runs) if runs is not None else None
        self.options: JsonObject = {"kind": "coordinator"}
        """Kept in the log of every run, enough for the command line to find this object again."""
        if shared_files:
            self.options["shared_files"] = True
        self.subagents = roster(subagents, agent, model)
        tools = [*agent.tools, *([delegate_tool(self.subagents)] if self.subagents else [])]
        limited = replace(agent.limits, turns=self.limits.turns)
        self.agent = replace(agent, tools=tools, limits=limited)
        if self.subagents and agent.files == "auto":  # what they hand over may be in files
            self.agent = replace(self.agent, files="read")
        self.agent.toolbox()
        self.works: dict[str, Work] = {}
        """What this object's graphs work on now, by the key in their state."""
        self.kept: dict[str, LiveRun] = {}
        """Runs in memory that can be gone on with: hosts' threads, and those that wait for a person."""
        self.inputs: FileStore | None = None
        """What all agents of its runs read under `/inputs`; see `give`."""
        self._compiled: Any = None

    @property
    def redact_at_source(self) -> bool:
        """Set it to hide secrets in messages and results from models and log too, in runs to come."""
        return bool(self.options.get("redact_at_source"))

    @redact_at_source.setter
    def redact_at_source(self, value: bool) -> None:
        self.options["redact_at_source"] = value

    def give(self, inputs: FileStore | Path | str) -> None:
        """Let all agents of its runs read a folder, or a store, under `/inputs`. Raises `FolderMissing`."""
        self.inputs = readable(inputs)

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
        return await self.drive(await self.start(task, run_id, emit))

    def run_sync(self, task: str, **options: Any) -> RunResult:
        """`run` for scripts without an event loop."""
        return asyncio.run(self.run(task, **options))

    async def ask(self, run: str | Path, message: str, *, emit: Emit = ignore) -> RunResult:
        """Send a follow-up message to a finished run; it sees everything that the run saw.

        `run` is a folder or an id under `runs`. Raises `RunNotFound`, `LogLocked`, `LogError`.
        """
        return await self.drive(await self.open(run, emit), message)

    async def resume(
        self, run: str | Path, *, decisions: Decisions | None = None, emit: Emit = ignore
    ) -> RunResult:
        """Go on with a run that was interrupted; a finished one gives its result again, at no cost.

        `decisions` says, by `PendingCall.key`, what becomes of the calls that a paused run waits for:
        `"approve"`, `"reject"`, `{"decision": "reject", "note": words}` or `{"decision": "edit",
        "arguments": {...}}`; a call left out goes on waiting. Raises `DecisionRefused`.
        """
        return await self.drive(await self.open(run, emit), None, decisions)

    def stream(
        self, task: str, *, run_id: str | None = None
    ) -> AsyncIterator[Progress | RunResult]:
        """`run`, yielding every progress event of the whole tree as it happens and the result last.

        Whoever closes it early interrupts the run, and `follow` goes on. Raises as `run` does.
        """
        return stream_new(self, task, run_id)

    def follow(self, run: str | Path, *, after: int = 0) -> AsyncIterator[Progress | RunResult]:
        """The events of a run behind a position of its log (`seq` of the last one seen), then those of
        going on with it when it was interrupted, and the result last. Raises as `resume` does."""
        return stream_again(self, run, after)

    async def cancel(self, run_id: str, thread: str = "") -> int:
        """Stop a run that this object works on, or one thread of it and all below, and return how many
        threads were at work, once none of them makes a call any more.

        What they had found is kept, and their status is `cancelled`. Raises `RunNotFound`.
        """
        for work in self.works.values():
            if work.session.run.id == run_id:
                return await work.session.run.tree.cancel(thread)
        raise RunNotFound(f"this object works on no run {run_id!r} now; there is nothing to cancel")

    def compile(self, checkpointer: Any = None) -> Any:
        """A compiled LangGraph graph (`messages` in, the answer's message out) for other graphs.

        Each host thread is one run of ours: a second call on it is a follow-up message. Calls that wait
        for a person interrupt the host's graph; `Command(resume=decisions)` goes on.
        """
        from .graph import CoordinatorGraph

        return CoordinatorGraph(self).build(checkpointer)

    async def work(self, run: Run, spec: TaskSpec, meter: Meter) -> Outcome:
        """Do a task as a subagent of another coordinator."""
        work = await self._work_on(run, spec, meter)
        work.session.handing = Handing(spec.cap)
        work.session.pinned = (*work.session.pinned, *spec.constraints)
        await self._invoke(work)
        return work.outcome or Outcome(spec.thread, spec.agent, spec.task, "failed", "no outcome")

    # What its graph, its host and a coordinator above it call.

    async def close_work(self, work: Work) -> None:
        """End what was opened for a host's graph; a run that `run` opened is closed by `run`."""
        if work.live is not None:
            self.works.pop(work.key, None)
            outcome = work.outcome
            work.span.end()
            await work.live.end(*((outcome.status, outcome.reason) if outcome else ("failed", "")))
            await work.live.close()

    async def drop_work(self, work: Work) -> None:
        """Close a host's run that was cut off, as it stands; the log is what it goes on from."""
        if self.works.pop(work.key, None) is not None and work.live is not None:
            work.span.end()
            await work.live.close()

    async def start(
        self, task: str, run_id: str | None, emit: Emit, options: JsonObject | None = None
    ) -> LiveRun:
        """A new run of this coordinator; see `start_run`. Raises `QuestionRefused` for an empty task."""
        if not task.strip():
            raise QuestionRefused("the task is empty; say what is to be done")
        return await start_run(
            self.runs,
            task,
            self.options | (options or {}),
            run_id=run_id,
            limits=self.limits,
            emit=emit,
            deps=self.deps,
        )

    async def open(self, run: str | Path, emit: Emit) -> LiveRun:
        """A run of the past, from its folder or from this object's memory."""
        kept = self.kept.get(run) if isinstance(run, str) else None
        if kept is not None:
            if any(work.session.run is kept.run for work in self.works.values()):
                raise LogLocked(f"run {run!r} is being worked on; wait until it ends")
            return await kept.take_up(emit)
        path = run if isinstance(run, Path) else find_run(self.runs or Path("runs"), run)
        return await open_run(path, limits=self.limits, emit=emit, deps=self.deps)

    async def begin(
        self, live: LiveRun, message: str | None, decisions: Decisions | None = None
    ) -> Work:
        """The work on a run from where its log stops, with a follow-up or with decisions about the
        calls that wait. Raises `QuestionRefused` or `DecisionRefused`, and changes nothing then."""
        pending = pending_calls(await live.run.log.read()) if live.run.opened_at else []
        if message is not None and pending:
            raise QuestionRefused(
                f"run {live.run.id!r} waits for a person to decide about "
                f"{', '.join(call.key for call in pending)}: decide first (undrift resume, or "
                "Coordinator.resume with decisions), then send the message"
            )
        if live.ended is not None and live.ended.status == "paused" and not pending:
            live.go_on()  # it paused for another reason than a call
        if decisions:
            await live.decide(read_decisions(pending, decisions))
        spec = TaskSpec(MAIN, self.name, live.started.task, "", depth=0)
        live.run.files.given = self.inputs
        live.run.plan = None  # the first agent has its own; those it sends out read it
        work = await self._work_on(live.run, spec, live.run.meter)
        work.live, work.span = live, agent_span(live.run, self.name, MAIN)
        work.share_plan(live.folder)
        if message is not None:
            live.ask(message)
            work.session.thread.append(MessageAdded((Text(message),)))
            work.session.pending = work.session.ended = None
        return work

    async def drive(
        self, live: LiveRun, message: str | None = None, decisions: Decisions | None = None
    ) -> RunResult:
        """Work on an open run to its end, and close it."""
        try:
            work = await self.begin(live, message, decisions)
            work.live = None
            try:
                await work.walked(self._invoke(work))
            finally:
                work.span.end()
            outcome = work.outcome
            if outcome is None:
                raise AgentDefinitionError(f"the graph of {self.name!r} ended without an outcome")
            await live.end(outcome.status, outcome.reason)
            if live.folder is None and outcome.pending:
                self.kept[live.run.id] = live
            result = live.result(outcome.status, outcome.reason, outcome.text, outcome.output)
            return replace(result, pending=outcome.pending)
        finally:
            await asyncio.shield(live.close())

    async def _work_on(self, run: Run, spec: TaskSpec, meter: Meter) -> Work:
        models = resolve_chain(required(self.agent.model or self.model, self.name))
        session = await open_session(
            run,
            self.agent,
            await briefed(run, spec, models[0].window),
            thread=spec.thread,
            models=models,
            parent=spec.parent or None,
            meter=meter,
        )
        key = f"{run.id}/{spec.thread}"
        runner = AsyncRunner(run, self.subagents, meter, spec.thread)
        work = self.works[key] = Work(key, session, runner, spec.depth)
        return work

    async def _invoke(self, work: Work) -> None:
        from .graph import walk

        if self._compiled is None:
            # Without a saver, and not with that of a graph above: the log is what it goes on from.
            self._compiled = self.compile(checkpointer=False)
        try:
            await walk(self._compiled, work.key, self.agent.limits.turns)
        finally:
            self.works.pop(work.key, None)
