"""The summariser: one call that asks a model for a summary, on the prefix that its cache already holds."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from memory import Request, Summary, ToolCall, Usage, fits

from .compaction import Compaction, reserve_of
from .errors import CodecChanged
from .limits import Hold
from .models import Model, Reply
from .telemetry import model_span, tell_reply

if TYPE_CHECKING:
    from .session import Session

_CHANGES = 5
"""Times at most that a request is made again."""
PROMPTS = Path(__file__).parent / "summaries"
_REFUSALS = (
    "i can't",
    "i cannot",
    "i'm sorry",
    "i am sorry",
    "as an ai",
    "i'm unable",
    "i am unable",
)


def instruction(settings: Compaction, focus: str, limit: int) -> str:
    """What the summariser is told, at the end of the request. Braces in it are text."""
    words = settings.instructions or (PROMPTS / f"{settings.prompt}.txt").read_text(
        encoding="utf-8"
    )
    asked = f"\nWhat matters most to whoever asked: {focus}\n" if focus else ""
    return f"{words.rstrip()}\n{asked}\nAt most {limit:,} tokens."


class ModelSummariser:
    """Asks a model in the place of a thread's next turn: same head, same history, another last message."""

    def __init__(self, session: "Session", settings: Compaction) -> None:
        self._session, self._settings = session, settings

    async def __call__(self, focus: str, limit: int) -> Summary:
        """A summary, or why there is none: whatever the model did, nothing is raised but cancellation."""
        session = self._session
        given = self._settings.summariser
        model = session.model if isinstance(given, str) else given
        tail = instruction(self._settings, focus, limit)
        window = model.window or session.window
        exact = session.thread.counter.exact
        if not fits(session.thread.size(tail), window, reserve_of(model, window), exact=exact):
            return Summary("", Usage(), "too_large")
        try:
            reply = await self._ask(model, tail, limit)
        except Exception as error:  # noqa: BLE001 - the boundary: whatever a summariser raises, code takes over
            return Summary("", Usage(), type(error).__name__)
        return _read(reply)

    async def _ask(self, model: Model, tail: str, limit: int) -> Reply:
        """Its reply; made again, as the loop does, where the model finds out that its endpoint wants other
        bytes. A summariser of its own is often asked here for the first time."""
        thread = self._session.thread
        for left in reversed(range(_CHANGES)):
            request = thread.ask_summary(tail, model.codec, dict(model.settings), model.name)
            try:
                return await _send(self._session, model, request, limit)
            except CodecChanged:
                if not left:
                    raise
        raise AssertionError("unreachable")


async def _send(session: "Session", model: Model, request: Request, limit: int) -> Reply:
    hold = Hold(request.tokens, 4 * limit, model.name)
    await session.meter.reserve(hold)
    usage = Usage()
    try:
        async with asyncio.timeout(session.meter.time_left()):
            with model_span(session, request, model) as span:
                reply = await model.send(request.body)
                tell_reply(span, reply)
        usage = reply.usage
        return reply
    finally:
        session.meter.settle(hold, usage)


def _read(reply: Reply) -> Summary:
    text = reply.text.strip()
    if any(isinstance(block, ToolCall) for block in reply.content):
        return Summary("", reply.usage, "tool_call")
    if not text:
        return Summary("", reply.usage, "empty")
    if reply.finish == "content_filter" or text.lower().startswith(_REFUSALS):
        return Summary("", reply.usage, "refused")
    return Summary(text, reply.usage)
