"""What a run hands back to whoever started it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents import PendingCall
from memory import JsonObject, Status, Usage


@dataclass(frozen=True, slots=True)
class RunResult:
    """The end of a run, or of one more message on it."""

    run_id: str
    status: Status
    """`done`; `partial` when something is missing and the result says what; else why it stopped."""
    reason: str = ""
    """Why the status is not `done`."""
    text: str = ""
    """The visible answer; for research the report in Markdown."""
    output: JsonObject = field(default_factory=dict[str, Any])
    """The checked output of an agent with an output type; for research the report as JSON."""
    usage: Usage = field(default_factory=Usage)
    """Tokens of the whole tree."""
    folder: Path | None = None
    """The run folder, `None` for a run kept in memory."""
    pending: tuple[PendingCall, ...] = ()
    """For `paused`: the calls that wait for a person; `Coordinator.resume` takes the decisions."""

    @property
    def exit_code(self) -> int:
        """For the command line: 0 done, 3 partial, 130 cancelled, 1 anything else."""
        codes = {"done": 0, "partial": 3, "limit": 3, "timed_out": 3, "cancelled": 130, "paused": 3}
        return codes.get(self.status, 1)
