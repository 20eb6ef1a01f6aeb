"""A coordinator at work: its session, its children's outcomes, and what its graph's nodes do."""

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from agents import (
    CAP,
    NOTHING,
    Agent,
    AgentError,
    LimitReached,
    ModelUnavailable,
    Outcome,
    PendingCall,
    Reply,
    Session,
    Span,
    ToolError,
    inside,
    outcome_of,
    paused,
    paused_outcome,
    record_result,
    shown,
    stopped,
    tail_of,
    tell_status,
    traceparent,
)
from filesystem import RunFolder, StorageFailed
from memory import ReplyReceived, Text, ToolCall, dumps, render_todo

from .delegation import DELEGATE, DelegatedTask, read_delegation, task_specs
from .filing import take_over
from .gathering import cap_for, handed
from .runner import CANCELLED, CANCELLED_INSIDE, AsyncRunner
from .runs import LiveRun
from .subagents import record_outcome
from .tasks import TaskSpec

DELEGATED = frozenset({DELEGATE})
"""Tools whose calls the graph runs."""


@dataclass(slots=True)
class Work:
    """What one coordinator's graph works on; found by `key` from the graph's state."""

    key: str
    session: Session
    runner: AsyncRunner
    depth: int
    """Levels below the run's first agent; 0 for the first itself."""
    live: LiveRun | None = None
    """The run, when this coordinator opened it and must close it."""
    reply: Reply | None = None
    outcome: Outcome | None = None
    delegations: list[tuple[ToolCall, list[TaskSpec]]] = field(
        default_factory=list[tuple[ToolCall, list[TaskSpec]]]
    )
    """The open `delegate` calls and their tasks."""
    outcomes: dict[str, Outcome] = field(default_factory=dict[str, Outcome])
    """Of the children of those tasks, by thread."""
    ends: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    """Set when a child has ended that others come after, by thread."""
    folder: RunFolder | None = None
    """Where this thread's plan is kept as the run's `todo.md`; `None` for plans that nobody else reads."""
    span: Span = NOTHING
    """The agent's span, for the run's first agent; one that was sent out works inside its runner's."""
    saved_plan: str = ""
    """The text that `todo.md` has."""

    @property
    def agent(self) -> Agent:
        """The coordinator's agent."""
        return self.session.agent

    def recitation(self) -> str:
        """The tail of the next request, `""` for none."""
        return tail_of(self.session)

    def plan(self) -> str:
        """The text of this thread's `todo.md`."""
        return render_todo(self.session.thread.todo)

    def share_plan(self, folder: RunFolder | None) -> None:
        """Make this thread's plan the run's: children read it, and `folder` has it as `todo.md`."""
        if self.agent.todo:
            self.session.run.plan, self.folder = self.plan, folder

    async def ask(self) -> None:
        """One model call; a limit or a failed model is an outcome."""
        try:
            with inside(self.span):
                self.reply = await self.agent.ask(self.session)
        except (LimitReached, ModelUnavailable) as error:
            self.outcome = self._stopped(error)

    async def settle(self, acting: Awaitable[Outcome | None]) -> None:
        """Wait for the acting on a reply, then see what it left to delegate."""
        try:
            with inside(self.span):
                self.outcome = await acting
        except (LimitReached, ModelUnavailable) as error:
            self.outcome = self._stopped(error)
        await self._save_plan()
        self.delegations = [] if self.outcome else self._open_delegations()

    async def send_out(self, spec: TaskSpec) -> None:
        """Have a subagent work on a task, with the trace handed over, once those before it have ended."""
        for thread in spec.after:
            await self.ends[thread].wait()
        try:
            if any(self.outcomes[thread].status == "paused" for thread in spec.after):
                reason = "a task before it waits for a person"
                outcome = Outcome(spec.thread, spec.agent, spec.task, "paused", reason)
            else:
                with inside(self.span):
                    outcome = await self.runner.submit(replace(spec, traceparent=traceparent()))
            self.outcomes[spec.thread] = outcome
        finally:
            if end := self.ends.get(spec.thread):
                end.set()

    async def gather(self) -> None:
        """Record the children's outcomes as the results of their calls; where one waits for a person,
        its call stays open and this thread waits too."""
        waiting: list[PendingCall] = []
        children = sum(len(specs) for _, specs in self.delegations)
        for call, specs in self.delegations:
            outcomes = [self.outcomes[spec.thread] for spec in specs]
            pending = [call for outcome in outcomes for call in outcome.pending]
            if not pending:
                cap = min(specs[0].cap, cap_for(self.session, children))
                words = await handed(self.session, outcomes, cap)
                filed = await take_over(self.session, specs, self.runner.subagents)
                record_result(self.session, call, (Text(words), *filed))
                children -= len(specs)
            waiting += pending
        self.delegations, self.outcomes = [], {}
        await self.session.thread.commit()
        if waiting:
            session, own = self.session, paused(self.session)
            waiting = [*(own.pending if own else ()), *waiting]
            self.outcome = paused_outcome(
                session.thread.name, session.agent.name, session.task, waiting
            )

    async def walked(self, walking: Coroutine[Any, Any, None]) -> None:
        """Walk the graph in a task of its own, which can be stopped without stopping the caller.

        Stopped, this thread ends as cancelled, with the conclusions that its children had handed in.
        """
        tree, thread = self.session.run.tree, self.session.thread.name
        task = tree.tasks[thread] = asyncio.create_task(walking)
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.shield(asyncio.wait({task}))
            raise
        finally:
            del tree.tasks[thread]
        if not task.cancelled():
            task.result()
            return
        done = [shown(self.outcomes[name]) for name in sorted(self.outcomes)]
        text = f"Conclusions so far: {dumps(done).decode()}" if done else ""
        reason = CANCELLED if tree.stopped(thread) else CANCELLED_INSIDE
        outcome = outcome_of(self.session, "cancelled", reason, text)
        self.outcome = await asyncio.shield(record_outcome(self.session, outcome))

    async def finish(self) -> Outcome:
        """Record how the thread ended."""
        outcome = self.outcome or outcome_of(
            self.session, "failed", "it stopped without an outcome"
        )
        tell_status(self.span, outcome.status)
        self.span.end()
        self.outcome = await record_outcome(self.session, outcome)  # with what it had found
        return self.outcome

    async def _save_plan(self) -> None:
        """Write the plan beside the log when it has changed; the log is the original."""
        plan = self.plan()
        if self.folder is None or not self.session.thread.todo or plan == self.saved_plan:
            return
        try:
            await asyncio.to_thread(self.folder.write_text, "todo.md", plan)
            self.saved_plan = plan
        except StorageFailed as error:
            self.session.notice("plan_not_saved", {"error": str(error)})

    def _stopped(self, error: AgentError) -> Outcome:
        if isinstance(error, LimitReached):
            return stopped(self.session, error)
        return outcome_of(self.session, "failed", str(error))

    def _open_delegations(self) -> list[tuple[ToolCall, list[TaskSpec]]]:
        """The open `delegate` calls with their tasks; wrong arguments are answered at once.

        Those that have their result count too, so that a task's thread keeps its name in every resume.
        """
        context = self.session.thread.context
        is_open = set(context.open_calls)
        asked: list[tuple[ToolCall, list[DelegatedTask]]] = []
        for call in context.calls:
            if call.name != DELEGATE:
                continue
            try:
                tool = self.session.tools[DELEGATE]
                asked.append((call, read_delegation(tool, call, self.runner.subagents)))
            except ToolError as error:
                if call in is_open:
                    record_result(self.session, call, (Text(str(error)),), "arguments")
        count, found = 0, list[tuple[ToolCall, list[TaskSpec]]]()
        shared = self._shared(sum(len(tasks) for call, tasks in asked if call in is_open))
        for call, tasks in asked:
            specs = task_specs(tasks, shared, turn=self.session.replies, position=count)
            count += len(specs)
            if call in is_open:
                found.append((call, specs))
        awaited = {thread for _, specs in found for spec in specs for thread in spec.after}
        self.ends = {thread: asyncio.Event() for thread in awaited}
        return found

    def _shared(self, children: int) -> TaskSpec:
        """What all tasks of this turn have in common."""
        session = self.session
        items = session.thread.context.items
        replies = (item.seq for item in reversed(items) if isinstance(item.event, ReplyReceived))
        return TaskSpec(
            "",
            "",
            "",
            session.thread.name,
            depth=self.depth + 1,
            cap=cap_for(session, children) if children else CAP,
            seen=next(replies, 1) - 1,
            constraints=self._constraints(),
        )

    def _constraints(self) -> tuple[str, ...]:
        """What holds for the whole run: pinned texts, the user's rules, the plan's constraints."""
        session = self.session
        thread = session.thread
        return tuple(dict.fromkeys((*session.pinned, *thread.rules(), *thread.todo.constraints)))
