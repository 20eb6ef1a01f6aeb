"""What a chat-completions request asks of the extractive model: its task, its tools, what came back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from memory import JsonObject, loads

from .parts import ERROR_MARK, GO_ON

_CONCLUDE = "conclude"
_TAIL = "<tail>"
# How the loop's own requests for a repair begin (`agents/ending.py`): they hold no task.
_REPAIRS = ("Nothing was handed back", "Your reply was ", "The provider's filter", GO_ON)


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of one tool call made since the task was given."""

    name: str
    """The tool, `""` when the call is not in the request."""
    arguments: JsonObject
    """As called, `{}` when they were not an object."""
    text: str
    """The result as the model reads it, without the mark of an error."""
    failed: bool
    """True for a result that says what went wrong."""

    def data(self) -> Any:
        """The result as JSON, `None` when it is something else."""
        return parsed(self.text)


@dataclass(frozen=True, slots=True)
class Turn:
    """One request, read."""

    task: str
    """The newest words of a user, `""` when there are none."""
    tools: dict[str, JsonObject]
    """The functions on offer (name, description, parameters) by name."""
    results: tuple[Answered, ...]
    """What tools returned since the task was given, in order."""

    @property
    def shape(self) -> str:
        """Title of the output that `conclude` takes, `""` when it is not on offer."""
        schema = self.tools.get(_CONCLUDE, {}).get("parameters") or {}
        return str(schema.get("title", ""))

    def answers(self, name: str) -> list[Answered]:
        """The results of one tool."""
        return [result for result in self.results if result.name == name]


def read_turn(body: bytes) -> Turn:
    """Read a chat-completions body. Raises `ValueError` when it is none."""
    data = loads(body)
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        raise ValueError("the request is not a chat-completions body: it has no list of messages")
    functions = [tool["function"] for tool in data.get("tools") or ()]
    messages: list[JsonObject] = data["messages"]
    start = _task_at(messages)
    return Turn(
        task=_text(messages[start]) if start >= 0 else "",
        tools={function["name"]: function for function in functions},
        results=tuple(_results(messages[start + 1 :])),
    )


def parsed(text: str) -> Any:
    """A text as JSON, `None` when it is not."""
    try:
        return loads(text)
    except ValueError:
        return None


def objects(value: Any, key: str | None = None) -> list[JsonObject]:
    """The objects in a list (or in the list under `key` of an object); everything else is left out."""
    if key is not None:
        value = cast(JsonObject, value).get(key) if isinstance(value, dict) else None
    if not isinstance(value, list):
        return []
    return [cast(JsonObject, part) for part in cast(list[Any], value) if isinstance(part, dict)]


def _task_at(messages: Sequence[JsonObject]) -> int:
    """Where the newest task stands, -1 when no message holds one."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].get("role") != "user":
            continue
        text = _text(messages[at]).lstrip()
        if text and not text.startswith((_TAIL, *_REPAIRS)):
            return at
    return -1


def _results(messages: Sequence[JsonObject]) -> list[Answered]:
    calls: dict[str, JsonObject] = {}
    found: list[Answered] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = call["function"]
        if message.get("role") == "tool":
            call = calls.get(message.get("tool_call_id", ""), {})
            text = _text(message)
            arguments = parsed(call.get("arguments") or "{}")
            found.append(
                Answered(
                    name=call.get("name", ""),
                    arguments=arguments if isinstance(arguments, dict) else {},
                    text=text.removeprefix(ERROR_MARK),
                    failed=text.startswith(ERROR_MARK),
                )
            )
    return found


def _text(message: JsonObject) -> str:
    """The text of a message, whether a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in objects(content)).strip()
