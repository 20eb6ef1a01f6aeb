"""Sight: which part of a request a scripted policy looks at. Each is a function of the request alone."""

from collections.abc import Callable
from typing import Any, cast

from memory import estimate_tokens, is_tail

Message = dict[str, Any]
Sight = Callable[[list[Message]], str]
HEAD_TOKENS, TAIL_TOKENS = 60, 300
"""What the window-limited reader takes in of a request's beginning and of its end."""
RECENT = 4
"""Messages that the recency follower looks at, the tail not counted."""


def whole(messages: list[Message]) -> str:
    """Everything."""
    return "\n".join(map(text_of, messages))


def recent(messages: list[Message]) -> str:
    """The newest messages and the tail: what steers who follows what was said last."""
    told = [m for m in messages if not is_tail(text_of(m))]
    tail = [m for m in messages[-1:] if is_tail(text_of(m))]
    return whole([*told[-RECENT:], *tail])


def ends(messages: list[Message]) -> str:
    """The first and the last tokens: what a reader sees who is lost in the middle."""
    text = whole(messages)
    head, tail = HEAD_TOKENS, TAIL_TOKENS
    if estimate_tokens(text) <= head + tail:
        return text
    return f"{_cut(text, head)}\n{_cut(text[::-1], tail)[::-1]}"


def _cut(text: str, tokens: int) -> str:
    """About the first tokens of a text, by halving."""
    low, high = 0, min(len(text), 6 * tokens)
    while high - low > 8:
        middle = (low + high) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) <= tokens else (low, middle)
    return text[:low]


def text_of(message: Message) -> str:
    """The words of a message, without its calls."""
    content = message.get("content")
    if isinstance(content, list):
        parts = cast(list[dict[str, Any]], content)
        return "\n".join(str(part.get("text", "")) for part in parts)
    return str(content or "")


def calls_of(message: Message) -> list[tuple[str, str, str]]:
    """Id, name and argument text of each call of a reply."""
    calls = cast(list[dict[str, Any]], message.get("tool_calls") or [])
    return [
        (str(c.get("id", "")), str(c["function"]["name"]), str(c["function"]["arguments"]))
        for c in calls
    ]
