"""Acting: running the tool calls of one reply, in parallel, with every failure made readable."""

import asyncio
import difflib
import inspect
from collections.abc import Sequence

from pydantic import BaseModel

from memory import ResultBlock, Text, ToolCall, ToolReturned

from .approving import ask_person, may_have_begun, refusal, with_note
from .errors import LimitReached, ToolError
from .offloading import kept, taken
from .progress import ToolEnded, ToolStarted
from .session import Session
from .telemetry import tell_result, tool_span
from .tools import Tool, ToolContext

CONCLUDE = "conclude"
"""Name of the tool by which an agent with an output type ends; the loop itself takes the call."""
UNKNOWN_AFTER_CRASH = (
    "The program stopped while this call was under way. Whether it took effect is unknown: check before "
    "you call it again."
)


async def run_calls(session: Session, calls: Sequence[ToolCall]) -> None:
    """Run calls in parallel under the agent's limits; each result is durable when it is there.

    Never raises for what a tool or a model did wrong: that becomes a result the model can read.
    """
    if len(calls) == 1:
        await run_call(session, calls[0])
        return
    gate = asyncio.Semaphore(session.agent.limits.parallel_tools)

    async def guarded(call: ToolCall) -> None:
        async with gate:
            await run_call(session, call)

    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(guarded(call))


async def run_call(session: Session, call: ToolCall) -> None:
    """Run one call and record its result."""
    session.run.emit(ToolStarted(session.thread.name, call.name, call.arguments))
    started = session.run.clock()
    with tool_span(session, call) as span:
        content, kind = await _result(session, call)
        content = session.run.hide(content)
        tell_result(span, content, kind)
    content, failed = await kept(session, call, content)
    record(session, call, content, kind or failed, session.run.clock() - started)
    await session.thread.commit()


def settle_interrupted(session: Session) -> None:
    """Treat the calls that a crash cut off by their tools' nature: left open to be made again, put
    before a person, or recorded as unknown."""
    for call in session.thread.context.open_calls:
        if call.name == CONCLUDE or not may_have_begun(session, call):
            continue
        repeatable = session.tools[call.name].repeatable
        if repeatable == "ask":
            ask_person(session, call, "crash")
        elif not repeatable:
            record(session, call, (Text(UNKNOWN_AFTER_CRASH),), "unknown_after_crash")


def record(
    session: Session,
    call: ToolCall,
    content: tuple[ResultBlock, ...],
    kind: str = "",
    seconds: float = 0.0,
) -> None:
    """Append a result; `kind` is the error's kind, `""` for a success."""
    event = ToolReturned(call.id, call.name, content, bool(kind), round(seconds, 6), kind)
    session.thread.append(event)
    session.run.emit(ToolEnded(session.thread.name, call.name, bool(kind), seconds))


async def _result(session: Session, call: ToolCall) -> tuple[tuple[ResultBlock, ...], str]:
    """The content of a call's result and the kind of its error, `""` for none."""
    if words := refusal(session, call):
        return (Text(words),), "rejected"
    tool = session.tools.get(call.name)
    if tool is None:
        return (Text(_unknown(call.name, session.tools)),), "unknown_tool"
    try:
        arguments = tool.check(call.arguments)
    except ToolError as error:
        return (Text(str(error)),), "arguments"
    except Exception as error:  # noqa: BLE001 - a validator of the tool's author may raise anything
        return (Text(_raised(call.name, error)),), "exception"
    try:
        session.meter.count_tool()
    except LimitReached as error:
        return (Text(f"{error}; this call was not made. Finish with what you have."),), "limit"
    return await _called(session, call, tool, arguments)


async def _called(
    session: Session, call: ToolCall, tool: Tool, arguments: BaseModel
) -> tuple[tuple[ResultBlock, ...], str]:
    seconds = tool.seconds or session.agent.limits.tool_seconds
    stop = asyncio.Event()
    context = ToolContext(
        run_id=session.run.id,
        thread=session.thread.name,
        agent=session.agent.name,
        call_id=call.id,
        deps=session.run.deps,
        cancelled=lambda: stop.is_set() or session.run.tree.stopped(session.thread.name),
    )
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            content, kind = await taken(session, call, await tool.value(arguments, context))
            return with_note(session, call, content), kind
    except asyncio.CancelledError:
        stop.set()
        task = asyncio.current_task()
        if task is None or task.cancelling():
            _abandon(session, tool)
            raise
        words = (
            f"The tool {call.name!r} was cancelled from inside. Try once more, or go on without it."
        )
        return (Text(words),), "cancelled"
    except TimeoutError as error:
        stop.set()
        if limit.expired():
            _abandon(session, tool)
        return (Text(_timed_out(call.name, seconds, error, limit.expired())),), "timeout"
    except ToolError as error:
        return (Text(str(error)),), "tool_error"
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a tool raises becomes a result
        return (Text(_raised(call.name, error)),), "exception"


def _abandon(session: Session, tool: Tool) -> None:
    """Say that a sync function which was told to stop may go on: its thread cannot be killed."""
    if not inspect.iscoroutinefunction(tool.function):
        session.run.tree.abandoned += 1
        session.notice("tool_abandoned", {"tool": tool.name})


def _unknown(name: str, tools: dict[str, Tool]) -> str:
    near = difflib.get_close_matches(name, tools, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = ", ".join(tools) or "none; answer in text"
    return f"There is no tool {name!r}.{hint} Tools you have: {names}."


def _timed_out(name: str, seconds: float, error: TimeoutError, ours: bool) -> str:
    if not ours:
        return _raised(name, error)
    return (
        f"The tool {name!r} was stopped after {seconds:g} s without a result; it may have taken effect in "
        "part. Try a smaller piece of work, or go on without it."
    )


def _raised(name: str, error: BaseException) -> str:
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - the words of an error are code of the tool too
        words = "(its text cannot be read)"
    return (
        f"The tool {name!r} failed: {type(error).__name__}: {words}. Check the arguments and try once "
        "more, or go on without it."
    )
