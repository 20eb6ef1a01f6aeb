"""A recorded run taken again through the real loop, and compacted there by our own compaction.

The recording plays the model and the tools: an `Agent` asks, calls, and records every event as in any other
run. At a cut its log is copied, the trigger is put just below the size of the next request, and the agent
asks once more: whatever the product does then, it does, and what the model would see is read from the exact
bytes of that request.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from agents import (
    LOOKBACK,
    Agent,
    AgentError,
    Compaction,
    Limits,
    Meter,
    Model,
    Reply,
    Run,
    ScriptedModel,
    Session,
    Tool,
    ToolContext,
    ToolError,
    open_session,
)
from memory import (
    CompactionRejected,
    ContextCompacted,
    Entry,
    Event,
    Image,
    MemoryEventLog,
    MessageAdded,
    SummaryAsked,
    Text,
    ThreadStarted,
    Todo,
    TodoWritten,
    ToolResult,
    loads,
    one_line,
    plain_text,
    render_todo,
)

from .chat import read_chat
from .ours import Ours
from .trajectory import Message, Trajectory

THREAD = "main"
WINDOW = 3
"""Times the run's length: the window that is declared for it."""
_SCHEMAS = 900
"""Tokens of the tool schemas of an agent that looks back, counted into the run's length; generous."""
_TRIGGERS_BELOW = 1
"""Tokens below the request's size at which the trigger stands."""
_GOAL = 400
"""Characters of the task that become the plan's goal, where a strategy needs one."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """A run that was taken again, from its beginning to the last message asked for."""

    trajectory: Trajectory
    agent: Agent
    window: int
    """Tokens."""
    entries: tuple[Entry, ...]
    ends: tuple[int, ...]
    """For each message of the recording, how many entries the log had behind it."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """What our compaction did at a cut."""

    messages: tuple[Message, ...]
    """What the model would see next, as parsed from the bytes of the request; empty when there was none."""
    strategy: str
    """The strategies that the taken compaction names, `""` when none was taken."""
    why: str
    """Why none was taken, in the gate's words, or why no request could be made; else `""`."""
    before: int
    """Tokens of the request before, as the thread counts."""
    after: int
    """Tokens of the request that was made."""
    summary_calls: int
    seconds: float
    """Wall time from the wish for a request to the request."""


class _Arguments(BaseModel):
    """Whatever was recorded."""

    model_config = ConfigDict(extra="allow")


class _Recorded(Tool):
    """A tool that answers what was recorded, whatever the arguments."""

    def check(self, arguments: str) -> BaseModel:
        """Nothing is wrong with what was called."""
        return _Arguments()


async def rerun(trajectory: Trajectory, upto: int, *, offload: bool = False) -> Rerun:
    """Take the first `upto` messages of a run again. Raises `AgentError` when the loop stops."""
    length = trajectory.tokens + _SCHEMAS
    agent = _agent(trajectory, offload)
    replies = [_reply(m) for m in trajectory.messages[:upto] if m.role == "assistant"]
    model = ScriptedModel(replies, window=WINDOW * length)
    log = MemoryEventLog()
    log.append(THREAD, ThreadStarted(agent.name, None, trajectory.task))
    session = await _session(agent, log, model)
    ends: list[int] = []
    for place, message in enumerate(trajectory.messages[:upto]):
        if message.role == "user":
            session.thread.append(MessageAdded(message.content))
        elif message.role == "system" and place >= _opening(trajectory):
            session.thread.append(MessageAdded(message.content, "framework"))
        elif message.role == "assistant":
            reply = await agent.ask(session)
            if reply.calls:
                await agent.act(session, reply)
        ends.append(len(await log.read()))
    return Rerun(trajectory, agent, WINDOW * length, tuple(await log.read()), tuple(ends))


