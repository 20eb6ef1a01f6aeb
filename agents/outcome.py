"""The outcome of one agent's work: its final status and what it hands back."""

from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from memory import JsonObject, Status, ThreadEnded

from .conclusion import Conclusion

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call that waits for a person; it has not been made."""

    thread: str
    call_id: str
    tool: str
    arguments: str
    """JSON text as the model wrote it."""
    reason: Literal["approval", "crash"] = "approval"
    """`crash`: it was under way when the program stopped, so it may have taken effect already."""

    @property
    def key(self) -> str:
        """The name by which it is approved or rejected: `thread/call_id`."""
        return f"{self.thread}/{self.call_id}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one thread; the same whether it just ended or was read back from the log."""

    thread: str
    """Where the whole transcript is."""
    agent: str
    task: str
    status: Status
    reason: str = ""
    """Why the status is not `done`, in words that a parent can act on."""
    output: JsonObject = field(default_factory=dict[str, Any])
    """The checked output as JSON, empty when there is none."""
    text: str = ""
    """The visible answer of an agent without an output type."""
    pending: tuple[PendingCall, ...] = ()
    """For `paused`: the calls that wait for a person, its subagents' among them."""

    @property
    def ok(self) -> bool:
        """True when there is something to use: `done`, or `partial` with what was found."""
        return self.status in ("done", "partial")

    def read(self, kind: type[M]) -> M | None:
        """The output as an object of its type, `None` when there is no such output."""
        try:
            return kind.model_validate(self.output) if self.output else None
        except ValidationError:
            return None

    @property
    def conclusion(self) -> Conclusion | None:
        """The output as a `Conclusion`, `None` when it is not one."""
        return self.read(Conclusion)

    def event(self) -> ThreadEnded:
        """The event that records this outcome."""
        result = {"output": self.output, "text": self.text}
        return ThreadEnded(self.status, self.reason, result)


def outcome_from(event: ThreadEnded, thread: str, agent: str, task: str) -> Outcome:
    """The outcome that `Outcome.event` recorded."""
    output, text = event.result.get("output") or {}, str(event.result.get("text", ""))
    return Outcome(thread, agent, task, event.status, event.reason, output, text)
