"""Ending: taking a reply as an agent's outcome, with one repair turn for what is missing or wrong."""

from dataclasses import replace
from functools import lru_cache

from pydantic import BaseModel

from memory import (
    MessageAdded,
    ReplyReceived,
    Status,
    Text,
    ToolCall,
    frame_of,
    is_tail,
    plain_text,
)

from .acting import CONCLUDE, record
from .errors import LimitReached, ToolError
from .faults import Faults, faults_of
from .models import Reply
from .outcome import Outcome
from .salvaging import salvaged
from .session import Session
from .tools import Tool, schema_of


@lru_cache(maxsize=128)
def conclude_tool(output_type: type[BaseModel]) -> Tool:
    """The tool by which an agent hands back its output; the loop itself takes the call.

    Made once for a type: every thread of an agent has it, and its schema takes milliseconds.
    """

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
    statuses: dict[str, Status] = {
        "seconds": "timed_out",
        "cancelled": "cancelled",
        "paused": "paused",
    }
    return outcome_of(session, statuses.get(error.limit, "limit"), str(error))


async def conclude(session: Session, call: ToolCall) -> Outcome | None:
    """Check the output; faults become a result that says what to correct, once.

    The second time an output that says nothing fails; any other fault is marked in what is accepted.
    Nothing is awaited between the result and the return.
    """
    asked = _asked_before(session)
    output: BaseModel | None = None
    try:
        output = session.tools[CONCLUDE].check(call.arguments)
        faults = await faults_of(session, output)
    except ToolError as error:
        faults = Faults(str(error))
    if not asked and (words := faults.request(f"call {CONCLUDE!r}")):
        record(session, call, (Text(words),), "arguments")
        return None
    if faults.fatal or output is None:
        reason = f"no valid output in two tries: {faults.fatal}"
        outcome = await salvaged(session.run.log, outcome_of(session, "failed", reason))
        record(session, call, (Text(faults.fatal),), "arguments")
        return outcome
    record(session, call, (Text("Accepted."),))
    status: Status = "partial" if faults.marked else getattr(output, "status", "done")
    outcome = outcome_of(session, status, "; ".join(faults.marked))
    return replace(outcome, output=output.model_dump(mode="json"))


def end(session: Session, outcome: Outcome) -> Outcome:
    """Append the thread's end right behind the result of the call that gave it: with no `await` between
    them a crash keeps both or neither, and an accepted output is never asked for again."""
    session.thread.append(outcome.event())
    session.ended = outcome
    return outcome


async def answered(session: Session, reply: Reply) -> Outcome | None:
    """Take a reply without calls as the answer, or ask once for what is missing."""
    missing = _missing(session, reply)
    faults = Faults(missing) if missing else await faults_of(session, reply.text)
    hopeless = reply.finish == "content_filter" or _asked_before(session)
    if not hopeless and (words := faults.request("give your answer")):
        session.thread.append(MessageAdded((Text(words),), "framework"))
        return None
    if faults.fatal:
        reason = f"no usable answer in two tries: {faults.fatal}"
        return outcome_of(session, "failed", reason, reply.text)
    status: Status = "partial" if faults.marked else "done"
    return outcome_of(session, status, "; ".join(faults.marked), reply.text)


def _missing(session: Session, reply: Reply) -> str:
    """What a reply without calls lacks, in words for the model; `""` when it is an answer."""
    if reply.finish == "content_filter":
        return "The provider's filter withheld the answer."
    if reply.finish == "length":
        return "Your reply was cut at the length limit; it must be much shorter."
    if session.agent.output_type is not None:
        return f"Nothing was handed back: your result goes into a call of the tool {CONCLUDE!r}."
    if not reply.text.strip():
        return "Your reply was empty."
    return ""


def _asked_before(session: Session) -> bool:
    """True when the newest thing the model saw before this reply was a request to repair."""
    for item in reversed(session.thread.context.items):
        event = item.event
        if isinstance(event, ReplyReceived) or _is_recited(event):
            continue
        if isinstance(event, MessageAdded):
            return event.origin == "framework"
        return event.is_error and event.name == CONCLUDE
    return False


def _is_recited(event: object) -> bool:
    if not isinstance(event, MessageAdded):
        return False
    text = plain_text(event.content)
    return is_tail(text) or (event.origin == "framework" and bool(frame_of(text)))
