"""What a user may watch while agents work: typed events of the whole tree."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memory import JsonObject, Status, Usage


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """A thread begins to work."""

    thread: str
    agent: str
    task: str
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A model call is about to leave."""

    thread: str
    turn: int
    """From 1."""
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""


@dataclass(frozen=True, slots=True)
class TokenStreamed:
    """A piece of a reply's visible text."""

    thread: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A whole reply is in the log."""

    thread: str
    usage: Usage
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins."""

    thread: str
    tool: str
    arguments: str
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call's result is in the log."""

    thread: str
    tool: str
    is_error: bool
    seconds: float
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """A thread has its final status."""

    thread: str
    status: Status
    reason: str
    seq: int = 0
    """Position in the log; 0 where progress is told without one."""
    result: JsonObject = field(default_factory=dict[str, Any])
    """Its conclusion: `output` and `text`; empty where progress is told without it."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A thread's context was made smaller."""

    thread: str
    strategy: str
    before: int
    """Tokens."""
    after: int
    seq: int = 0
    """Position in the log."""


@dataclass(frozen=True, slots=True)
class LimitHit:
    """A thread was ended by a limit or its time."""

    thread: str
    reason: str
    seq: int = 0
    """Position in the log."""


@dataclass(frozen=True, slots=True)
class StageStarted:
    """A graph goes to its next stage, for example `plan` or `write`."""

    stage: str
    note: str = ""


Progress = (
    AgentStarted
    | TurnStarted
    | TokenStreamed
    | TurnEnded
    | ToolStarted
    | ToolEnded
    | AgentEnded
    | Compacted
    | LimitHit
    | StageStarted
)
Emit = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """The `Emit` of a run that nobody watches."""
