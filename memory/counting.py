"""How many tokens the pieces of a request are: the text that the model sees of their JSON.

A piece is parsed and its strings are counted, so that escapes, keys and ids, which no model reads as
such, do not count; what the provider puts around a message is a constant. Images are a constant as well.
"""

import functools
from collections.abc import Hashable
from typing import Any, cast

from .encoding import loads, wire
from .tokens import Counter

FRAME_TOKENS = 4
"""What a chat format puts around one message (start, role, separator, end)."""
CALL_TOKENS = 8
"""What it puts around one tool call, beside name and arguments."""
IMAGE_TOKENS = 1600
"""One image, whatever its size. Anthropic: width x height / 750, scaled down to at most 1,568 tokens; OpenAI:
85 + 170 per tile, at most 1,445. The size of an image given by address is unknown, so the most counts."""

_IMAGES = frozenset({"image", "image_url", "input_image"})
_CALLS = frozenset({"function", "tool_use"})
_OPEN = frozenset({"content", "tool_calls", "function", "messages"})
_UNSEEN = frozenset(
    {"role", "type", "id", "tool_call_id", "tool_use_id", "cache_control", "signature"}
)
_SCHEMAS = ("tools", "response_format")
_DEPTH = 8


def count_piece(data: bytes, counter: Counter) -> int:
    """Tokens of one message, or of the comma-joined content blocks of one.

    Bytes that are no JSON, as an unknown codec may make them, count as text.
    """
    try:
        parts = loads(b"[%b]" % data)
    except ValueError:
        return FRAME_TOKENS + counter.count(data.decode("utf-8", "replace"))
    return FRAME_TOKENS + _count(parts, counter)


def count_head(head: bytes, counter: Counter) -> int:
    """Tokens of everything before the history: system prompt, tool schemas (as JSON), answer format.

    Model name, temperature and other settings do not count. `head` is what `Codec.head` made.
    """
    try:
        body = loads(head + b"]}")
        parts = [body.get("system"), body.get("messages")]
        parts += [wire(body[key]).decode() for key in _SCHEMAS if key in body]
    except (ValueError, AttributeError):
        return counter.count(head.decode("utf-8", "replace"))
    return _count(parts, counter)


def shared_head(head: bytes, counter: Counter) -> tuple[bytes, int]:
    """A head and its tokens: the same bytes for all threads of one kind of agent, counted once.

    A counter that cannot be hashed, such as one that keeps notes, counts each head itself.
    """
    if isinstance(cast(Any, counter), Hashable):
        return _kept_head(head, counter)
    return head, count_head(head, counter)


@functools.lru_cache(maxsize=128)
def _kept_head(head: bytes, counter: Counter) -> tuple[bytes, int]:
    return head, count_head(head, counter)


def count_tail(tail: str, counter: Counter) -> int:
    """Tokens that a tail adds to a request, 0 for none."""
    return FRAME_TOKENS + counter.count(tail) if tail else 0


def _count(parts: Any, counter: Counter) -> int:
    texts: list[str] = []
    extra = _gather(parts, texts, 0)
    return extra + counter.count("\n".join(texts))


def _gather(value: Any, texts: list[str], depth: int) -> int:
    """Collect what a model reads of `value`; returns the tokens of what is no text."""
    if value is None:
        return 0
    if isinstance(value, str):
        texts.append(value)
        return 0
    if isinstance(value, list) and depth < _DEPTH:
        return sum(_gather(part, texts, depth + 1) for part in cast(list[Any], value))
    if isinstance(value, dict) and depth < _DEPTH:
        return _gather_object(cast(dict[str, Any], value), texts, depth)
    texts.append(wire(value).decode())
    return 0


def _gather_object(value: dict[str, Any], texts: list[str], depth: int) -> int:
    kind = value.get("type")
    if kind in _IMAGES:
        return IMAGE_TOKENS
    extra = CALL_TOKENS if kind in _CALLS else 0
    for key, part in value.items():
        if key in _UNSEEN or part is None:
            continue
        if key in _OPEN or isinstance(part, str):
            extra += _gather(part, texts, depth + 1)
        else:
            texts.append(wire(part).decode())
    return extra
