"""OpenHands: a list of events, actions and observations, to neutral messages."""

from typing import Any

from memory import Block, Text, ToolCall, ToolResult, dumps

from .chat import as_object, text_of
from .trajectory import Message

_SILENT = frozenset({"recall", "agent_state_changed", "change_agent_state", "null"})
"""Bookkeeping that no model sees."""
_SETTINGS = frozenset(
    {"thought", "action", "keep_prompt", "is_confirmed", "action_risk", "kernel_init_code"}
)


def read_openhands(events: list[Any], where: str) -> tuple[Message, ...]:
    """Actions with a tool's name are calls, the next observation of each is its result.

    Errors that no call caused are messages of the user's side, as the recorder showed them to the model.
    """
    read: list[Message] = []
    open_call: ToolCall | None = None
    for place, value in enumerate(events):
        event = as_object(value, f"{where} event {place}", "the event")
        kind = str(event.get("action") or event.get("observation"))
        if kind in _SILENT:
            continue
        if "action" in event and event["action"] is not None:
            message = _action(event, kind, place)
            open_call = message.calls[0] if message.calls else None
        elif open_call is not None:
            text = Text(text_of(event.get("content")))
            message = Message("tool", (ToolResult(open_call.id, open_call.name, (text,)),))
            open_call = None
        else:
            message = Message("user", (Text(text_of(event.get("content"))),))
        read.append(message)
    return tuple(read)


def _action(event: dict[str, Any], kind: str, place: int) -> Message:
    given: Any = event.get("args")
    arguments: dict[str, Any] = dict(given) if isinstance(given, dict) else dict(event)
    if kind == "system":
        return Message("system", (Text(text_of(arguments.get("content"))),))
    if kind == "message" and event.get("source") != "agent":
        return Message("user", (Text(text_of(arguments.get("content"))),))
    blocks: list[Block] = []
    if thought := arguments.get("thought"):
        blocks.append(Text(str(thought)))
    if kind == "message":
        return Message("assistant", (Text(text_of(arguments.get("content"))),))
    blocks.append(_call(event, kind, arguments, place))
    return Message("assistant", tuple(blocks))


def _call(event: dict[str, Any], kind: str, arguments: dict[str, Any], place: int) -> ToolCall:
    """The call as the model wrote it, where the recorder kept its reply; else from the event's fields."""
    meta: Any = event.get("tool_call_metadata") or {}
    name, wanted = str(meta.get("function_name", kind)), meta.get("tool_call_id")
    choices: Any = (meta.get("model_response") or {}).get("choices") or [{}]
    for call in (choices[0].get("message") or {}).get("tool_calls") or []:
        if call.get("id") == wanted:
            return ToolCall(f"event_{place}", name, str(call["function"]["arguments"]))
    kept = {key: value for key, value in arguments.items() if key not in _SETTINGS}
    return ToolCall(f"event_{place}", name, dumps(kept).decode())
