"""What both codecs share: neutral blocks in a form that every provider takes.

A model may name a tool that no provider would accept, write arguments that are no JSON, or repeat an
id of forty kilobytes. The log keeps that; a request must not, or every later request is refused.
"""

import hashlib
import re
from collections.abc import Iterable
from typing import Any

import orjson

from memory import Block, Image, JsonObject, Reasoning, Text, ToolCall, ToolResult, plain_text, wire

EMPTY_MESSAGE = "(empty message)"
EMPTY_RESULT = "(no output)"
ERROR_MARK = "[error] "
GO_ON = "(Go on.)"
"""Ends a request that would end with the assistant's words: providers take that for a prefilled
answer or refuse it."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]")


def tool_name(name: str) -> str:
    """The name as OpenAI's and Anthropic's pattern allow it: letters, digits, `_`, `-`, 64 at most."""
    if _NAME.fullmatch(name):
        return name
    return _NOT_NAME.sub("_", name)[:64] or "unnamed"


def call_id(original: str, allowed: re.Pattern[str]) -> str:
    """The id itself when it matches `allowed`, else one made from its hash: same in, same out."""
    if allowed.fullmatch(original):
        return original
    digest = hashlib.blake2b(original.encode("utf-8", "surrogatepass"), digest_size=12)
    return f"call_{digest.hexdigest()}"


def sound(text: str) -> str:
    """The text with lone surrogates replaced, so that it is valid UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def arguments_object(arguments: str) -> JsonObject | None:
    """The arguments as an object, `{}` when nothing was written, `None` when they are no JSON object."""
    if not arguments.strip():
        return {}
    try:
        value: Any = orjson.loads(sound(arguments))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def sendable_arguments(arguments: str) -> JsonObject:
    """An object for any arguments; malformed ones become `{"malformed_arguments": "..."}`."""
    value = arguments_object(arguments)
    return {"malformed_arguments": arguments} if value is None else value


def as_text(block: Block) -> str:
    """A block in words, for places where the provider takes text alone; `""` for reasoning."""
    match block:
        case Text():
            return block.text
        case Reasoning():
            return ""
        case Image():
            return f"[image: {block.media_type}]"
        case ToolResult():
            return plain_text((block,))
        case ToolCall():
            return f"[call of {block.name}] {block.arguments}"
        case _:
            return f"[{block.kind}] {wire(block.data).decode()}"


def joined_text(blocks: Iterable[Block]) -> str:
    """The blocks in words, one after the other, empty ones left out."""
    return "\n".join(text for block in blocks if (text := as_text(block)))


def image_address(image: Image) -> str | None:
    """The image's web address, `None` when its bytes are inline."""
    return image.data if image.data.startswith(("https:", "http:")) else None


def object_head(values: JsonObject) -> bytes:
    """The object's bytes without the closing brace, ready for one more key."""
    data = wire(values)[:-1]
    return data + b"," if values else data
