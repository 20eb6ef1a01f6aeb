"""Undrift's own logs: each thread of a run as one trajectory, hidden events included."""

from pathlib import Path

from memory import (
    ConfigSet,
    Entry,
    MessageAdded,
    ReplyReceived,
    Text,
    ThreadStarted,
    ToolResult,
    ToolReturned,
    build_context,
    read_entries,
)

from .trajectory import Message, Trajectory


def read_log(path: Path) -> list[Trajectory]:
    """The threads of a log that hold a reply, as they would be without any compaction.

    Call ids are those of the projection, which are unique in a thread. Raises `LogError`, `LogDamaged`.
    """
    threads: dict[str, list[Entry]] = {}
    for entry in read_entries(path):
        threads.setdefault(entry.thread, []).append(entry)
    return [found for name, entries in threads.items() if (found := _thread(path, name, entries))]


def _thread(path: Path, name: str, entries: list[Entry]) -> Trajectory | None:
    kept = (ConfigSet, MessageAdded, ReplyReceived, ToolReturned)
    context = build_context(entry for entry in entries if isinstance(entry.event, kept))
    messages: list[Message] = []
    if context.config is not None and isinstance(context.config.event, ConfigSet):
        messages.append(Message("system", (Text(context.config.event.system),)))
    for item in context.items:
        match item.event:
            case MessageAdded() as event:
                messages.append(Message("user", event.content))
            case ReplyReceived() as event:
                messages.append(Message("assistant", event.content))
            case ToolReturned() as event:
                result = ToolResult(event.call_id, event.name, event.content, event.is_error)
                messages.append(Message("tool", (result,)))
            case _:
                pass
    if not any(message.role == "assistant" for message in messages):
        return None
    started = next((e.event for e in entries if isinstance(e.event, ThreadStarted)), None)
    task = started.task if started else name
    return Trajectory(f"{path.parent.name}/{name}", "undrift", task, tuple(messages))
