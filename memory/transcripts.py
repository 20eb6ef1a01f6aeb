"""Transcripts: a thread's events as plain text that an agent or a person can read and search."""

import time
from collections.abc import Iterable

from .blocks import Block, Reasoning, Text, ToolCall, ToolResult
from .encoding import dumps
from .events import (
    ContextCompacted,
    Entry,
    MessageAdded,
    Noticed,
    ReplyReceived,
    ThreadEnded,
    ThreadStarted,
    ToolReturned,
)
from .stored_events import encode_event


def transcript_text(entries: Iterable[Entry]) -> str:
    """The events in order, each under a line `=== position time kind`, texts literally as they were."""
    return "".join(_framed(entry) for entry in entries)


def _framed(entry: Entry) -> str:
    kind, body = _described(entry)
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.time))
    end = "" if not body or body.endswith("\n") else "\n"
    return f"=== {entry.seq} {when} {kind}\n{body}{end}"


def _described(entry: Entry) -> tuple[str, str]:
    match entry.event:
        case ThreadStarted() as event:
            return f"thread started: {event.agent}", event.task
        case MessageAdded() as event:
            return f"message from {event.origin}", _blocks(event.content)
        case ReplyReceived() as event:
            spent = f"{event.usage.input_tokens} in, {event.usage.output_tokens} out"
            return f"reply ({event.finish}; {spent})", _blocks(event.content)
        case ToolReturned() as event:
            mark = f"error {event.kind} of" if event.is_error else "result of"
            return f"{mark} {event.name} [{event.call_id}]", _blocks(event.content)
        case ContextCompacted() as event:
            return f"compacted: {len(event.hidden)} events hidden ({event.strategy})", event.text
        case Noticed() as event:
            return f"notice: {event.topic}", dumps(event.data).decode()
        case ThreadEnded() as event:
            return f"thread ended: {event.status} {event.reason}".rstrip(), dumps(
                event.result
            ).decode()
        case event:
            kind, _, body = encode_event(event)
            return kind, body.decode()


def _blocks(blocks: tuple[Block, ...]) -> str:
    return "\n".join(_block(block) for block in blocks)


def _block(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case Reasoning():
            return f"[reasoning] {block.text}"
        case ToolCall():
            return f"[call {block.name} {block.id}] {block.arguments}"
        case ToolResult():
            return _blocks(block.content)
        case _:
            return f"[{block.type}] {dumps(block).decode()}"
