"""Asking: one model call with its limits, its record in the log, and the next model when it fails."""

import asyncio

from memory import ReplyReceived, Request, Usage

from .allowance import longest_answer
from .compacting import make_room, overflowed
from .errors import CodecChanged, LimitReached, ModelUnavailable
from .limits import Hold
from .models import Delta, Reply
from .progress import TokenStreamed, TurnEnded, TurnStarted
from .session import Session
from .telemetry import model_span, tell_reply


async def ask_models(session: Session) -> Reply:
    """Ask the model in use; when it fails for good, the next of the chain.

    Raises `ModelUnavailable` when the last one failed, `LimitReached` before a call that is not allowed.
    """
    while True:
        session.configure()
        request = session.thread.request(await make_room(session))
        try:
            with model_span(session, request) as span:
                reply = await _send(session, request)
                tell_reply(span, reply)
        except CodecChanged as change:
            for topic, data in change.notices:
                session.notice(topic, data)
        except ModelUnavailable as error:
            if not await overflowed(session, error, request.tokens):
                _fall_back(session, error)
        else:
            return await _record(session, reply, request.seq)


async def _send(session: Session, request: Request) -> Reply:
    model, meter = session.model, session.meter
    hold = Hold(request.tokens, longest_answer(session), model.name)
    usage, held = Usage(), False
    limit = asyncio.timeout(meter.time_left())
    try:
        async with limit:
            if session.run.tree.stopped(session.thread.name):
                raise LimitReached("cancelled", "it was cancelled")
            await meter.reserve(hold)
            held = True
            session.turns += 1
            session.run.emit(TurnStarted(session.thread.name, session.turns))
            reply = await model.send(request.body, lambda delta: _stream(session, delta))
        usage = reply.usage
        return reply
    except (CodecChanged, LimitReached, ModelUnavailable):
        raise
    except Exception as error:  # the boundary: whatever a model raises is one kind of failure
        if isinstance(error, TimeoutError) and limit.expired():
            raise LimitReached("seconds", "it did not finish within its time") from error
        words = f"model {model.name!r} gave no answer: {type(error).__name__}: {error}"
        raise ModelUnavailable(words) from error
    finally:
        if held:
            meter.settle(hold, usage)


def _stream(session: Session, delta: Delta) -> None:
    session.run.tree.began(session.thread.name)
    if delta.kind == "text":
        session.run.emit(TokenStreamed(session.thread.name, delta.text))


async def _record(session: Session, reply: Reply, request: int) -> Reply:
    for topic, data in reply.notices:
        session.notice(topic, data)
    session.thread.append(
        ReplyReceived(reply.content, reply.finish, reply.usage, reply.model, reply.raw, request)
    )
    session.replies += 1
    session.overflowed = False
    session.notice_ratio()
    await session.thread.commit()
    session.run.emit(TurnEnded(session.thread.name, reply.usage))
    return reply


def _fall_back(session: Session, error: ModelUnavailable) -> None:
    """Go to the next model of the chain; the last one's error is raised."""
    if session.position + 1 >= len(session.models):
        raise error
    failed = session.model.name
    session.position += 1
    data = {"from": failed, "to": session.model.name, "error": str(error)}
    session.notice("model_fallback", data)
