"""Tasks: what is sent to a subagent, as plain data, and where subagents run."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

from agents import CAP, Limits, Meter, Outcome, See
from memory import JsonObject


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """One task for one subagent; plain data, so that another process can take it (`to_json`)."""

    thread: str
    """The child's thread; its name is the same in every resume."""
    agent: str
    """Name of the subagent."""
    task: str
    parent: str
    """The thread that asks."""
    seconds: float | None = None
    """Wall time for this task, `None` for the agent's own limit."""
    depth: int = 1
    """Levels below the run's first agent."""
    tokens: int | None = None
    """Tokens for this task and all below it, `None` for the agent's own limit."""
    model_calls: int | None = None
    """Model calls for this task and all below it."""
    cap: int = CAP
    """Tokens of its conclusion as the parent reads it."""
    see: See = "none"
    seen: int = 0
    """Position in the log up to which the parent's events are shown, for `text` and `fork`."""
    inputs: tuple[str, ...] = ()
    """Paths of files that are handed over."""
    constraints: tuple[str, ...] = ()
    """Pinned constraints of the run, verbatim."""
    after: tuple[str, ...] = ()
    """Threads that must end before; their conclusions are handed over."""
    traceparent: str = ""
    """W3C trace context of who asks, `""` when nobody traces."""

    def meter(self, above: Meter) -> Meter:
        """A meter with this task's own limits below another, or that one when it has none."""
        if self.seconds is None and self.tokens is None and self.model_calls is None:
            return above
        own = Limits(
            tokens=self.tokens,
            seconds=self.seconds,
            model_calls=self.model_calls,
            agents=above.limits.agents,
        )
        return Meter(own, above)

    def to_json(self) -> JsonObject:
        """The task as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TaskSpec":
        """The task that `to_json` wrote, also after a round through JSON text."""
        names = {field.name for field in fields(cls)}
        known: dict[str, Any] = {key: value for key, value in data.items() if key in names}
        for key in ("inputs", "constraints", "after"):
            known[key] = tuple(known.get(key, ()))
        return cls(**known)


class Runner(Protocol):
    """Where subagents run: as tasks of this event loop, or elsewhere."""

    async def submit(self, spec: TaskSpec) -> Outcome:
        """Work on one task until it has an outcome; the same thread again gives the recorded one.

        Whatever happens to the child is an outcome. Raises only `CancelledError`, when its caller is
        cancelled: the child is then stopped, and nothing is recorded, so that a resume does it again.
        """
        ...

    def results(self, specs: Iterable[TaskSpec]) -> AsyncIterator[Outcome]:
        """Submit tasks and yield their outcomes as they finish. Closing it early stops the others."""
        ...

    async def cancel(self, thread: str) -> int:
        """Stop a thread and all below it, and return how many were at work once they have stopped.

        They end as `cancelled`, with what they had found; one that has not begun ends so too.
        """
        ...

    async def close(self) -> None:
        """Stop everything that was submitted here. Twice is allowed; later tasks end as `cancelled`."""
        ...
