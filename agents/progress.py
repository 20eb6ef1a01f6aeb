"""What a user may watch while agents work: typed events of the whole tree."""

from collections.abc import Callable
from dataclasses import dataclass

from memory import Status, Usage


@dataclass(frozen=True, slots=True)
class AgentStarted:
    """A thread begins to work."""

    thread: str
    agent: str
    task: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A model call is about to leave."""

    thread: str
    turn: int
    """From 1."""


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


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins."""

    thread: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A tool call's result is in the log."""

    thread: str
    tool: str
    is_error: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class AgentEnded:
    """A thread has its final status."""

    thread: str
    status: Status
    reason: str


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
    | StageStarted
)
Emit = Callable[[Progress], None]


def ignore(_: Progress) -> None:
    """The `Emit` of a run that nobody watches."""
