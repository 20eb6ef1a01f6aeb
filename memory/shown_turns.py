"""A turn as a person reads it: what the model saw, what was hidden from it, and where that is kept."""

from collections.abc import Iterator, Sequence

from .blocks import plain_text
from .events import (
    ConfigSet,
    ContextCompacted,
    Entry,
    MessageAdded,
    ReplyReceived,
    ToolReturned,
)
from .requests import Rebuilt
from .transcripts import transcript_text

_TOLD = (MessageAdded, ReplyReceived, ToolReturned, ContextCompacted)


def turn_text(entries: Sequence[Entry], request: Rebuilt) -> str:
    """One request of a thread in words: head, items in order, tail, then what it does not show.

    `entries` are the thread's. Texts stand as they are in the log.
    """
    return "".join(f"{part}\n" for part in _parts(entries, request))


def _parts(entries: Sequence[Entry], request: Rebuilt) -> Iterator[str]:
    sent = request.sent
    shown = "the bytes that were sent" if request.exact else "NOT the bytes that were sent"
    yield (
        f"request {request.entry.seq}: {sent.size:,} bytes, {sent.counted:,} tokens as counted, "
        f"{sent.prefix:,} bytes reusable, {sent.revision} compactions before it; {shown}"
    )
    config = next(e.event for e in entries if e.seq == sent.config)
    assert isinstance(config, ConfigSet)
    names = ", ".join(str(tool.get("name")) for tool in config.tools) or "none"
    yield f"\n--- {sent.config} system (model {config.model}; tools: {names})\n{config.system}"
    when = {entry.seq: entry.time for entry in entries}
    for item in request.items:
        text = transcript_text([Entry(item.seq, "", when.get(item.seq, 0.0), item.event)])
        heading, _, body = text.partition("\n")
        place, _, kind = heading.removeprefix("=== ").partition(" ")
        yield f"\n--- {place} {kind.partition(' ')[2]}\n{body.rstrip()}"
    if sent.tail:
        yield f"\n--- tail (recorded with the request, no part of the history)\n{sent.tail}"
    yield from _hidden(entries, request)


def _hidden(entries: Sequence[Entry], request: Rebuilt) -> Iterator[str]:
    """What the log holds up to this request and the model did not see, one line each."""
    seen = {item.seq for item in request.items}
    by = {
        seq: entry
        for entry in entries
        if isinstance(entry.event, ContextCompacted) and entry.seq <= request.sent.last_event
        for seq in entry.event.hidden
    }
    hidden = [
        entry
        for entry in entries
        if entry.seq <= request.sent.last_event
        and entry.seq not in seen
        and isinstance(entry.event, _TOLD)
    ]
    if not hidden:
        yield "\n--- nothing is hidden"
        return
    yield f"\n--- hidden: {len(hidden)} events, kept in the event log and in the thread's transcript"
    for entry in hidden:
        compaction = by.get(entry.seq)
        why = f"by compaction {compaction.seq}" if compaction else "it adds nothing to a request"
        yield f"{entry.seq} {_words(entry)}: {why}"


def _words(entry: Entry) -> str:
    event = entry.event
    assert isinstance(event, _TOLD)
    text = event.text if isinstance(event, ContextCompacted) else plain_text(event.content)
    kind = type(event).__name__
    named = {"MessageAdded": "message", "ReplyReceived": "reply", "ToolReturned": "result"}
    return f"{named.get(kind, 'compaction')} of {len(text):,} characters"
