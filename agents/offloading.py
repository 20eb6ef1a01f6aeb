"""Offloading: keeping what is too large out of a thread's context, with the original stored before.

A result that is too large by itself is stored before its event is appended; what is too large only with
others of its turn, and a user's long message, is replaced before the first request that would show it.
"""

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Sequence
from types import GeneratorType
from typing import TYPE_CHECKING, Any, cast

from filesystem import READ_CALL, ArtifactRef, StorageFailed
from memory import (
    NO_TOOL,
    Block,
    ContentOffloaded,
    Entry,
    Item,
    Keeper,
    MessageAdded,
    OffloadLimits,
    ReplyReceived,
    ResultBlock,
    Stored,
    Text,
    ToolCall,
    ToolReturned,
    cut_hard,
    is_over,
    refs_in,
    tokens_of,
    words_of,
)

from .compaction import trigger_of
from .telemetry import offload_span
from .threads import in_thread
from .tools import Tool, result_blocks

if TYPE_CHECKING:
    from .session import Session

FAILED = "offload_failed"
"""Topic of the notice that a body could not be stored."""
_HELD = 16_000
"""Characters of a stream that are held, to be shown when it cannot be stored."""
_BINARY = ("image/", "application/octet-stream", "application/pdf")
_PIECE = 64_000
"""Characters of a stream that are looked through for secrets together, when a run hides them."""


def limits_of(session: "Session") -> OffloadLimits:
    """What may stay in the session's context, for the model in use."""
    window = session.window
    return OffloadLimits.of(window, trigger_of(session.model, window, session.compaction))


def is_stream(value: Any) -> bool:
    """Whether a tool yields its result in chunks."""
    return isinstance(value, AsyncIterable | GeneratorType) or inspect.isasyncgen(value)


async def taken(
    session: "Session", call: ToolCall, value: Any
) -> tuple[tuple[ResultBlock, ...], str]:
    """What a tool returned as blocks, and the kind of error when it could not be stored.

    What it yields is stored chunk by chunk and never held; what is small after all is shown whole.
    Raises what the tool raises.
    """
    if not is_stream(value):
        return result_blocks(value), ""
    keeper = _keeper(session)
    stream = _Held(_hidden(session, value))
    try:
        with offload_span(call.name):
            ref = await keeper.store.put(stream, origin=_origin(session, call))
        return await _stood_in(session, keeper, ref), ""
    except StorageFailed as error:
        return _not_stored(session, call, (Text(stream.beginning),), str(error)), "storage"


async def _stood_in(
    session: "Session", keeper: Keeper, ref: ArtifactRef
) -> tuple[ResultBlock, ...]:
    if ref.size <= 4 * keeper.limit and not ref.kind.startswith(_BINARY):
        data = await keeper.store.read(ref)
        whole = (Text(data.decode("utf-8", "surrogatepass")),)
        if not is_over(whole, keeper.limit, keeper.counter):
            return whole
    session.files.artifacts.grant(ref)
    return cast(tuple[ResultBlock, ...], await keeper.stream(ref))


async def kept(
    session: "Session", call: ToolCall, content: tuple[ResultBlock, ...]
) -> tuple[tuple[ResultBlock, ...], str]:
    """A result as the context takes it, and the kind of error when a large one could not be stored."""
    keeper, tool = _keeper(session), session.tools.get(call.name)
    if (tool and tool.exempt) or refs_in(content):
        return content, ""
    if not is_over(content, keeper.limit, keeper.counter):
        return content, ""
    try:
        with offload_span(call.name):
            shown = await keeper.result(content, _origin(session, call))
    except StorageFailed as error:
        return _not_stored(session, call, content, str(error)), "storage"
    session.files.artifacts.grant(*refs_in(shown))
    return cast(tuple[ResultBlock, ...], shown), ""


def _not_stored(
    session: "Session", call: ToolCall, content: tuple[ResultBlock, ...], why: str
) -> tuple[ResultBlock, ...]:
    """The hard cut of a result that could not be stored; said to the model and in the log."""
    session.notice(FAILED, {"call": call.id, "tool": call.name, "error": why})
    return cut_hard(content, limits_of(session).result, session.thread.counter, why)


async def fit_newest(session: "Session") -> None:
    """Before a request: replace what it would show for the first time and is too large together.

    The largest results of the turn go until the others fit; a user's long message keeps its beginning
    and its end.
    """
    thread = session.thread
    results: list[Item] = []
    for item in reversed(thread.context.items):
        event = item.event
        if item.seq <= thread.context.sent or isinstance(event, ReplyReceived):
            break
        if isinstance(event, ToolReturned):
            results.append(item)
        else:
            await _learn(session, event.content)
            await _fit_message(session, item.seq, event)
    results.reverse()
    for item in results:
        await _learn(session, cast(ToolReturned, item.event).content)
    await _fit_batch(session, results)


