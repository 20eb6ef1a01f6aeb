"""What the events of a run say of it: its beginning, its end, what it has spent."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents import Limits, Meter
from filesystem import NotARunFolder
from memory import (
    COPIED,
    CompactionRejected,
    ConfigSet,
    ContextCompacted,
    Entry,
    Event,
    MessageAdded,
    Noticed,
    ReplyReceived,
    RunEnded,
    RunStarted,
    ThreadStarted,
    ToolReturned,
    Usage,
)

RESUMED = "resumed"
"""Topic of the notice that a run was taken up again; its data names the newest event before."""


def started_of(entries: Sequence[Entry], path: Path) -> RunStarted:
    """The run's first event. Raises `NotARunFolder` for a log without one."""
    for entry in entries:
        if isinstance(entry.event, RunStarted):
            return entry.event
    raise NotARunFolder(f"{str(path)!r} holds no run: its log has no first event")


def run_end(entries: Sequence[Entry]) -> RunEnded | None:
    """How a run ended or paused, `None` while it has not, or since it was asked to go on."""
    end: RunEnded | None = None
    for entry in entries:
        match entry.event:
            case RunEnded() as event:
                end = event
            case MessageAdded() if not entry.thread:
                end = None
            case Noticed(topic=topic) if topic == RESUMED:
                end = None
            case _:
                pass
    return end


def run_status(entries: Sequence[Entry]) -> str:
    """The final status of a run from its own events, `unfinished` when it has none."""
    end = run_end(entries)
    return end.status if end else "unfinished"


def spent_meter(limits: Limits, entries: Sequence[Entry]) -> Meter:
    """A meter that knows what these events have cost."""
    meter = Meter(limits)
    spent: dict[str, Usage] = {}
    models: dict[str, str] = {}
    kinds: Counter[type[Event]] = Counter()
    for entry in entries:
        event = entry.event
        if isinstance(event, ConfigSet):
            models[entry.thread] = event.model
        if isinstance(event, ReplyReceived) and event.request == COPIED:
            continue
        kinds[type(event)] += 1
        if isinstance(event, ReplyReceived | ContextCompacted | CompactionRejected):
            model = models.get(entry.thread, "")
            spent[model] = spent.get(model, Usage()) + event.usage
    agents = max(0, kinds[ThreadStarted] - 1)
    usage = sum(spent.values(), Usage())
    meter.restore(usage, kinds[ReplyReceived], kinds[ToolReturned], agents)
    meter.restore_cost(spent)
    return meter
