"""A run as its agents share it, and a session: one agent at work on one thread of it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from filesystem import ArtifactStore
from memory import (
    COUNTER_TOPIC,
    PINNED,
    RATIO_TOPIC,
    ConfigSet,
    ContextCompacted,
    EventLog,
    MessageAdded,
    Noticed,
    Rejection,
    ResultBlock,
    Text,
    Thread,
    ThreadStarted,
    framed,
)

from .approving import Approvals
from .compaction import Compaction, trigger_of
from .handing import Handing
from .limits import Meter
from .models import Model, Reply
from .offloading import know_again
from .outcome import Outcome
from .own_tools import with_own_tools
from .progress import Emit, ignore
from .reciting import tail_of
from .recovering import recover
from .run_files import RunFiles, ThreadFiles
from .spans import NO_SPANS, Spans
from .tools import Tool
from .tree import Tree

if TYPE_CHECKING:
    from .agent import Agent

UNKNOWN_WINDOW = 32_000
"""Tokens that a window is taken to have when the model does not say."""


@dataclass(slots=True)
class Run:
    """What all agents of one run share."""

    id: str
    log: EventLog
    meter: Meter
    emit: Emit = ignore
    deps: Any = None
    """Passed to every tool in its context."""
    plan: Callable[[], str] | None = None
    """Reads the run's `todo.md`, for all agents but the one that keeps it; `None` when none is kept."""
    tree: Tree = field(default_factory=Tree)
    """The threads at work, and which of them were cancelled."""
    hide: Callable[[tuple[ResultBlock, ...]], tuple[ResultBlock, ...]] = tuple
    """Takes secrets out of a tool's result before it goes anywhere; leaves it as it is by default."""
    spans: Spans = NO_SPANS
    """Records what the run's agents do as spans."""
    files: RunFiles = field(default_factory=RunFiles)
    """The files of its agents, and the stored bodies."""
    opened_at: int = 0
    """Position of the newest event that an earlier process wrote, 0 for a new run."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, by which the duration of a tool call is measured."""

    @property
    def artifacts(self) -> ArtifactStore:
        """Where whole texts go of which a part is shown."""
        return self.files.artifacts


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
    """Makes the end of the next request; `""` for none. `open_session` sets the agent's recitation."""
    pinned: tuple[str, ...] = ()
    """What the recitation restates word for word beside the plan's own constraints."""
    position: int = 0
    turns: int = 0
    """Model calls so far, those from before a resume included; one repeated after a crash counts once."""
    replies: int = 0
    """Whole replies so far; subagents are named by it, the same in every resume."""
    handing: Handing | None = None
    """How it hands back to its parent, `None` for a run's first agent."""
    approvals: Approvals = field(default_factory=Approvals)
    """Calls of the newest reply that a person was asked about."""
    configured: Any = None
    """The model and codec that head the requests now; others mean the thread is configured again."""
    pending: Reply | None = None
    """A reply that reached the log before a crash and was not acted on; never paid for twice."""
    compaction: Compaction | None = None
    """How the context is compacted from now on; another value moves the trigger. `None` for never."""
    wish: str | None = None
    """The agent asked for a new context with these words, before its next request."""
    overflowed: bool = False
    """The provider refused the request at hand as too long, once."""
    ended: Outcome | None = None
    """The outcome that the log already holds, for a thread that was finished before."""
    reads: bool = False
    """True when it has our `read_file`, so that what is stored in place of a result can be read."""

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
        first = self.thread.context.config is None
        self.thread.configure(config, codec)
        if first and model.window is None:
            self.notice("window_unknown", {"model": model.name, "assumed_tokens": UNKNOWN_WINDOW})
        counter = self.thread.counter
        if self.thread.calibration.counter != counter.name:
            self.notice(COUNTER_TOPIC, {"counter": counter.name, "exact": counter.exact})
        self.configured = (model, codec)

    @property
    def files(self) -> ThreadFiles:
        """What its agent sees of the run's files."""
        return self.run.files.of(self.run.log, self.thread.name)

    @property
    def window(self) -> int:
        """Tokens of the window of the model in use, or what is assumed when that is unknown."""
        given = self.compaction.window if self.compaction else None
        return given or self.model.window or UNKNOWN_WINDOW

    def notice_ratio(self) -> None:
        """Put into the log how far the provider's reports are from our counts, when that has moved."""
        calibration = self.thread.calibration
        if calibration.moved:
            ratio = round(calibration.ratio, 3)
            self.notice(RATIO_TOPIC, {"ratio": ratio, "counter": self.thread.counter.name})

    async def compact(self, focus: str = "") -> ContextCompacted | Rejection:
        """Compact now, whatever the size; `focus` says what matters most. The same path as otherwise."""
        from .compacting import compact

        self.configure()
        return await compact(self, "hand", focus=focus)

    def let_go(self) -> None:
        """Drop what refers back to this session, whose thread has ended: the log has it, and its memory is
        free at once, however many others work on."""
        self.tail, self.tools = str, {}
        self.run.files.forget(self.thread.name)

    def pin(self, text: str) -> None:
        """Add a text that stays in the context word for word, through every compaction."""
        self.thread.append(MessageAdded((Text(framed(PINNED, text)),), "framework"))

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
    line = Thread.of(run.log, thread, entries, agent.recitation.rules)
    session = Session(run, agent, line, meter, task, models, agent.toolbox())
    session.tools = with_own_tools(session)
    session.tail = partial(tail_of, session)
    session.compaction = agent.compaction
    for model in models:
        trigger_of(model, model.window or UNKNOWN_WINDOW, agent.compaction)
    if not entries:
        line.append(ThreadStarted(agent.name, parent, task))
        for rule in agent.rules:
            session.pin(rule if isinstance(rule, str) else rule.read_text(encoding="utf-8").strip())
        line.append(MessageAdded((Text(task),)))
        return session
    recover(session, entries)
    await know_again(session, entries)
    return session