async def know_again(session: "Session", entries: Sequence[Entry]) -> None:
    """Let an agent of a run that goes on read what it could read before."""
    for entry in entries:
        if isinstance(entry.event, MessageAdded | ToolReturned | ContentOffloaded):
            await _learn(session, entry.event.content)


async def _fit_message(session: "Session", seq: int, event: MessageAdded) -> None:
    limits, keeper = limits_of(session), _keeper(session)
    if event.origin != "user" or not session.reads or refs_in(event.content):
        return
    if not is_over(event.content, limits.message, keeper.counter):
        return
    try:
        with offload_span("message"):
            shown = await keeper.message(event.content, limits.head, f"message {seq}")
    except StorageFailed as error:
        session.notice(FAILED, {"event": seq, "error": str(error)})
        return
    _replace(session, seq, shown)


async def _fit_batch(session: "Session", results: list[Item]) -> None:
    limits, keeper = limits_of(session), _keeper(session)
    contents = {item.seq: cast(ToolReturned, item.event).content for item in results}
    every = [block for content in contents.values() for block in content]
    if len(results) < 2 or not is_over(every, limits.batch, keeper.counter):
        return
    sizes = {seq: tokens_of(content, keeper.counter) for seq, content in contents.items()}
    total = sum(sizes.values())
    movable = [item for item in results if _may_go(session, cast(ToolReturned, item.event))]
    for item in sorted(movable, key=lambda item: -sizes[item.seq]):
        event = cast(ToolReturned, item.event)
        if total <= limits.batch:
            return
        origin = f"{event.name} {event.call_id} of {session.thread.name}"
        try:
            with offload_span(event.name):
                shown = await keeper.result(event.content, origin)
        except StorageFailed as error:
            session.notice(FAILED, {"event": item.seq, "tool": event.name, "error": str(error)})
            shown = cut_hard(event.content, limits.result, keeper.counter, str(error))
        _replace(session, item.seq, shown)
        total += tokens_of(shown, keeper.counter) - sizes[item.seq]


def _may_go(session: "Session", event: ToolReturned) -> bool:
    tool: Tool | None = session.tools.get(event.name)
    exempt = tool is not None and tool.exempt
    return not exempt and not refs_in(event.content) and len(words_of(event.content)) > 2_000


def _replace(session: "Session", seq: int, shown: tuple[Block, ...]) -> None:
    session.thread.append(ContentOffloaded(seq, shown))
    session.files.artifacts.grant(*refs_in(shown))


async def _learn(session: "Session", content: tuple[Block, ...]) -> None:
    """Let the agent read what it was told the name of, and what stands behind words that it saw."""
    for block in content:
        if isinstance(block, Stored) and block.ref is not None:
            session.files.artifacts.grant(block.ref)
        if isinstance(block, Text) and "/artifacts/" in block.text:
            await session.run.files.learn(session.files, block.text)


def _keeper(session: "Session") -> Keeper:
    return Keeper(
        session.run.files.artifacts,
        session.thread.counter,
        READ_CALL if session.reads else NO_TOOL,
        limits_of(session).result,
    )


def _origin(session: "Session", call: ToolCall) -> str:
    return f"{call.name} {call.id} of {session.thread.name}"


class _Held:
    """Chunks on their way to the store, the first of them held."""

    def __init__(self, chunks: AsyncIterator[str | bytes]) -> None:
        self._chunks = chunks
        self.beginning = ""

    async def __aiter__(self) -> AsyncIterator[str | bytes]:
        async for chunk in self._chunks:
            if len(self.beginning) < _HELD:
                text = chunk if isinstance(chunk, str) else chunk[:_HELD].decode("utf-8", "replace")
                self.beginning += text[:_HELD]
            yield chunk


async def _chunks(value: Any) -> AsyncIterator[str | bytes]:
    if isinstance(value, GeneratorType):
        chunks = cast(Iterator[str | bytes], value)
        while (piece := await in_thread(next, chunks, None)) is not None:
            yield piece
    else:
        async for chunk in value:
            yield chunk


async def _hidden(session: "Session", value: Any) -> AsyncIterator[str | bytes]:
    """The chunks; where a run hides secrets from its models, without them, by whole lines."""
    hide = session.run.hide
    if hide is tuple:
        async for chunk in _chunks(value):
            yield chunk
        return
    held = ""
    async for chunk in _chunks(value):
        held += chunk if isinstance(chunk, str) else chunk.decode("utf-8", "replace")
        if len(held) > _PIECE and (end := held.rfind("\n") + 1):
            yield words_of(hide((Text(held[:end]),)))
            held = held[end:]
    yield words_of(hide((Text(held),)))
