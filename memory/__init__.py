"""The memory of a run: an append-only event log, and what a model sees of it.

The one idea: what happened is kept as events and never changed; every request is a projection of
them that can be made again byte for byte. Start reading at `events.py`, then `context.py`.
"""

from .blocks import (
    Block,
    Image,
    JsonObject,
    Reasoning,
    ResultBlock,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
    plain_text,
)
from .codec import Codec, Item, MessageEvent, Piece
from .context import Context, build_context
from .encoding import dumps, loads, wire
from .errors import (
    ContextError,
    EventError,
    LogDamaged,
    LogError,
    LogLocked,
    MemoryError_,
    WindowExceeded,
)
from .events import (
    CompactionRejected,
    CompactionStarted,
    ConfigSet,
    ContextCompacted,
    Entry,
    Event,
    LaterEvent,
    MessageAdded,
    Noticed,
    Origin,
    ReplyReceived,
    RequestSent,
    RunEnded,
    RunStarted,
    Status,
    ThreadEnded,
    ThreadStarted,
    TodoWritten,
    ToolReturned,
)
from .log import EventLog, MemoryEventLog
from .requests import CodecFor, rebuild_request, requests_of
from .sqlite_log import SqliteEventLog, read_entries
from .stored_events import decode_event, encode_event
from .thread import Request, Thread
from .transcripts import transcript_text
from .usage import Usage

__all__ = [
    "Block",
    "Codec",
    "CodecFor",
    "CompactionRejected",
    "CompactionStarted",
    "ConfigSet",
    "Context",
    "ContextCompacted",
    "ContextError",
    "Entry",
    "Event",
    "EventError",
    "EventLog",
    "Image",
    "Item",
    "JsonObject",
    "LaterEvent",
    "LogDamaged",
    "LogError",
    "LogLocked",
    "MemoryError_",
    "MemoryEventLog",
    "MessageAdded",
    "MessageEvent",
    "Noticed",
    "Origin",
    "Piece",
    "Reasoning",
    "ReplyReceived",
    "Request",
    "RequestSent",
    "ResultBlock",
    "RunEnded",
    "RunStarted",
    "SqliteEventLog",
    "Status",
    "Text",
    "Thread",
    "ThreadEnded",
    "ThreadStarted",
    "TodoWritten",
    "ToolCall",
    "ToolResult",
    "ToolReturned",
    "Unknown",
    "Usage",
    "WindowExceeded",
    "build_context",
    "decode_event",
    "dumps",
    "encode_event",
    "loads",
    "plain_text",
    "read_entries",
    "rebuild_request",
    "requests_of",
    "transcript_text",
    "wire",
]
