"""Neutral blocks: the typed parts of an event, the same whatever provider spoke.

Each class carries a `type` tag, so that a block is written as plain JSON and read back by `block_from`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from filesystem import ArtifactRef

from .errors import EventError

JsonObject = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str
    """Any Unicode, lone surrogates included; codecs replace those in requests."""
    type: Literal["text"] = field(default="text", init=False)


@dataclass(frozen=True, slots=True)
class Stored(Text):
    """The words that stand for a body which was stored as an artifact; to codecs it is plain text.

    The words are frozen with the event: the same bytes are sent for ever.
    """

    ref: ArtifactRef | None = None
    """The body; `None` in none that this version writes."""
    type: Literal["stored"] = field(default="stored", init=False)  # pyright: ignore[reportIncompatibleVariableOverride] - each block has its own tag


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought, kept verbatim; a policy per endpoint says whether it is sent back."""

    text: str
    """The readable part, may be empty when the provider hides it."""
    data: JsonObject | None = None
    """The provider's own fields (signature, encrypted content), `None` when there are none."""
    type: Literal["reasoning"] = field(default="reasoning", init=False)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for."""

    id: str
    """Unique inside one reply."""
    name: str
    """Name of the tool as the model wrote it."""
    arguments: str
    """JSON text exactly as the model wrote it; it may be malformed."""
    type: Literal["tool_call"] = field(default="tool_call", init=False)


@dataclass(frozen=True, slots=True)
class Image:
    """An image, inline or by address."""

    media_type: str
    """For example `image/png`."""
    data: str
    """Base64 text, or an `https:` address."""
    type: Literal["image"] = field(default="image", init=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a kind that this version does not know: kept, counted and passed on as text."""

    kind: str
    """The provider's name for it."""
    data: JsonObject
    """The part as received."""
    type: Literal["unknown"] = field(default="unknown", init=False)


ResultBlock = Text | Image | Unknown


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of one call."""

    call_id: str
    """The `ToolCall.id` that it answers."""
    name: str
    """Name of the tool, for readers; pairing goes by `call_id`."""
    content: tuple[ResultBlock, ...]
    """The result's parts in order, may be empty."""
    is_error: bool = False
    """True when the tool failed, was unknown, or got wrong arguments."""
    type: Literal["tool_result"] = field(default="tool_result", init=False)


Block = Text | Reasoning | ToolCall | ToolResult | Image | Unknown

_CLASSES: dict[str, Callable[..., Block]] = {
    "text": Text,
    "stored": Stored,
    "reasoning": Reasoning,
    "tool_call": ToolCall,
    "image": Image,
    "unknown": Unknown,
    "tool_result": ToolResult,
}


def block_from(data: Mapping[str, Any]) -> Block:
    """Read one block back from its JSON object.

    A `type` that is not known becomes an `Unknown` block holding the whole object, so that a newer
    log stays readable. Raises `EventError` when the object has no usable `type` or lacks fields.
    """
    kind = data.get("type")
    make = _CLASSES.get(cast(str, kind))
    if make is None:
        return Unknown(kind=str(kind), data=dict(data))
    fields = {key: value for key, value in data.items() if key != "type"}
    if kind == "tool_result":
        fields["content"] = tuple(block_from(part) for part in fields.get("content", ()))
    try:
        if kind == "stored" and isinstance(fields.get("ref"), dict):
            fields["ref"] = ArtifactRef(**fields["ref"])
        return make(**fields)
    except TypeError as error:
        raise EventError(
            f"block {kind!r} cannot be read: {error}; the log may be damaged"
        ) from error


def plain_text(blocks: tuple[Block, ...]) -> str:
    """The readable text of some blocks, joined by line feeds; reasoning and calls are left out."""
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, Text):
            parts.append(block.text)
        elif isinstance(block, ToolResult):
            parts.append(plain_text(block.content))
    return "\n".join(parts)
