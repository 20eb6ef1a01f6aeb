"""What turns events into one provider's request bytes; the codecs themselves live with the models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from .blocks import JsonObject
from .events import ConfigSet, MessageAdded, ReplyReceived, ToolReturned

MessageEvent = MessageAdded | ReplyReceived | ToolReturned


@dataclass(frozen=True, slots=True)
class Item:
    """One event as the model sees it: identifiers repaired, everything else as in the log."""

    seq: int
    """Position of the event in the log; a repair carries the position of the event that needed it."""
    event: MessageEvent


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes that one event adds to a request, made once and never changed."""

    role: str
    """`user`, `assistant` or `tool`; codecs that merge messages join neighbours of one role."""
    data: bytes
    """One message, or one content block for codecs that merge."""


@runtime_checkable
class Codec(Protocol):
    """Makes request bytes for one kind of provider; pure, so that any request can be made again."""

    @property
    def name(self) -> str:
        """Fixed word, stored in the log: `chat`, `anthropic`."""
        ...

    @property
    def version(self) -> int:
        """Raised whenever the same event would give other bytes."""
        ...

    @property
    def options(self) -> dict[str, str]:
        """What else decides the bytes; `codec_for(name, version, options)` makes an equal codec."""
        ...

    def head(self, config: ConfigSet) -> bytes:
        """Everything before the first history message: settings, tools, system prompt, open list."""
        ...

    def pieces(self, item: Item) -> tuple[Piece, ...]:
        """The bytes that one item adds, none when it has nothing that this provider takes."""
        ...

    def body(self, head: bytes, pieces: Sequence[Piece], tail: str) -> bytes:
        """The whole request: head, pieces in order, the tail (`""` for none), the closing brackets."""
        ...


def own_fields(model: str, codec: Codec, settings: JsonObject) -> JsonObject:
    """The fields of a `ConfigSet` that are a model's own, not its agent's."""
    return {
        "model": model,
        "codec": codec.name,
        "codec_version": codec.version,
        "codec_options": dict(codec.options),
        "settings": settings,
    }
