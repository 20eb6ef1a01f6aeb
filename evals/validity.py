"""Validity: whether a sample tested what it should, read from its run's log and nothing else.

A sample that did not is *invalid*: it is reported and counts as a failure, never as a pass.
"""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, cast

from memory import (
    CompactionRejected,
    ContextCompacted,
    Entry,
    Event,
    MessageAdded,
    ReplyReceived,
    RequestSent,
    ToolReturned,
    best_counter,
    plain_text,
)

from .arms import FULL, Arm

FIXED_SHARE = 0.6
"""Of the trigger: what system prompt, tools, pinned text and goal may take together."""
ROUNDED = 0.99
"""Of the trigger: a request is counted whole where it is sent, and item by item where it is compacted."""
APART = 1.25
"""Of the trigger: how far a count of all strings of a request may be from the count of its messages."""


def why_invalid(
    entries: Sequence[Entry], arm: Arm, trigger: int, *, key: Sequence[int], question: int
) -> str:
    """Why a sample does not count, `""` when it does.

    `entries` are one thread's. `trigger` is in tokens (`Arm.tokens`). `key` are the positions of the
    events that hold the key information, all of which must be hidden or shown shorter; `question` is the
    position of the event after which the sample is judged.
    """
    if not key:
        return "the key information was never shown"
    if max(key) >= question:
        return "the question stands before the key information"
    between = [e for e in entries if max(key) < e.seq < question]
    taken = [e.event for e in between if isinstance(e.event, ContextCompacted)]
    if arm.policy == FULL:
        return "the full history was compacted" if taken else ""
    before = [e.event for e in entries if e.seq < question]
    return _head(entries, trigger) or _forced(between, taken, arm, trigger) or _hidden(before, key)


def _head(entries: Sequence[Entry], trigger: int) -> str:
    """The first request holds the fixed part and nothing else."""
    fixed = next((e.event.counted for e in entries if isinstance(e.event, RequestSent)), 0)
    if fixed <= FIXED_SHARE * trigger:
        return ""
    return f"the fixed part has {fixed} tokens, over {FIXED_SHARE:.0%} of the trigger of {trigger}"


def _forced(
    between: Sequence[Entry], taken: Sequence[ContextCompacted], arm: Arm, trigger: int
) -> str:
    if len(taken) < arm.compactions:
        refused = [e.event.reason for e in between if isinstance(e.event, CompactionRejected)]
        why = f"; rejected: {', '.join(refused)}" if refused else ""
        return f"{len(taken)} of {arm.compactions} compactions between key and question{why}"
    for event in taken:
        if event.trigger != "size":
            continue
        if event.before < ROUNDED * trigger:
            return f"a compaction began at {event.before} tokens, under the trigger of {trigger}"
        if event.after > trigger:
            return f"a compaction left {event.after} tokens, over the trigger of {trigger}"
    return ""


def _hidden(before: Sequence[Event], key: Sequence[int]) -> str:
    """A key event may be hidden before the last of them is shown."""
    hidden = {seq for e in before if isinstance(e, ContextCompacted) for seq in e.hidden}
    left = [seq for seq in key if seq not in hidden]
    return f"event {left[0]} with the key information is not hidden" if left else ""


def share_kept(entries: Sequence[Entry], request: int) -> dict[str, float]:
    """The figure `share_kept`: tokens of the request at this position, as a share of what it would have if no
    compaction before it had freed any; empty when no request stands there.

    `entries` are one thread's. Tokens are those that the run counted.
    """
    before = [entry for entry in entries if entry.seq <= request]
    sent = next((e.event for e in before if e.seq == request), None)
    if not isinstance(sent, RequestSent) or not sent.counted:
        return {}
    taken = [entry.event for entry in before if isinstance(entry.event, ContextCompacted)]
    freed = sum(event.before - event.after for event in taken)
    return {"share_kept": sent.counted / (sent.counted + freed)}


def events_with(entries: Sequence[Entry], text: str) -> tuple[int, ...]:
    """Positions of the messages, replies and results whose words or call arguments hold a text, composed
    or decomposed."""
    wanted = _composed(text)
    return tuple(
        entry.seq
        for entry in entries
        if isinstance(entry.event, MessageAdded | ReplyReceived | ToolReturned)
        and any(wanted in _composed(words) for words in _words(entry.event))
    )


def stands_in(body: bytes, text: str) -> bool:
    """True when a request's bytes show a text anywhere: messages, arguments, tools, previews, tail."""
    wanted = _composed(text)
    return any(wanted in _composed(each) for each in _strings(json.loads(body)))


def outgrown(bodies: Sequence[bytes], trigger: int) -> str:
    """Why requests are larger than a trigger in tokens allows, by a count of their own, `""` when none is.

    Only for a model that reports no usage: reports correct the run's own counts.
    """
    largest = max(bodies, key=len, default=b"{}")
    tokens = best_counter().count("\n".join(_strings(json.loads(largest))))
    if tokens <= APART * trigger:
        return ""
    return f"a request of about {tokens} tokens was sent under a trigger of {trigger}"


def _words(event: MessageAdded | ReplyReceived | ToolReturned) -> Iterator[str]:
    yield plain_text(event.content)
    if isinstance(event, ReplyReceived):
        yield from (a for b in event.content if (a := getattr(b, "arguments", "")))


def _strings(value: Any) -> Iterator[str]:
    """All strings of a JSON value, keys too; arguments, which are JSON in a string, once more unpacked."""
    if isinstance(value, str):
        yield value
        if value.startswith(("{", "[")):
            try:
                yield from _strings(json.loads(value))
            except (ValueError, RecursionError):
                return
    elif isinstance(value, dict):
        for name, each in cast(dict[str, Any], value).items():
            yield name
            yield from _strings(each)
    elif isinstance(value, list):
        for each in cast(list[Any], value):
            yield from _strings(each)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)
