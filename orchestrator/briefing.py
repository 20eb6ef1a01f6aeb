"""Briefing: the first message of a child that starts afresh, made of what its parent hands over."""

from collections.abc import Sequence

from agents import Outcome, Run, fitted, outcome_from
from memory import (
    Counter,
    Entry,
    MessageAdded,
    ReplyReceived,
    Text,
    ThreadEnded,
    ThreadStarted,
    best_counter,
    cut_to_tokens,
    dumps,
)

from .filing import hand_over
from .tasks import TaskSpec

SHARE = 0.25
"""Of the child's window, for the parent's text and for earlier conclusions, each."""
UNKNOWN_WINDOW = 32_000


async def briefed(run: Run, spec: TaskSpec, window: int | None = None) -> str:
    """The task, with the constraints of the run, earlier conclusions, files and the parent's text."""
    room = int((window or UNKNOWN_WINDOW) * SHARE)
    parts = [spec.task]
    if spec.constraints:
        parts.append(
            "Constraints of the run, which hold for you too:\n" + _listed(spec.constraints)
        )
    if spec.after:
        parts.append(await _conclusions(run, spec.after, room))
    if spec.inputs and not run.log.has(spec.thread):
        parts.append("Files handed over to you:\n" + _listed(await hand_over(run, spec)))
    if spec.see != "none":  # who cannot take over a prefix gets what was said
        entries = [e for e in await run.log.read(spec.parent) if e.seq <= spec.seen]
        parts.append(parent_text(entries, room, best_counter()))
    return "\n\n".join(part for part in parts if part)


def parent_text(entries: Sequence[Entry], room: int, counter: Counter) -> str:
    """What the parent and its user said, without calls and results, the newest `room` tokens of it."""
    said: list[str] = []
    for entry in entries:
        match entry.event:
            case MessageAdded(content=content, origin="user"):
                who = "User"
            case ReplyReceived(content=content):
                who = "Your parent"
            case _:
                continue
        text = "".join(block.text for block in content if isinstance(block, Text)).strip()
        said += [f"[{who}] {text}"] if text else []
    kept: list[str] = []
    for text in reversed(said):
        tokens = counter.count(text)
        if tokens > room:
            kept.append(
                text[: cut_to_tokens(text, 0, room, counter)] + " [...]" if room > 50 else "[...]"
            )
            break
        room -= tokens
        kept.append(text)
    if not kept:
        return ""
    return "What was said before, for your information:\n" + "\n".join(reversed(kept))


async def _conclusions(run: Run, threads: Sequence[str], room: int) -> str:
    cap, counter = room // len(threads), best_counter()
    shown = [fitted(await _ended(run, thread), cap, counter) for thread in threads]
    return "Conclusions of the tasks before yours:\n" + dumps(shown).decode()


async def _ended(run: Run, thread: str) -> Outcome:
    """The outcome of an earlier task, from the log."""
    agent = task = ""
    outcome = Outcome(thread, agent, task, "failed", "it did not end")
    for entry in await run.log.read(thread):
        if isinstance(entry.event, ThreadStarted):
            agent, task = entry.event.agent, entry.event.task
        elif isinstance(entry.event, ThreadEnded):
            outcome = outcome_from(entry.event, thread, agent, task)
    return outcome


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
