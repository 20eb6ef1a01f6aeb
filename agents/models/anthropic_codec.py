"""The codec of Anthropic's messages: content blocks, merged into one message a role.

A piece is the comma-joined content blocks of one event; neighbours of one role share a message, so
parallel results are answered in one. A reply's unsigned reasoning is left out: the provider refuses it.
"""

import re
from collections.abc import Sequence
from typing import Any, Literal, assert_never

from memory import (
    Block,
    ConfigSet,
    Image,
    Item,
    JsonObject,
    MessageAdded,
    Piece,
    Reasoning,
    ReplyReceived,
    ToolCall,
    ToolReturned,
    wire,
)

from .parts import (
    EMPTY_MESSAGE,
    EMPTY_RESULT,
    GO_ON,
    as_text,
    call_id,
    image_address,
    object_head,
    sendable_arguments,
    tool_name,
)

OPENING = "(The conversation goes on.)"

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MARK: JsonObject = {"cache_control": {"type": "ephemeral"}}
_MARKED = b',"cache_control":{"type":"ephemeral"}}'
_OPEN = {
    "user": b'{"role":"user","content":[',
    "assistant": b'{"role":"assistant","content":[',
}


class AnthropicCodec:
    """Makes bodies of Anthropic's messages API; `messages` is the last key.

    The tail is one more text block of the last user message. With `cache="on"` the system prompt and the
    last block before the tail carry a cache mark; bytes up to that mark are the reusable prefix.
    """

    name = "anthropic"
    version = 1

    def __init__(self, cache: Literal["on", "off"] = "on") -> None:
        self.cache: Literal["on", "off"] = cache

    def __repr__(self) -> str:
        return f"AnthropicCodec(cache={self.cache!r})"

    @property
    def options(self) -> dict[str, str]:
        """What decides the bytes beside name and version."""
        return {"cache": self.cache}

    def head(self, config: ConfigSet) -> bytes:
        """Settings, tools, system prompt, then the open list of messages."""
        head = dict(config.settings)
        if config.tools:
            head["tools"] = [_tool(tool) for tool in config.tools]
        if config.system.strip():
            mark = _MARK if self.cache == "on" else {}
            head["system"] = [{"type": "text", "text": config.system} | mark]
        return object_head(head) + b'"messages":['

    def pieces(self, item: Item) -> tuple[Piece, ...]:
        """The content blocks of one event; none for a reply that holds nothing to send."""
        match item.event:
            case MessageAdded(content=content):
                return (_piece("user", _user_blocks(content, EMPTY_MESSAGE)),)
            case ReplyReceived(content=content):
                blocks = _reply_blocks(content)
                return (_piece("assistant", blocks),) if blocks else ()
            case ToolReturned() as event:
                return (_piece("user", [_result(event)]),)
            case _:
                assert_never(item.event)

    def body(self, head: bytes, pieces: Sequence[Piece], tail: str) -> bytes:
        """Join the pieces into messages that alternate, opening and ending with the user."""
        parts, role = [head], ""
        if pieces and pieces[0].role == "assistant":
            parts += (_OPEN["user"], wire(_text(OPENING)))
            role = "user"
        for piece in pieces:
            parts += (_between(role, piece.role), piece.data)
            role = piece.role
        if self.cache == "on" and pieces:
            parts[-1] = parts[-1][:-1] + _MARKED
        if not tail and role != "user":
            tail = GO_ON
        if tail:
            parts += (_between(role, "user"), wire(_text(tail)))
        parts.append(b"]}]}")
        return b"".join(parts)


def _between(role: str, following: str) -> bytes:
    if role == following:
        return b","
    return (b"]}," if role else b"") + _OPEN[following]


def _piece(role: str, blocks: list[JsonObject]) -> Piece:
    return Piece(role, b",".join(map(wire, blocks)))


def _tool(tool: JsonObject) -> JsonObject:
    schema: Any = tool.get("parameters") or {"type": "object"}
    described = {"description": tool["description"]} if tool.get("description") else {}
    return {"name": tool["name"]} | described | {"input_schema": schema}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _user_blocks(content: tuple[Block, ...], empty: str) -> list[JsonObject]:
    """Text and images; blank text is left out, because the provider refuses it."""
    blocks: list[JsonObject] = []
    for block in content:
        if isinstance(block, Image):
            blocks.append(_image(block))
        elif (text := as_text(block)).strip():
            blocks.append(_text(text))
    return blocks or [_text(empty)]


def _image(image: Image) -> JsonObject:
    address = image_address(image)
    if address:
        return {"type": "image", "source": {"type": "url", "url": address}}
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _reply_blocks(content: tuple[Block, ...]) -> list[JsonObject]:
    """The reply's blocks; it must not end with reasoning, and reasoning goes back signed or not at all."""
    blocks: list[JsonObject] = []
    for block in content:
        if isinstance(block, Reasoning):
            blocks += _thinking(block)
        elif isinstance(block, ToolCall):
            blocks.append(_call(block))
        elif (text := as_text(block)).strip():
            blocks.append(_text(text))
    while blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        blocks.pop()
    return blocks


def _thinking(block: Reasoning) -> list[JsonObject]:
    data = block.data or {}
    if "signature" in data:
        return [{"type": "thinking", "thinking": block.text, "signature": data["signature"]}]
    return [data] if data.get("type") == "redacted_thinking" else []


def _call(call: ToolCall) -> JsonObject:
    return {
        "type": "tool_use",
        "id": call_id(call.id, _ID),
        "name": tool_name(call.name),
        "input": sendable_arguments(call.arguments),
    }


def _result(event: ToolReturned) -> JsonObject:
    result: JsonObject = {"type": "tool_result", "tool_use_id": call_id(event.call_id, _ID)}
    result["content"] = _user_blocks(event.content, EMPTY_RESULT)
    return result | ({"is_error": True} if event.is_error else {})
