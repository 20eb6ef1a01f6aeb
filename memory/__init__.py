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
    Stored,
    Text,
    ToolCall,
    ToolResult,
    Unknown,
    plain_text,
)
from .codec import Codec, Item, MessageEvent, Piece
from .compare import Comparison, Part, compare_requests, end_of_history, part_at
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
    COPIED,
    CompactionRejected,
    CompactionStarted,
    ConfigSet,
    ContentOffloaded,
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
from .forking import end_of_turn, fork_log
from .history import Found, Window, cut_to_tokens, read_events, search_events, windows_of
from .interventions import RunForked, SecretPurged
from .log import EventLog, MemoryEventLog
from .offload import NO_TOOL, Keeper, OffloadLimits, cut_hard, is_over, refs_in, tokens_of, words_of
from .prefix import common_prefix
from .purging import purge_log
from .recitation import PARTS, Reading, Recitation, Room, is_tail, read_status, recite
from .redacting_log import RedactingLog, redact_blocks
from .redaction import REDACTED, known_secrets, redact, redact_known, redact_value, written_forms
from .replacing import Replacement, ReplacementKind
from .requests import (
    CodecFor,
    Rebuilt,
    rebuild_request,
    remake_request,
    remake_requests,
    requests_of,
    turn_of,
)
from .salvage import salvage_entries
from .shown_turns import turn_text
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
from .verification import LogCheck, verify_log

__all__ = [
    "COPIED",
    "COUNTER_TOPIC",
    "NO_TOOL",
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
    "Comparison",
    "ConfigSet",
    "ContentOffloaded",
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
    "Keeper",
    "LaterEvent",
    "LogCheck",
    "LogDamaged",
    "LogError",
    "LogLocked",
    "MemoryError_",
    "MemoryEventLog",
    "MessageAdded",
    "MessageEvent",
    "NoteWritten",
    "Noticed",
    "OffloadLimits",
    "Origin",
    "Part",
    "Piece",
    "Reading",
    "Reasoning",
    "Rebuilt",
    "Recitation",
    "RedactingLog",
    "Replacement",
    "ReplacementKind",
    "ReplyReceived",
    "Request",
    "RequestSent",
    "ResultBlock",
    "Room",
    "RunEnded",
    "RunForked",
    "RunStarted",
    "SecretPurged",
    "SqliteEventLog",
    "State",
    "Status",
    "StatusKeeper",
    "Step",
    "Stored",
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
    "common_prefix",
    "compare_requests",
    "count_head",
    "count_piece",
    "count_tail",
    "cut_hard",
    "cut_to_tokens",
    "decode_event",
    "dumps",
    "encode_event",
    "end_of_history",
    "end_of_turn",
    "estimate_tokens",
    "fork_log",
    "is_over",
    "is_tail",
    "known_secrets",
    "loads",
    "one_line",
    "parse_todo",
    "part_at",
    "plain_text",
    "purge_log",
    "read_entries",
    "read_events",
    "read_status",
    "rebuild_request",
    "recite",
    "redact",
    "redact_blocks",
    "redact_known",
    "redact_value",
    "refs_in",
    "remake_request",
    "remake_requests",
    "render_todo",
    "requests_of",
    "salvage_entries",
    "search_events",
    "tokens_of",
    "transcript_text",
    "turn_of",
    "turn_text",
    "verify_log",
    "windows_of",
    "wire",
    "words_of",
    "written_forms",
]
