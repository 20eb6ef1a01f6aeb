"""Recovering: bringing a session to where its thread's log stops, after a crash, a pause or an end."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory import (
    COPIED,
    ApprovalAsked,
    ApprovalGiven,
    CompactionRejected,
    ConfigSet,
    Entry,
    MessageAdded,
    ReplyReceived,
    RequestSent,
    ThreadEnded,
)

from .models import Reply
from .outcome import outcome_from

if TYPE_CHECKING:
    from .session import Session


def recover(session: "Session", entries: Sequence[Entry]) -> None:
    """Take over what the thread's own `entries` say of its turns, its reply at hand and its end.

    A request without a reply that is sent again byte for byte is the same turn: it was in flight.
    """
    unanswered = ""
    for entry in entries:
        match entry.event:
            case RequestSent() as event:
                session.turns += bool(unanswered) and unanswered != event.sha256
                unanswered = event.sha256
                session.pending = None
            case ReplyReceived(request=request) if request == COPIED:
                pass
            case ReplyReceived() as event:
                session.turns += 1
                session.replies += 1
                unanswered = ""
                session.meter.count_past(event.usage, session.model.name)
                session.pending = Reply(
                    event.content, event.finish, event.usage, event.model, event.raw
                )
                session.approvals.clear()
            case _:
                _take(session, entry)
    if session.thread.gate.open:
        session.thread.append(CompactionRejected("abandoned", "the program stopped during it"))


def _take(session: "Session", entry: Entry) -> None:
    match entry.event:
        case ThreadEnded() as event:
            session.ended = outcome_from(
                event, session.thread.name, session.agent.name, session.task
            )
        case MessageAdded():
            session.ended = session.pending = None
        case ApprovalAsked() | ApprovalGiven() as event:
            session.approvals.take(event, before=entry.seq <= session.run.opened_at)
        case ConfigSet() as event:
            names = [model.name for model in session.models]
            session.position = names.index(event.model) if event.model in names else 0
        case _:
            pass
