"""Event kinds: what happened in a run, one small frozen class each, joined by the tag `kind`.

A class may gain fields with defaults; a change that older readers cannot follow raises its entry in
`VERSIONS`. Kinds written by a later version are kept as `LaterEvent`, never dropped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from .blocks import Block, JsonObject, ResultBlock, block_from
from .encoding import dumps, loads
from .errors import EventError

Origin = Literal["user", "agent", "framework"]
Status = Literal["done", "partial", "failed", "timed_out", "cancelled", "limit", "paused"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call as the provider reported them; sums add field by field."""

    input_tokens: int = 0
    """Everything sent, cache reads included."""
    output_tokens: int = 0
    """Everything generated, reasoning included."""
    cached_tokens: int = 0
    """The part of `input_tokens` that was read from the provider's cache."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    @property
    def total(self) -> int:
        """Input plus output tokens."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; always the log's first event."""

    run_id: str
    task: str
    """The user's words, whole."""
    options: JsonObject
    """What the run was started with, enough for `resume` to go on."""


@dataclass(frozen=True, slots=True)
class ThreadStarted:
    """One agent's line of events begins."""

    agent: str
    """Name of the agent."""
    parent: str | None = None
    """The thread that asked for it, `None` for the first."""
    task: str = ""
    """What it was asked, as the caller wrote it."""


@dataclass(frozen=True, slots=True)
class ConfigSet:
    """What heads every request of this thread from here on; set again only when the model changes."""

    model: str
    """Name as the user gave it."""
    codec: str
    """Name of the codec that makes the bytes."""
    codec_version: int
    codec_options: JsonObject
    """What else decides the bytes, for example the reasoning policy."""
    system: str
    """The system prompt."""
    tools: tuple[JsonObject, ...]
    """One object a tool: `name`, `description`, `parameters` (JSON schema); order is kept."""
    settings: JsonObject
    """The body's other keys, in order: model name, temperature, stream..."""


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """Words for the agent: the task, a follow-up, or a reminder of the framework."""

    content: tuple[Block, ...]
    origin: Origin = "user"
    """Only `user` messages are the user's own words and are kept verbatim through compactions."""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """One model call is about to leave; with the events before it, the exact bytes can be rebuilt."""

    revision: int
    """The context's revision: how many compactions it has seen."""
    last_event: int
    """Position of the newest event that the request shows."""
    tail: str
    """Recitation and status at its end, `""` for none."""
    config: int
    """Position of the `ConfigSet` in force."""
    sha256: str
    """Hash of the request's bytes, hexadecimal."""
    size: int
    """Bytes of the request."""


@dataclass(frozen=True, slots=True)
class ReplyReceived:
    """A whole reply of the model, with the tool calls it intends."""

    content: tuple[Block, ...]
    finish: str
    """Why it stopped: `stop`, `tool_calls`, `length`, `content_filter` or the provider's own word."""
    usage: Usage
    model: str
    """The model's name as the provider reported it."""
    raw: JsonObject
    """The provider's message as received (streams collected)."""
    request: int = 0
    """Position of the `RequestSent` it answers."""


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """The result of one tool call, whole, before anything is shortened."""

    call_id: str
    name: str
    content: tuple[ResultBlock, ...]
    is_error: bool = False
    seconds: float = 0.0
    """Wall time of the call."""
    kind: str = ""
    """For errors: `unknown_tool`, `arguments`, `exception`, `timeout`, `cancelled`, `limit`."""


@dataclass(frozen=True, slots=True)
class ContextCompacted:
    """Some events are hidden from the model and a text stands for them; nothing is deleted."""

    hidden: tuple[int, ...]
    """Positions of the hidden events, ascending."""
    text: str
    """What the model sees in their place, `""` for nothing."""
    strategy: str


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """The lock of a compaction: written before its proposal is made."""

    strategy: str
    tokens: int
    """Tokens of the context at that moment."""


@dataclass(frozen=True, slots=True)
class CompactionRejected:
    """A proposal that was not taken, or a start that a crash left open."""

    reason: str


@dataclass(frozen=True, slots=True)
class TodoWritten:
    """The thread's `todo.md` after a change, whole."""

    text: str


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something worth keeping that no other kind says, for example a fallback to another model."""

    topic: str
    """A fixed word, for example `model_fallback`."""
    data: JsonObject


@dataclass(frozen=True, slots=True)
class ThreadEnded:
    """The explicit end of a thread; whether it is finished is read from here and nowhere else."""

    status: Status
    reason: str = ""
    """Why, for every status but `done`."""
    result: JsonObject = field(default_factory=dict[str, Any])
    """The agent's checked output as JSON."""


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The explicit end of a run. A later `MessageAdded` of a follow-up opens it again."""

    status: Status
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LaterEvent:
    """An event of a kind or version that this version does not know, kept as it is."""

    name: str
    """Its kind."""
    version: int
    body: JsonObject


Event = (
    RunStarted
    | ThreadStarted
    | ConfigSet
    | MessageAdded
    | RequestSent
    | ReplyReceived
    | ToolReturned
    | ContextCompacted
    | CompactionStarted
    | CompactionRejected
    | TodoWritten
    | Noticed
    | ThreadEnded
    | RunEnded
    | LaterEvent
)

# Stored names are fixed words: no module path or class name goes into stored data.
_KINDS: dict[str, type[Any]] = {
    "run_started": RunStarted,
    "thread_started": ThreadStarted,
    "config_set": ConfigSet,
    "message_added": MessageAdded,
    "request_sent": RequestSent,
    "reply_received": ReplyReceived,
    "tool_returned": ToolReturned,
    "context_compacted": ContextCompacted,
    "compaction_started": CompactionStarted,
    "compaction_rejected": CompactionRejected,
    "todo_written": TodoWritten,
    "noticed": Noticed,
    "thread_ended": ThreadEnded,
    "run_ended": RunEnded,
}
_NAMES = {cls: name for name, cls in _KINDS.items()}
_FIELDS = {cls: frozenset(f.name for f in fields(cls)) for cls in _NAMES}
VERSIONS = dict.fromkeys(_KINDS, 1)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event with its place in the log."""

    seq: int
    """Position in the whole log, from 1, without gaps."""
    thread: str
    """The thread it belongs to; `""` for the run itself."""
    time: float
    """Seconds since the epoch, from the log's clock."""
    event: Event


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
    for name in ("tools", "hidden"):
        if name in values:
            values[name] = tuple(values[name])
    try:
        return cls(**values)
    except TypeError as error:
        raise EventError(f"event of kind {kind!r} cannot be read: {error}") from error
