"""Ending: taking a reply as an agent's outcome, with one repair turn for what is missing or wrong."""

from dataclasses import replace

from pydantic import BaseModel

from memory import (
    MessageAdded,
    ReplyReceived,
    Status,
    Text,
    ToolCall,
    ToolReturned,
    is_tail,
    plain_text,
)

from .acting import CONCLUDE, record
from .errors import LimitReached, ToolError
from .models import Reply
from .outcome import Outcome
from .session import Session
from .tools import Tool, schema_of


def conclude_tool(output_type: type[BaseModel]) -> Tool:
    """The tool by which an agent hands back its output; the loop itself takes the call."""

    def conclude() -> None:
        """Stands for the tool; `Agent.act` takes the call before it would run."""

    words = (output_type.__doc__ or "Hand back your result and end.").strip()
    schema = schema_of(output_type) | {"title": output_type.__name__}
    return Tool(CONCLUDE, words, schema, output_type, conclude)


def outcome_of(session: Session, status: Status, reason: str = "", text: str = "") -> Outcome:
    """An outcome of this session, without output."""
    return Outcome(session.thread.name, session.agent.name, session.task, status, reason, text=text)


def stopped(session: Session, error: LimitReached) -> Outcome:
    """The outcome of a session that reached a limit."""
    statuses: dict[str, Status] = {"seconds": "timed_out", "cancelled": "cancelled"}
    return outcome_of(session, statuses.get(error.limit, "limit"), str(error))


def conclude(session: Session, call: ToolCall) -> Outcome | None:
    """Check the output; a fault becomes a result that says what to correct, once."""
    try:
        output = session.tools[CONCLUDE].check(call.arguments)
    except ToolError as error:
        second = _asked_before(session)
        record(session, call, (Text(str(error)),), "arguments")
        return (
            outcome_of(session, "failed", f"no valid output in two tries: {error}")
            if second
            else None
        )
    record(session, call, (Text("Accepted."),))
    outcome = outcome_of(session, getattr(output, "status", "done"))
    return replace(outcome, output=output.model_dump(mode="json"))


def end(session: Session, outcome: Outcome) -> Outcome:
    """Append the thread's end right behind the result of the call that gave it: with no `await` between
    them a crash keeps both or neither, and an accepted output is never asked for again."""
    session.thread.append(outcome.event())
    session.ended = outcome
    return outcome


def answered(session: Session, reply: Reply) -> Outcome | None:
    """Take a reply without calls as the answer, or ask once for what is missing."""
    missing = _missing(session, reply)
    if not missing:
        return outcome_of(session, "done", text=reply.text)
    if reply.finish == "content_filter" or _asked_before(session):
        return outcome_of(
            session, "failed", f"no usable answer in two tries: {missing}", reply.text
        )
    session.thread.append(MessageAdded((Text(missing),), "framework"))
    return None


def _missing(session: Session, reply: Reply) -> str:
    """What a reply without calls lacks, in words for the model; `""` when it is an answer."""
    if reply.finish == "content_filter":
        return "The provider's filter withheld the answer."
    if reply.finish == "length":
        return "Your reply was cut at the length limit. Answer again, much shorter."
    if session.agent.output_type is not None:
        return f"Nothing was handed back. Call the tool {CONCLUDE!r} with your result now."
    if not reply.text.strip():
        return "Your reply was empty. Give your answer now."
    return ""


def _asked_before(session: Session) -> bool:
    """True when the newest thing the model saw before this reply was a request to repair."""
    for item in reversed(session.thread.context.items):
        event = item.event
        if isinstance(event, ReplyReceived) or _is_recited(event):
            continue
        if isinstance(event, MessageAdded):
            return event.origin == "framework"
        return isinstance(event, ToolReturned) and event.is_error and event.name == CONCLUDE
    return False


def _is_recited(event: object) -> bool:
    return isinstance(event, MessageAdded) and is_tail(plain_text(event.content))
