"""The `Model` protocol: a function from request bytes to one whole reply.

Every model - over the wire, through LangChain, scripted or extractive - gets the exact bytes that the
log records, so that whatever a model did can be traced to what it saw.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from memory import Block, Codec, JsonObject, Text, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of a reply while it streams; only whole replies are stored."""

    kind: Literal["text", "reasoning", "tool_call"]
    text: str


Sink = Callable[[Delta], None]


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole reply."""

    content: tuple[Block, ...]
    """Reasoning, text and tool calls in the order they came."""
    finish: str
    """`stop`, `tool_calls`, `length`, `content_filter`, or the provider's own word."""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """Name as the provider reported it."""
    raw: JsonObject = field(default_factory=dict[str, Any])
    """The provider's message, streams collected."""
    notices: tuple[tuple[str, JsonObject], ...] = ()
    """What the adapter found out on the way and the log should keep: (topic, data)."""

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(block for block in self.content if isinstance(block, ToolCall))

    @property
    def text(self) -> str:
        """The visible text, joined."""
        return "".join(block.text for block in self.content if isinstance(block, Text))


@runtime_checkable
class Model(Protocol):
    """What an agent talks to."""

    @property
    def name(self) -> str:
        """As the user gave it: `openai:gpt-x`, `extractive`."""
        ...

    @property
    def codec(self) -> Codec:
        """Makes the request bytes. It may change between two calls (an endpoint turned out to have
        no native tool calls): the loop configures its thread again when it does."""
        ...

    @property
    def window(self) -> int | None:
        """Tokens of the context window, `None` when unknown (32,000 are then assumed)."""
        ...

    @property
    def settings(self) -> JsonObject:
        """The body's keys beside tools and messages, in order: model name, stream, temperature..."""
        ...

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """Send one request and return the whole reply; retries are inside.

        `body` comes from `codec.body`. `sink` gets pieces as they arrive, when the model streams.
        Raises langchain-core's model errors (`ModelRateLimitError`, `ContextOverflowError`, ...) or
        `ModelUnavailable` of this package when there is no answer to be had. An adapter that finds
        out that its endpoint wants other bytes raises `CodecChanged`; the caller configures its thread
        again with `codec` and `settings` and sends once more. No adapter does so endlessly.
        """
        ...

    async def close(self) -> None:
        """Release connections; closing twice is allowed."""
        ...
