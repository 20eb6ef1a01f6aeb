"""The tail of an agent's next request, from its thread, its plan and what it may still use."""

from typing import TYPE_CHECKING

from memory import MessageAdded, Room, Text, recite

from .allowance import limit_readings

if TYPE_CHECKING:
    from .session import Session


def tail_of(session: "Session") -> str:
    """The tail of the next request, `""` for none; used by every agent and by the coordinator's graph.

    An agent that appends its recitation gets it as a message of the framework instead, and no tail.
    """
    settings, thread = session.agent.recitation, session.thread
    if not settings.due(thread.status):
        return ""
    text = recite(thread.status, thread.todo, _pinned(session), settings, room_of(session))
    if settings.mode != "append":
        return text
    if text and text != thread.recited:
        thread.append(MessageAdded((Text(text),), "framework"))
    return ""


def _pinned(session: "Session") -> tuple[str, ...]:
    """What the tail restates: after a compaction, the rules in the user's messages and pinned texts too."""
    thread = session.thread
    if not thread.status.compactions:
        return session.pinned
    return tuple(dict.fromkeys((*session.pinned, *thread.rules())))


def room_of(session: "Session") -> Room:
    """What the session's agent may still use. Raises `ContextError` before its thread is configured."""
    tokens, seconds = session.meter.token_room(), session.meter.time_room()
    return Room(
        tokens=session.thread.tokens,
        window=session.window,
        turns=session.agent.limits.turns,
        spent=tokens[1] - tokens[0] if tokens else session.meter.usage.total,
        token_limit=tokens[1] if tokens else None,
        seconds_left=seconds[0] if seconds else None,
        seconds_limit=seconds[1] if seconds else None,
        further=limit_readings(session),
    )
