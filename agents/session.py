"""A run as its agents share it, and a session: one agent at work on one thread of it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memory import (
    ConfigSet,
    EventLog,
    MessageAdded,
    Noticed,
    ReplyReceived,
    RequestSent,
    Text,
    Thread,
    ThreadEnded,
    ThreadStarted,
)

from .limits import Meter
from .models import Model, Reply
from .outcome import Outcome, outcome_from
from .progress import Emit, ignore
from .tools import Tool

if TYPE_CHECKING:
    from .agent import Agent


@dataclass(slots=True)
class Run:
    """What all agents of one run share."""

    id: str
    log: EventLog
    meter: Meter
    emit: Emit = ignore
    deps: Any = None
    """Passed to every tool in its context."""
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set to stop every agent of the run before its next call."""


@dataclass(slots=True)
class Session:
    """One agent at work on one thread."""

    run: Run
    agent: "Agent"
    thread: Thread
    meter: Meter
    task: str
    models: Sequence[Model]
    """The fallback chain; `position` says which one is in use."""
    tools: dict[str, Tool]
    """By name, in the order in which the model sees them."""
    tail: Callable[[], str] = str
    """Makes the end of the next request; returns `""` for none."""
    position: int = 0
    turns: int = 0
    """Model calls so far, this run's and those of the run it goes on from."""
    configured: Any = None
    """The model and codec that head the requests now; others mean the thread is configured again."""
    pending: Reply | None = None
    """A reply that reached the log before a crash and was not acted on; never paid for twice."""
    ended: Outcome | None = None
    """The outcome that the log already holds, for a thread that was finished before."""

    @property
    def model(self) -> Model:
        """The model in use."""
        return self.models[self.position]

    def configure(self) -> None:
        """Make the thread's requests fit the model in use, when they do not yet."""
        model = self.model
        codec = model.codec
        if self.configured == (model, codec):
            return
        config = ConfigSet(
            model=model.name,
            codec=codec.name,
            codec_version=codec.version,
            codec_options=dict(codec.options),
            system=self.agent.instructions,
            tools=tuple(tool.spec() for tool in self.tools.values()),
            settings=dict(model.settings),
        )
        self.thread.configure(config, codec)
        if model.window is None and self.configured is None:
            self.notice("window_unknown", {"model": model.name, "assumed_tokens": 32_000})
        self.configured = (model, codec)

    def notice(self, topic: str, data: dict[str, Any]) -> None:
        """Put something worth keeping into the log."""
        self.thread.append(Noticed(topic, data))


async def open_session(
    run: Run,
    agent: "Agent",
    task: str,
    *,
    thread: str,
    models: Sequence[Model],
    parent: str | None = None,
    meter: Meter | None = None,
) -> Session:
    """Start a thread, or take up the one that the log already has under this name.

    A thread that has ended comes back with `ended` set; one that was interrupted goes on where its log
    stops. `meter` defaults to a new one below the run's.
    """
    meter = meter or Meter(agent.limits, run.meter)
    entries = await run.log.read(thread) if run.log.has(thread) else []
    line = Thread.of(run.log, thread, entries)
    session = Session(run, agent, line, meter, task, models, agent.toolbox())
    if not entries:
        line.append(ThreadStarted(agent.name, parent, task))
        line.append(MessageAdded((Text(task),)))
        return session
    session.turns = sum(isinstance(entry.event, RequestSent) for entry in entries)
    for entry in entries:
        match entry.event:
            case ThreadEnded() as event:
                session.ended = outcome_from(event, thread, agent.name, task)
            case MessageAdded():
                session.ended = session.pending = None
            case ReplyReceived() as event:
                session.pending = Reply(
                    event.content, event.finish, event.usage, event.model, event.raw
                )
                meter.count_past(event.usage)
            case RequestSent():
                session.pending = None
            case _:
                pass
    return session
