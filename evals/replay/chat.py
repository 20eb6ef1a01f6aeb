"""Chat messages as JSON, in the dialects that recorders write, to neutral messages."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from memory import Block, Reasoning, Text, ToolCall, ToolResult, dumps

from ..errors import TrajectoryError
from .trajectory import Message, Role

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)\n(.*?)```", re.DOTALL)


def as_object(value: Any, where: str, what: str) -> dict[str, Any]:
    """A JSON object. Raises `TrajectoryError` named `wrong_shape` for anything else."""
    if not isinstance(value, dict):
        raise TrajectoryError("wrong_shape", where, f"{what} is no JSON object")
    return cast(dict[str, Any], value)


def as_list(value: Any, where: str, what: str) -> list[Any]:
    """A JSON list. Raises `TrajectoryError` named `wrong_shape` for anything else."""
    if not isinstance(value, list):
        raise TrajectoryError("wrong_shape", where, f"{what} is no JSON list")
    return cast(list[Any], value)


def read_chat(messages: Sequence[Any], where: str) -> tuple[Message, ...]:
    """OpenAI chat messages: `role`, `content`, `tool_calls`, `tool_call_id` (or a list `tool_call_ids`).

    Neighbouring tool messages stay one message each. Call ids that one recorder uses again are
    numbered. Raises `TrajectoryError` named `unknown_role` or `wrong_shape`.
    """
    read: list[Message] = []
    ids = _Ids()
    for place, value in enumerate(messages):
        data = as_object(value, f"{where} message {place}", "the message")
        role = _ROLES.get(str(data.get("role")))
        if role is None:
            raise TrajectoryError(
                "unknown_role", f"{where} message {place}", f"role {data.get('role')!r}"
            )
        if role == "tool":
            read.append(Message("tool", (ids.result(data),)))
        else:
            read.append(Message(role, _blocks(data, role, ids, f"{where} message {place}")))
    return tuple(read)


def read_text_commands(messages: Sequence[Any], where: str) -> tuple[Message, ...]:
    """Chat messages whose commands stand in the assistant's text: the next user message is the result.

    A recorder's own field `action` is taken as the command, else the first fenced shell block.
    """
    read: list[Message] = []
    open_call: ToolCall | None = None
    for place, value in enumerate(messages):
        data = as_object(value, f"{where} message {place}", "the message")
        text, role = text_of(data.get("content")), data.get("role")
        if role == "assistant":
            command = str(data.get("action") or "").strip() or _fenced(text)
            open_call = None
            blocks: list[Block] = [Text(text)]
            if command:
                open_call = ToolCall(f"text_{place}", "shell", dumps({"command": command}).decode())
                blocks.append(open_call)
            read.append(Message("assistant", tuple(blocks)))
        elif role == "user" and open_call is not None:
            read.append(Message("tool", (ToolResult(open_call.id, "shell", (Text(text),)),)))
            open_call = None
        else:
            read.extend(read_chat([{"role": role, "content": text}], f"{where} message {place}"))
    return tuple(read)


def text_of(content: Any) -> str:
    """The text of a `content`: a string, a list of typed parts, or nothing."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = cast(list[Any], content)
        return "\n".join(
            str(part.get("text", "")) if isinstance(part, Mapping) else str(part) for part in parts
        )
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _fenced(text: str) -> str:
    found = _COMMAND.search(text)
    return found.group(1).strip() if found else ""


def _blocks(data: dict[str, Any], role: Role, ids: "_Ids", where: str) -> tuple[Block, ...]:
    blocks: list[Block] = []
    thought = data.get("reasoning_content") or data.get("reasoning")
    if isinstance(thought, str):
        blocks.append(Reasoning(thought))
    if text := text_of(data.get("content")):
        blocks.append(Text(text))
    if role == "assistant":
        calls = as_list(data.get("tool_calls") or [], where, "tool_calls")
        blocks.extend(ids.call(as_object(call, where, "a tool call")) for call in calls)
    return tuple(blocks)


class _Ids:
    """Makes call ids unique in one run; results go to the newest call of their id."""

    def __init__(self) -> None:
        self._now: dict[str, ToolCall] = {}
        self._number = 0

    def call(self, data: dict[str, Any]) -> ToolCall:
        function: Any = data.get("function")
        inner: dict[str, Any] = function if isinstance(function, dict) else data
        arguments = inner.get("arguments", "{}")
        if not isinstance(arguments, str):
            arguments = dumps(arguments).decode()
        wanted = str(data.get("id") or "")
        self._number += 1
        name = wanted if wanted and wanted not in self._now else f"{wanted}#{self._number}"
        call = ToolCall(name, str(inner.get("name", "")), arguments)
        self._now[wanted] = call
        return call

    def result(self, data: dict[str, Any]) -> ToolResult:
        several: Any = data.get("tool_call_ids")
        given = data.get("tool_call_id") or data.get("id") or (several[0] if several else "")
        call = self._now.get(str(given or ""))
        call_id = call.id if call else str(given)
        name = str(data.get("name") or (call.name if call else ""))
        text = Text(text_of(data.get("content")))
        return ToolResult(call_id, name, (text,), is_error=bool(data.get("error")))
