"""Event kinds: what happened in a run, one small frozen class each, joined by the tag `kind`.

How they are stored, and the tag of each, is in `stored_events.py`: a new kind gets a line there. A class
may gain fields with defaults. Kinds written by a later version are kept as `LaterEvent`, never dropped.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from .approvals import ApprovalAsked, ApprovalGiven
from .blocks import Block, JsonObject, ResultBlock
from .interventions import RunForked, SecretPurged
from .offloaded import ContentOffloaded
from .replacing import Replacement, SummaryAsked
from .usage import Usage

COPIED = -1
"""`ReplyReceived.request` of a reply that a forked child took over from its parent and did not pay for."""
Origin = Literal["user", "agent", "framework"]
Status = Literal["done", "partial", "failed", "timed_out", "cancelled", "limit", "paused"]


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
    counted: int = 0
    """Its tokens as counted, before the correction by reports; 0 in logs of versions without counts."""
    prefix: int = 0
    """First bytes it shares with the last answered request under the same configuration: what a
    provider's cache can reuse. 0 for the first, and in logs of versions that did not measure it."""


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
    """Position of the `RequestSent` it answers; `COPIED` for a reply taken over from another thread."""


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
    """Some events are hidden from the model, or shown shorter; nothing is deleted."""

    strategy: str
    """Names of the strategies that made it, joined by ` + `."""
    replacements: tuple[Replacement, ...]
    """Applied in order."""
    trigger: str = ""
    """`size`, `overflow`, `hand` or `tool`."""
    before: int = 0
    """Tokens of the context before it, as counted then."""
    after: int = 0
    """Tokens after it."""
    usage: Usage = field(default_factory=Usage)
    """What its summary call cost; zeros for none."""
    record: JsonObject = field(default_factory=dict[str, Any])
    """The summary as a record, which the next one goes on from; empty for other strategies."""

    @property
    def hidden(self) -> tuple[int, ...]:
        """Positions of all events that are hidden or shown shorter, ascending."""
        return tuple(sorted({seq for each in self.replacements for seq in each.hidden}))

    @property
    def text(self) -> str:
        """All that is shown in place of what is hidden."""
        return "\n".join(each.text for each in self.replacements if each.text)


@dataclass(frozen=True, slots=True)
class CompactionStarted:
    """The lock of a compaction: written before its proposal is made."""

    strategy: str
    tokens: int
    """Tokens of the context at that moment."""
    trigger: str = ""
    """As in `ContextCompacted`."""
    target: int = 0
    """Tokens that the context should have afterwards."""


@dataclass(frozen=True, slots=True)
class CompactionRejected:
    """A proposal that was not taken, or a start that a crash left open."""

    reason: str
    """A fixed word: see `memory.compaction.gate`; `abandoned` for a start that a crash left open."""
    detail: str = ""
    """What was wrong, with numbers."""
    usage: Usage = field(default_factory=Usage)
    """What its summary call cost."""


@dataclass(frozen=True, slots=True)
class TodoWritten:
    """The thread's `todo.md` after a change, whole."""

    text: str


@dataclass(frozen=True, slots=True)
class NoteWritten:
    """A note of the agent after a change, whole; notes survive every compaction."""

    name: str
    text: str
    """`""` when the note was removed."""


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
    | SummaryAsked
    | ReplyReceived
    | ToolReturned
    | ContentOffloaded
    | ApprovalAsked
    | ApprovalGiven
    | ContextCompacted
    | CompactionStarted
    | CompactionRejected
    | TodoWritten
    | NoteWritten
    | Noticed
    | ThreadEnded
    | RunEnded
    | RunForked
    | SecretPurged
    | LaterEvent
)


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
