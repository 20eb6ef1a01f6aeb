"""`ScriptedModel`: a model whose replies a test writes down; the same loop, tools and log as any other."""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memory import Block, Codec, JsonObject, Reasoning, Text, ToolCall, Usage, dumps, loads

from ..errors import AgentError
from .base import Delta, Reply, Sink
from .chat_codec import ChatCodec

Body = JsonObject
"""The parsed request: `messages`, `tools` and the settings."""
Step = str | Block | Reply | BaseException | Sequence[Block] | Callable[[Body], Any]


class ScriptExhausted(AgentError):
    """A scripted model was asked more often than its script says."""


@dataclass
class ScriptedModel:
    """Plays `script` step by step, or calls it with each parsed request.

    A step is text, a block, several blocks, a `Reply`, an exception to raise, or a function (async or
    not) of the parsed request that returns one of these. A function in place of the list answers every
    request; several agents may share it. What was sent is kept in `requests`.
    """

    script: Sequence[Step] | Callable[[Body], Any]
    name: str = "scripted"
    window: int | None = 128_000
    """Tokens."""
    seconds: float = 0.0
    """Waits this long before each reply."""
    settings: JsonObject = field(default_factory=lambda: {"model": "scripted"})
    codec: Codec = field(default_factory=ChatCodec)
    requests: list[bytes] = field(default_factory=list[bytes])
    """The exact bytes of every request, in order."""

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """The next step's reply. Raises `ScriptExhausted` after the last one."""
        number = len(self.requests)
        self.requests.append(body)
        if self.seconds:
            await asyncio.sleep(self.seconds)
        if callable(self.script):
            step: Any = self.script
        elif number < len(self.script):
            step = self.script[number]
        else:
            raise ScriptExhausted(
                f"the script of {self.name!r} has {len(self.script)} steps, not more"
            )
        while callable(step):
            step = step(loads(body))
            if inspect.isawaitable(step):
                step = await step
        reply = reply_of(step, len(body), self.name)
        if sink is not None and reply.text:
            sink(Delta("text", reply.text))
        return reply

    async def close(self) -> None:
        """Nothing to release."""


def reply_of(step: Any, size: int, name: str) -> Reply:
    """A script's step as a whole reply; an exception is raised."""
    if isinstance(step, BaseException):
        raise step
    if isinstance(step, Reply):
        return step
    if isinstance(step, str):
        step = Text(step)
    blocks: tuple[Block, ...] = tuple(step) if isinstance(step, list | tuple) else (step,)
    calls = any(isinstance(block, ToolCall) for block in blocks)
    written = sum(_length(block) for block in blocks)
    usage = Usage(size // 4, written // 4 + 1)
    return Reply(blocks, "tool_calls" if calls else "stop", usage, name)


def _length(block: Block) -> int:
    if isinstance(block, ToolCall):
        return len(block.arguments)
    return len(block.text) if isinstance(block, Text | Reasoning) else 0


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call for a script; ids are made unique by the context, so none is needed."""
    return ToolCall("", name, dumps(arguments).decode())