async def compact_at(
    run: Rerun, upto: int, setting: Ours, summariser: Model | None = None
) -> Compacted:
    """Compact a copy of the run behind its first `upto` messages, by the way of any other request."""
    model = ScriptedModel([Reply((Text("The run goes on."),), "stop")], window=run.window)
    log = await _copy(run, upto)
    session = await _session(run.agent, log, model)
    if "query" in setting.strategy:
        task = one_line(run.trajectory.messages[run.trajectory.head - 1].text)
        goal = task[:_GOAL].strip()
        session.thread.append(TodoWritten(render_todo(Todo(goal))))
    session.configure()
    size = session.thread.size(session.tail())
    session.compaction = _compaction(session, setting, size, summariser)
    known, started, stopped = len(await log.read()), time.monotonic(), ""
    try:
        await run.agent.ask(session)
    except AgentError as error:
        stopped = f"no request: {error}"
    seconds = time.monotonic() - started
    after = [entry.event for entry in (await log.read())[known:]]
    messages: tuple[Message, ...] = ()
    if model.requests:
        body = cast(dict[str, Any], loads(model.requests[-1]))
        messages = read_chat(body["messages"], run.trajectory.id)
    return _told(after, messages, stopped, size, session.thread.tokens, seconds)


async def opened(run: Rerun, upto: int) -> Session:
    """A session on a copy of the run behind its first `upto` messages, to look back in."""
    return await _session(run.agent, await _copy(run, upto), ScriptedModel([], window=run.window))


def _told(
    events: Sequence[Event],
    messages: tuple[Message, ...],
    stopped: str,
    before: int,
    after: int,
    seconds: float,
) -> Compacted:
    taken = [event for event in events if isinstance(event, ContextCompacted)]
    refused = [event for event in events if isinstance(event, CompactionRejected)]
    why = stopped or (f"{refused[0].reason}: {refused[0].detail}" if refused else "")
    return Compacted(
        messages,
        " + ".join(event.strategy for event in taken),
        "" if taken and not stopped else why or "no compaction began",
        before,
        after,
        sum(isinstance(event, SummaryAsked) for event in events),
        seconds,
    )


async def _copy(run: Rerun, upto: int) -> MemoryEventLog:
    log = MemoryEventLog()
    for entry in run.entries[: run.ends[upto - 1]]:
        log.append(entry.thread, entry.event)
    return log


async def _session(agent: Agent, log: MemoryEventLog, model: Model) -> Session:
    run = Run("replay", log, Meter(Limits()))
    return await open_session(run, agent, "", thread=THREAD, models=[model])


def _compaction(session: Session, setting: Ours, size: int, summariser: Model | None) -> Compaction:
    """As the product takes it: shares of the messages' tokens made shares of the trigger."""
    system = session.thread.counter.count(session.agent.instructions)
    schemas = max(0, session.thread.head_tokens - system)
    trigger = max(1, size - _TRIGGERS_BELOW)
    target = (schemas + setting.target * (size - schemas)) / trigger
    return Compaction(
        strategy=setting.strategy,
        trigger=min(0.99, trigger / session.window),
        target=min(0.99, target),
        tail=setting.tail,
        cut=setting.cut,
        prompt=setting.prompt,
        summariser=summariser or "code",
    )


def _opening(trajectory: Trajectory) -> int:
    """How many messages at the beginning are the system prompt."""
    for place, message in enumerate(trajectory.messages):
        if message.role != "system":
            return place
    return len(trajectory.messages)


def _agent(trajectory: Trajectory, offload: bool) -> Agent:
    messages = trajectory.messages
    results = {result.call_id: result for message in messages for result in message.results}
    names = dict.fromkeys(call.name for message in messages for call in message.calls)
    opening = messages[: _opening(trajectory)]
    return Agent(
        "recorded",
        "\n".join(message.text for message in opening),
        tools=[_tool(name, results, offload) for name in names],
        lookback=not LOOKBACK & set(names),
        files="none",
        compaction=None,
        limits=Limits(turns=len(messages) + 10),
    )


def _tool(name: str, results: dict[str, ToolResult], offload: bool) -> Tool:
    async def answer(context: ToolContext) -> tuple[Text | Image, ...]:
        result = results[context.call_id]
        if result.is_error:
            raise ToolError(plain_text(result.content))
        return cast(tuple[Text | Image, ...], result.content) or (Text(""),)

    return _Recorded(
        name,
        "As it was recorded.",
        {"type": "object"},
        _Arguments,
        answer,
        wants_context=True,
        exempt=not offload,
    )


def _reply(message: Message) -> Reply:
    finish = "tool_calls" if message.calls else "stop"
    return replace(Reply(message.content, finish), model="recorded")
