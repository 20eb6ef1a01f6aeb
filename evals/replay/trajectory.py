"""A recorded run in neutral form: messages of blocks, whatever program recorded it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from memory import Block, Text, ToolCall, ToolResult, estimate_tokens, loads

from ..errors import TrajectoryError

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Message:
    """One message as a model saw or wrote it."""

    role: Role
    content: tuple[Block, ...]
    """Text; of an assistant also calls; of a tool, `ToolResult`s alone."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """The tool results in it, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolResult))

    @cached_property
    def text(self) -> str:
        """All of it as text: calls as their name and the values of their arguments, unescaped."""
        return "\n".join(_text_of(block) for block in self.content)

    @cached_property
    def tokens(self) -> int:
        """An estimate of its tokens, 4 for its frame."""
        return estimate_tokens(self.text) + 4


@dataclass(frozen=True)
class Trajectory:
    """One recorded run, pairing checked."""

    id: str
    """Unique among the trajectories of one file."""
    format: str
    """Name of the format it was read from."""
    task: str
    """The unit of independence: runs of one task are one cluster."""
    messages: tuple[Message, ...]
    outcome: dict[str, str] = field(default_factory=dict[str, str])
    """What the recorder said about the end: `exit_status`, `submission`, `reward`..."""

    @property
    def head(self) -> int:
        """How many messages head it: the system prompt and the first message of the user."""
        for place, message in enumerate(self.messages):
            if message.role == "user":
                return place + 1
        return sum(message.role == "system" for message in self.messages[:1])

    @cached_property
    def tokens(self) -> int:
        """An estimate of the whole run's tokens."""
        return sum(message.tokens for message in self.messages)


def values_of(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call; text that is no JSON object is kept under `input`."""
    try:
        data = loads(call.arguments or "{}")
    except ValueError:
        return {"input": call.arguments}
    return data if isinstance(data, dict) else {"input": data}


def _text_of(block: Block) -> str:
    if isinstance(block, Text):
        return block.text
    if isinstance(block, ToolCall):
        return "\n".join([block.name, *_leaves(values_of(block))])
    if isinstance(block, ToolResult):
        return "\n".join(part.text for part in block.content if isinstance(part, Text))
    return getattr(block, "text", "")


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [leaf for key, part in value.items() for leaf in (str(key), *_leaves(part))]
    if isinstance(value, list):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value if isinstance(value, str) else str(value)]


def check_pairing(messages: Sequence[Message], where: str) -> None:
    """Every result answers a call that stands before it, and every call but those of the newest reply
    is answered before the next message that is no result.

    Raises `TrajectoryError` named `no_messages`, `no_reply`, `result_without_call`,
    `result_repeated` or `call_without_result`.
    """
    if not messages:
        raise TrajectoryError("no_messages", where, "the recorded run is empty")
    if not any(message.role == "assistant" for message in messages):
        raise TrajectoryError("no_reply", where, "no message is of the assistant")
    waiting: dict[str, ToolCall] = {}
    answered: set[str] = set()
    for place, message in enumerate(messages):
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                name = "result_repeated" if result.call_id in answered else "result_without_call"
                raise TrajectoryError(
                    name, where, f"message {place} answers the call {result.call_id!r}"
                )
            answered.add(result.call_id)
        if message.role == "tool":
            continue
        if waiting:
            raise TrajectoryError(
                "call_without_result",
                where,
                f"the calls {sorted(waiting)} are unanswered at message {place}",
            )
        waiting = {call.id: call for call in message.calls}


def whole_turns(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """The spans (from, to) that may not be cut: a reply with the results of its calls, or one message."""
    spans: list[tuple[int, int]] = []
    for place, message in enumerate(messages):
        if message.role == "tool" and spans:
            spans[-1] = (spans[-1][0], place + 1)
        else:
            spans.append((place, place + 1))
    return spans


def cut_at(trajectory: Trajectory, share: float) -> tuple[Message, ...]:
    """The first `share` of its messages, moved back so that no call lacks its result; never the end."""
    limit = min(int(len(trajectory.messages) * share), len(trajectory.messages) - 1)
    end = 0
    for start, stop in whole_turns(trajectory.messages):
        if stop > limit:
            break
        if len(trajectory.messages[start].calls) <= stop - start - 1 or not (
            trajectory.messages[start].calls
        ):
            end = stop
    return trajectory.messages[:end]
