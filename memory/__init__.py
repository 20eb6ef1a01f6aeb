"""The memory of a run: an append-only event log, and what a model sees of it.

The one idea: what happened is kept as events and never changed; every request is a projection of
them that can be made again byte for byte. Start reading at `events.py`, then `context.py`.
"""

from .approvals import ApprovalAsked, ApprovalGiven, Verdict
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
from .counting import count_head, count_piece, count_tail
from .encoding import dumps, loads, wire
from .errors import (
    ContextError,
    EventError,
    LogDamaged,
    LogError,
    LogLocked,
    MemoryError_,
    TodoError,
    WindowExceeded,
)
from .estimate import estimate_tokens
from .events import (
    CompactionRejected,
    CompactionStarted,
    ConfigSet,
    ContextCompacted,
    Entry,
    Event,
    LaterEvent,
    MessageAdded,
    NoteWritten,
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
from .history import Found, Window, cut_to_tokens, read_events, search_events, windows_of
from .log import EventLog, MemoryEventLog
from .recitation import PARTS, Reading, Recitation, Room, is_tail, read_status, recite
from .redaction import REDACTED, known_secrets, redact, redact_known, redact_value, written_forms
from .requests import CodecFor, rebuild_request, requests_of
from .salvage import salvage_entries
from .sqlite_log import SqliteEventLog, read_entries
from .status import CallRule, StatusKeeper
from .stored_events import decode_event, encode_event
from .thread import Request, Thread
from .todo import State, Step, Todo, one_line, parse_todo, render_todo
from .tokens import (
    COUNTER_TOPIC,
    RATIO_TOPIC,
    Calibration,
    Counter,
    EstimateCounter,
    VocabularyCounter,
    best_counter,
)
from .transcripts import transcript_text
from .usage import Usage

__all__ = [
    "COUNTER_TOPIC",
    "PARTS",
    "RATIO_TOPIC",
    "REDACTED",
    "ApprovalAsked",
    "ApprovalGiven",
    "Block",
    "Calibration",
    "CallRule",
    "Codec",
    "CodecFor",
    "CompactionRejected",
    "CompactionStarted",
    "ConfigSet",
    "Context",
    "ContextCompacted",
    "ContextError",
    "Counter",
    "Entry",
    "EstimateCounter",
    "Event",
    "EventError",
    "EventLog",
    "Found",
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
    "NoteWritten",
    "Noticed",
    "Origin",
    "Piece",
    "Reading",
    "Reasoning",
    "Recitation",
    "ReplyReceived",
    "Request",
    "RequestSent",
    "ResultBlock",
    "Room",
    "RunEnded",
    "RunStarted",
    "SqliteEventLog",
    "State",
    "Status",
    "StatusKeeper",
    "Step",
    "Text",
    "Thread",
    "ThreadEnded",
    "ThreadStarted",
    "Todo",
    "TodoError",
    "TodoWritten",
    "ToolCall",
    "ToolResult",
    "ToolReturned",
    "Unknown",
    "Usage",
    "Verdict",
    "VocabularyCounter",
    "Window",
    "WindowExceeded",
    "best_counter",
    "build_context",
    "count_head",
    "count_piece",
    "count_tail",
    "cut_to_tokens",
    "decode_event",
    "dumps",
    "encode_event",
    "estimate_tokens",
    "is_tail",
    "known_secrets",
    "loads",
    "one_line",
    "parse_todo",
    "plain_text",
    "read_entries",
    "read_events",
    "read_status",
    "rebuild_request",
    "recite",
    "redact",
    "redact_known",
    "redact_value",
    "render_todo",
    "requests_of",
    "salvage_entries",
    "search_events",
    "transcript_text",
    "windows_of",
    "wire",
    "written_forms",
]
