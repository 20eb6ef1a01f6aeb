"""Approving: calls that a person must allow before they are made.

A call waits when its tool says so (`Tool.approval`), or when a crash cut it off and its tool wants a
person asked then (`repeatable="ask"`). What was asked and decided is in the log, so waiting survives a
restart; a decision that the log had before this process opened the run counts as begun.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from memory import ApprovalAsked, ApprovalGiven, ResultBlock, Text, ToolCall

from .errors import ToolError
from .outcome import Outcome, PendingCall

if TYPE_CHECKING:
    from .session import Session


@dataclass(slots=True)
class Approvals:
    """What was asked and decided about the calls of a thread's newest reply, by call id."""

    asked: dict[str, ApprovalAsked] = field(default_factory=dict[str, ApprovalAsked])
    """Calls that wait."""
    given: dict[str, ApprovalGiven] = field(default_factory=dict[str, ApprovalGiven])
    begun: set[str] = field(default_factory=set[str])
    """Calls whose approval an earlier process had: it may have made them before it stopped."""

    def clear(self) -> None:
        """Start anew, for the calls of another reply."""
        self.asked, self.given, self.begun = {}, {}, set()

    def take(self, event: ApprovalAsked | ApprovalGiven, *, before: bool) -> None:
        """Take in an event of the log; `before` when an earlier process wrote it."""
        call = event.call_id
        if isinstance(event, ApprovalAsked):
            self.asked[call] = event
            self.given.pop(call, None)
            return
        self.asked.pop(call, None)
        self.given[call] = event
        if before and event.verdict != "reject":
            self.begun.add(call)


def may_have_begun(session: "Session", call: ToolCall) -> bool:
    """True for an open call that an earlier process may have started before it stopped."""
    approvals = session.approvals
    if call.id in approvals.given:
        return call.id in approvals.begun
    return call.id not in approvals.asked and _usable(session, call) and not _guarded(session, call)


def ask_person(session: "Session", call: ToolCall, reason: Literal["approval", "crash"]) -> None:
    """Record that a call waits for a person; durable after the next commit."""
    event = ApprovalAsked(call.id, call.name, call.arguments, reason)
    session.thread.append(event)
    session.approvals.take(event, before=False)


def allowed(session: "Session", calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls that need no person, or have their approval; the others are asked about, once each.

    An edited call comes with the person's arguments.
    """
    ready: list[ToolCall] = []
    for call in calls:
        given = session.approvals.given.get(call.id)
        if given is not None:
            ready.append(
                replace(call, arguments=given.arguments) if given.verdict == "edit" else call
            )
        elif call.id not in session.approvals.asked:
            if _guarded(session, call):
                ask_person(session, call, "approval")
            else:
                ready.append(call)
    return ready


def refusal(session: "Session", call: ToolCall) -> str:
    """What the model reads in place of a call that a person rejected, `""` for any other call."""
    given = session.approvals.given.get(call.id)
    if given is None or given.verdict != "reject":
        return ""
    note = f" They say: {given.note}" if given.note else ""
    return (
        f"The user did not allow this call of {call.name!r}; it was not made.{note} Do not make it again "
        "unless you are asked to; go on another way."
    )


def with_note(
    session: "Session", call: ToolCall, content: tuple[ResultBlock, ...]
) -> tuple[ResultBlock, ...]:
    """A result as the model should read it: when a person edited the call, with the arguments used."""
    given = session.approvals.given.get(call.id)
    if given is None or given.verdict != "edit":
        return content
    words = f"(The user changed the arguments before this call was made: {given.arguments})"
    return (Text(words), *content)


def paused(session: "Session") -> Outcome | None:
    """The outcome of a thread whose open calls wait for a person, `None` when none does."""
    asked = session.approvals.asked
    open_calls = {call.id for call in session.thread.context.open_calls}
    waiting = [asked[call] for call in asked if call in open_calls]
    if not waiting:
        return None
    thread = session.thread.name
    pending = tuple(
        PendingCall(thread, event.call_id, event.name, event.arguments, event.reason)
        for event in waiting
    )
    return paused_outcome(thread, session.agent.name, session.task, pending)


def paused_outcome(thread: str, agent: str, task: str, pending: Sequence[PendingCall]) -> Outcome:
    """An outcome that names the calls that wait for a person."""
    names = ", ".join(f"{call.key} ({call.tool})" for call in pending)
    reason = f"waits for a person to approve or reject: {names}"
    return Outcome(thread, agent, task, "paused", reason, pending=tuple(pending))


def _guarded(session: "Session", call: ToolCall) -> bool:
    """Whether the tool wants a person asked about this call; a predicate that fails asks."""
    tool = session.tools.get(call.name)
    if tool is None or tool.approval is False:
        return False
    try:
        arguments = tool.check(call.arguments)
    except ToolError:
        return False
    if tool.approval is True:
        return True
    try:
        return bool(tool.approval(arguments.model_dump()))
    except Exception:  # noqa: BLE001 - the boundary of a user's predicate: in doubt a person is asked
        return True


def _usable(session: "Session", call: ToolCall) -> bool:
    """Whether the call could be made at all; a wrong one is answered without being made."""
    tool = session.tools.get(call.name)
    if tool is None:
        return False
    try:
        tool.check(call.arguments)
    except ToolError:
        return False
    return True
