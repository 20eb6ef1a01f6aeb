"""The stored form of events: a fixed word for each kind, a version, and JSON bytes.

A change that older readers cannot follow raises the kind's entry in `VERSIONS`.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from .approvals import ApprovalAsked, ApprovalGiven
from .blocks import block_from
from .encoding import dumps, loads
from .errors import EventError
from .events import (
    CompactionRejected,
    CompactionStarted,
    ConfigSet,
    ContextCompacted,
    Event,
    LaterEvent,
    MessageAdded,
    NoteWritten,
    Noticed,
    ReplyReceived,
    RequestSent,
    RunEnded,
    RunStarted,
    SummaryAsked,
    ThreadEnded,
    ThreadStarted,
    TodoWritten,
    ToolReturned,
)
from .interventions import RunForked, SecretPurged
from .offloaded import ContentOffloaded
from .replacing import replacement_from
from .usage import Usage

# Stored names are fixed words: no module path or class name goes into stored data.
_KINDS: dict[str, type[Any]] = {
    "run_started": RunStarted,
    "thread_started": ThreadStarted,
    "config_set": ConfigSet,
    "message_added": MessageAdded,
    "request_sent": RequestSent,
    "summary_asked": SummaryAsked,
    "reply_received": ReplyReceived,
    "tool_returned": ToolReturned,
    "content_offloaded": ContentOffloaded,
    "approval_asked": ApprovalAsked,
    "approval_given": ApprovalGiven,
    "context_compacted": ContextCompacted,
    "compaction_started": CompactionStarted,
    "compaction_rejected": CompactionRejected,
    "todo_written": TodoWritten,
    "note_written": NoteWritten,
    "noticed": Noticed,
    "thread_ended": ThreadEnded,
    "run_ended": RunEnded,
    "run_forked": RunForked,
    "secret_purged": SecretPurged,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}
_FIELDS = {cls: frozenset(f.name for f in fields(cls)) for cls in _NAMES}
VERSIONS = dict.fromkeys(_KINDS, 1)


def encode_event(event: Event) -> tuple[str, int, bytes]:
    """The stored form of an event: kind, version, JSON bytes."""
    if isinstance(event, LaterEvent):
        return event.name, event.version, dumps(event.body)
    kind = _NAMES[type(event)]
    return kind, VERSIONS[kind], dumps(event)


def decode_event(kind: str, version: int, body: bytes) -> Event:
    """Read one event back. Unknown kinds and later versions become `LaterEvent`.

    Raises `EventError` when the bytes are not the JSON of such an event.
    """
    try:
        data = loads(body)
    except ValueError as error:
        raise EventError(f"event of kind {kind!r} is not JSON: {error}") from error
    cls = _KINDS.get(kind)
    if cls is None or version > VERSIONS[kind]:
        return LaterEvent(kind, version, data)
    return _build(kind, cls, data)


def _build(kind: str, cls: type[Any], data: Mapping[str, Any]) -> Event:
    values = {key: value for key, value in data.items() if key in _FIELDS[cls]}
    if "content" in values:
        values["content"] = tuple(block_from(part) for part in values["content"])
    if "usage" in values:
        values["usage"] = Usage(**values["usage"])
    if "replacements" in values:
        values["replacements"] = tuple(map(replacement_from, values["replacements"]))
    for name in ("tools", "requests"):
        if name in values:
            values[name] = tuple(values[name])
    try:
        return cls(**values)
    except TypeError as error:
        raise EventError(f"event of kind {kind!r} cannot be read: {error}") from error
