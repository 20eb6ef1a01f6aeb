"""What the progress display knows: one line a thread, kept up to date by progress events."""

from dataclasses import dataclass, field
from typing import assert_never

from agents import (
    AgentEnded,
    AgentStarted,
    Compacted,
    LimitHit,
    Progress,
    StageStarted,
    TokenStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

AgentProgress = (
    AgentStarted | TurnStarted | TokenStreamed | TurnEnded | ToolStarted | ToolEnded | AgentEnded
)


@dataclass(slots=True)
class Row:
    """One agent at work."""

    thread: str
    agent: str = ""
    """Name of the agent, `""` for a run's first one, which nobody asks for."""
    task: str = ""
    """What it was asked, `""` when that is not in words."""
    status: str = "working"
    """`working`, then its final status."""
    reason: str = ""
    turns: int = 0
    tokens: int = 0
    """Input plus output of its own calls."""
    doing: str = ""
    """What it does right now: `thinking`, `writing` or a tool's name; `""` when it ended."""

    def take(self, event: AgentProgress) -> None:
        """Bring the row up to date."""
        match event:
            case AgentStarted():
                # Some agents are asked in JSON, which says nothing to a reader.
                self.task = "" if event.task.startswith("{") else event.task
                self.agent = event.agent
                self.status, self.reason = "working", ""
            case TurnStarted():
                self.turns, self.doing = event.turn, "thinking"
            case TokenStreamed():
                self.doing = "writing"
            case TurnEnded():
                self.tokens, self.doing = self.tokens + event.usage.total, ""
            case ToolStarted():
                self.doing = event.tool
            case ToolEnded():
                self.doing = ""
            case AgentEnded():
                self.status, self.reason, self.doing = event.status, event.reason, ""
            case _:
                assert_never(event)

    @property
    def facts(self) -> str:
        """Turns and tokens in words."""
        turns = f"{self.turns} turn" + ("" if self.turns == 1 else "s")
        return f"{turns}, {self.tokens:,} tokens"


@dataclass(slots=True)
class Board:
    """The state of a run as its progress events tell it."""

    stage: str = ""
    """The newest stage of the graph, `""` before the first."""
    rows: dict[str, Row] = field(default_factory=dict[str, Row])
    """By thread, in the order in which they began."""

    def take(self, event: Progress) -> None:
        """Bring the state up to date."""
        if isinstance(event, StageStarted):
            self.stage = f"{event.stage}: {event.note}" if event.note else event.stage
            return
        if isinstance(event, Compacted | LimitHit):
            return
        self.rows.setdefault(event.thread, Row(event.thread)).take(event)

    def parent(self, thread: str) -> str:
        """The nearest thread above, by its name (`main.2-1` was asked for by `main`), or `""`."""
        above = thread.rpartition(".")[0]
        while above and above not in self.rows:
            above = above.rpartition(".")[0]
        return above
