"""Approvals: which calls of a run wait for a person, and what the person decided about them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from agents import PendingCall
from memory import (
    ApprovalAsked,
    ApprovalGiven,
    Entry,
    JsonObject,
    MessageAdded,
    ReplyReceived,
    ThreadEnded,
    ToolReturned,
    dumps,
    loads,
)

from .errors import DecisionRefused

Decisions = Mapping[str, Any]
"""By call: `"approve"`, `"reject"`, or an object with `decision` and `note` or `arguments`. A call is
named `thread/call_id`, by its call id alone when one call waits under it, or `all` for every call."""


def pending_calls(entries: Iterable[Entry]) -> list[PendingCall]:
    """The calls of a run that wait for a person, in the order in which they were asked about."""
    waiting: dict[tuple[str, str], PendingCall] = {}
    for entry in entries:
        match entry.event:
            case ApprovalAsked() as asked:
                waiting[entry.thread, asked.call_id] = PendingCall(
                    entry.thread, asked.call_id, asked.name, asked.arguments, asked.reason
                )
            case ApprovalGiven(call_id=call) | ToolReturned(call_id=call):
                waiting.pop((entry.thread, call), None)
            case ReplyReceived() | MessageAdded() | ThreadEnded():
                for key in [key for key in waiting if key[0] == entry.thread]:
                    del waiting[key]
            case _:
                pass
    return list(waiting.values())


def read_decisions(
    pending: Sequence[PendingCall], decisions: Decisions
) -> list[tuple[PendingCall, ApprovalGiven]]:
    """What was decided, call by call.

    Raises `DecisionRefused` for decisions that do not name calls, a call that does not wait, a word that is
    no decision, or arguments that are no JSON object; nothing is taken then.
    """
    if not isinstance(decisions, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - a host's value
        raise DecisionRefused(
            f"{decisions!r} decides no call by name; say for example {{'all': 'approve'}}"
        )
    taken: dict[str, tuple[PendingCall, ApprovalGiven]] = {}
    for name, decision in decisions.items():
        for call in _named(pending, name):
            taken[call.key] = call, _given(call, decision)
    return list(taken.values())


def described(pending: Iterable[PendingCall]) -> list[JsonObject]:
    """The calls as plain data, for whoever asks the person."""
    return [
        {"call": call.key, "tool": call.tool, "arguments": call.arguments, "reason": call.reason}
        for call in pending
    ]


def _named(pending: Sequence[PendingCall], name: str) -> list[PendingCall]:
    found = [call for call in pending if name in ("all", call.key)]
    found = found or [call for call in pending if call.call_id == name]
    if len(found) == 1 or (found and name == "all"):
        return found
    known = ", ".join(call.key for call in pending) or "none"
    what = "more than one call" if found else "no call"
    raise DecisionRefused(
        f"{what} of this run waits under the name {name!r}; those that wait: {known}"
    )


def _given(call: PendingCall, decision: Any) -> ApprovalGiven:
    data = cast(JsonObject, decision) if isinstance(decision, dict) else {"decision": decision}
    verdict, note = data.get("decision"), str(data.get("note") or "")
    if verdict not in ("approve", "reject", "edit"):
        raise DecisionRefused(
            f"{verdict!r} is no decision about {call.key!r}; say approve, reject or edit"
        )
    arguments = _arguments(call, data.get("arguments")) if verdict == "edit" else ""
    return ApprovalGiven(call.call_id, verdict, arguments, note)


def _arguments(call: PendingCall, given: Any) -> str:
    """The edited arguments as JSON text; given as an object or as text."""
    try:
        value: Any = loads(given) if isinstance(given, str) else given
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise DecisionRefused(
            f"the edited arguments of {call.key!r} must be one JSON object, not {given!r}"
        )
    return dumps(value).decode()
