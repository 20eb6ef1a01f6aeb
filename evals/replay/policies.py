"""Replay policies: what each would leave of a run. Pure functions of messages; the head is always kept.

These are the comparisons; Undrift's own compaction is measured through its own code, never through a
copy here.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from memory import Block, Text, ToolCall, dumps

from ..statistics import seed_of
from .trajectory import Message, values_of, whole_turns

Policy = Callable[[Sequence[Message], int], list[Message]]
"""From the messages of a cut run and the number of those that head it, to what stays visible."""
REMOVED = "[result removed]"
CLEARED = "[cleared]"
_LONG_ARGUMENT = 200


def full(messages: Sequence[Message], head: int) -> list[Message]:
    """Everything."""
    return list(messages)


def head_only(messages: Sequence[Message], head: int) -> list[Message]:
    """The head alone: what a probe answered here would have been told by the task."""
    return list(messages[:head])


def latest(number: int) -> Policy:
    """The newest `number` messages; the boundary moves to newer ones until no call lacks its result."""

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        start = max(head, len(messages) - number)
        return [*messages[:head], *_without_orphans(messages[start:])]

    return policy


def micro(keep: int, *, arguments: bool = False, shorter: int = 0) -> Policy:
    """Results but the newest `keep` become a placeholder, those of up to `shorter` characters aside.

    With `arguments`, long arguments of the calls that they answered are cleared too.
    """

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        places = [n for n, m in enumerate(messages) if m.results and n >= head]
        old = set(places[: max(0, len(places) - keep)])
        ids = {r.call_id for n in old for r in messages[n].results}
        kept: list[Message] = []
        for place, message in enumerate(messages):
            if place in old and len(message.text) > max(shorter, len(REMOVED)):
                kept.append(_with_result(message, REMOVED))
            else:
                kept.append(_cleared(message, ids) if arguments and place >= head else message)
        return kept

    return policy


def tail(share: float, *, steps: bool = False) -> Policy:
    """The newest messages that fit into `share` of the tokens behind the head.

    With `steps` whole turns are kept, else single messages, of which orphaned results are dropped.
    """

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        body = messages[head:]
        room = share * sum(message.tokens for message in body)
        spans = whole_turns(body) if steps else [(n, n + 1) for n in range(len(body))]
        start = len(body)
        for first, last in reversed(spans):
            room -= sum(message.tokens for message in body[first:last])
            if room < 0:
                break
            start = first
        return [*messages[:head], *_without_orphans(body[start:])]

    return policy


def cutter(messages: Sequence[Message], head: int) -> list[Message]:
    """Results over 8,192 characters keep the first 4,096 and the last 1,024."""
    return [_shortened(message, 8_192, 4_096, 1_024) for message in messages]


def offload(tokens: int) -> Policy:
    """Results over `tokens` keep their first 10 and last 5 lines, 2,000 characters a side at most."""

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        return [_previewed(m) if m.results and m.tokens > tokens else m for m in messages]

    return policy


def retry_collapse(messages: Sequence[Message], head: int) -> list[Message]:
    """Of calls made again with the same arguments, only the newest keeps its result."""
    newest = {(call.name, call.arguments): call.id for m in messages for call in m.calls}
    current = set(newest.values())
    return [
        _with_result(message, REMOVED)
        if place >= head and message.results and message.results[0].call_id not in current
        else message
        for place, message in enumerate(messages)
    ]


def notes(tokens: int, *, kept_tail: float = 0.0) -> Policy:
    """A new window: the head, the first sentence of each reply as notes up to `tokens`, then a tail."""

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        behind = tail(kept_tail, steps=True)(messages, head)[head:]
        replies = [m for m in messages[head : len(messages) - len(behind)] if m.role == "assistant"]
        lines: list[str] = []
        for message in reversed(replies):
            text = next((b.text for b in message.content if isinstance(b, Text)), "")
            lines.insert(0, text.strip().partition("\n")[0].partition(". ")[0])
            if Message("user", (Text("\n".join(lines)),)).tokens > tokens:
                lines.pop(0)
                break
        noted = [Message("user", (Text("\n".join(lines)),))] if any(lines) else []
        return [*messages[:head], *noted, *behind]

    return policy


def random_drop(other: Policy, name: str) -> Policy:
    """The control of equal size: no more tokens than with `other` are left, see `drop_at_random`."""

    def policy(messages: Sequence[Message], head: int) -> list[Message]:
        allowed = sum(message.tokens for message in other(messages, head))
        return drop_at_random(messages, head, allowed, name)

    return policy


def drop_at_random(
    messages: Sequence[Message], head: int, allowed: int, name: str
) -> list[Message]:
    """Whole turns behind the head dropped at random until no more than `allowed` tokens are left."""
    spans = [(a, b) for a, b in whole_turns(messages) if a >= head]
    size = sum(message.tokens for message in messages)
    Random(seed_of(f"random drop/{name}/{size}")).shuffle(spans)
    dropped: set[int] = set()
    for first, last in spans:
        if size <= allowed:
            break
        size -= sum(message.tokens for message in messages[first:last])
        dropped.update(range(first, last))
    return [message for place, message in enumerate(messages) if place not in dropped]


_PLAIN: dict[str, Policy] = {
    "full": full,
    "head-only": head_only,
    **{f"latest-{n}": latest(n) for n in (10, 20, 40)},
    **{f"micro-{n}": micro(n) for n in (3, 5, 10)},
    "micro-10-arguments": micro(10, arguments=True),
    "placeholder-500": micro(5, shorter=500),
    "cutter": cutter,
    **{f"tail-{n}": tail(n / 100) for n in (10, 20, 25, 50)},
    **{f"steps-{n}": tail(n / 100, steps=True) for n in (20, 25, 50)},
    "offload-1000": offload(1_000),
    "retry-collapse": retry_collapse,
    "reset-with-notes": notes(1_000),
    "notes-and-tail-20": notes(1_000, kept_tail=0.2),
}
_CONTROLLED = ("micro-3", "micro-10", "latest-20", "tail-25", "tail-50", "notes-and-tail-20")
POLICIES: dict[str, Policy] = _PLAIN | {
    f"random={name}": random_drop(_PLAIN[name], name) for name in _CONTROLLED
}
"""By name. `random=X` drops as much as X leaves out, at random."""


def _without_orphans(messages: Sequence[Message]) -> list[Message]:
    start = 0
    while start < len(messages) and messages[start].role == "tool":
        start += 1
    return list(messages[start:])


def _with_result(message: Message, text: str) -> Message:
    results = [replace(result, content=(Text(text),)) for result in message.results]
    return Message(message.role, tuple(results))


def _previewed(message: Message) -> Message:
    lines = message.text.splitlines()
    first, last = "\n".join(lines[:10])[:2_000], "\n".join(lines[-5:])[-2_000:]
    preview = f"{first}\n[... kept whole as a file]\n{last}"
    return _with_result(message, preview) if len(preview) < len(message.text) else message


def _shortened(message: Message, over: int, head: int, end: int) -> Message:
    if not message.results or len(message.text) <= over:
        return message
    return _with_result(message, f"{message.text[:head]}\n[...]\n{message.text[-end:]}")


def _cleared(message: Message, ids: set[str]) -> Message:
    blocks: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolCall) and block.id in ids:
            values: dict[str, Any] = {
                key: CLEARED if isinstance(value, str) and len(value) > _LONG_ARGUMENT else value
                for key, value in values_of(block).items()
            }
            blocks.append(replace(block, arguments=dumps(values).decode()))
        else:
            blocks.append(block)
    return Message(message.role, tuple(blocks))
