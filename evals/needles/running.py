"""Run a needle task through the real coordinator and loop, and score what it did.

Between the reading and the question an arm may compact the run; whatever it did is read from the log. A
sample counts only when the needle's event was hidden and the needle stood nowhere in the exact request
that followed the question.
"""

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import Agent, Limits, ScriptedModel, ToolContext, tool
from memory import (
    ContextCompacted,
    Entry,
    MessageAdded,
    Replacement,
    ReplyReceived,
    SqliteEventLog,
    ToolCall,
    ToolReturned,
    estimate_tokens,
    loads,
    plain_text,
    read_entries,
)
from orchestrator import Coordinator

from ..results import Record
from .scripted import Script
from .tasks import SYSTEM, NeedleTask
from .wording import NOT_FOUND

LOG_NAME = "events.db"
_LOOKING = ("history_search", "history_read")
Compact = Callable[[Path], Awaitable[None]]
"""What is done to a run's log between the reading and the question."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to treat the history."""

    name: str
    compact: Compact | None
    """`None` leaves the history whole."""


async def reset_window(log_path: Path) -> None:
    """Hide everything behind the first message by one event of the log, with nothing in its place."""
    log = SqliteEventLog(log_path)
    try:
        entries = await log.read("main")
        told = [
            e.seq
            for e in entries
            if isinstance(e.event, MessageAdded | ReplyReceived | ToolReturned)
        ]
        log.append("main", ContextCompacted("reset", (Replacement(tuple(told[1:]), ""),)))
        await log.commit()
    finally:
        await log.close()


ARMS = (Arm("full", None), Arm("window-reset", reset_window))


async def run_needle(task: NeedleTask, model: str, script: Script, arm: Arm) -> Record:
    """Read the pages, compact, ask, and score the answer strictly."""
    with tempfile.TemporaryDirectory() as folder:
        scripted = ScriptedModel(script, name=model)
        coordinator = Coordinator(_agent(task), model=scripted, runs=folder)
        await coordinator.run(task.goal, run_id="needle")
        path = Path(folder) / "needle"
        before = len(scripted.requests)
        if arm.compact is not None:
            await arm.compact(path / LOG_NAME)
        await coordinator.ask(path, task.question)
        entries = read_entries(path / LOG_NAME, "main")
        asked = scripted.requests[before] if len(scripted.requests) > before else b""
    return _record(task, model, arm, entries, asked)


def _agent(task: NeedleTask) -> Agent:
    def read_page(number: int) -> str:
        """Read one page by its number."""
        if not 1 <= number <= len(task.pages):
            return f"There is no page {number}; there are {len(task.pages)}."
        end = f"[next: page {number + 1}]" if number < len(task.pages) else "[last page]"
        return f"{task.pages[number - 1]}\n{end}"

    def answer(context: ToolContext, value: str) -> str:
        """Give the answer: the exact value and nothing else."""
        return "recorded"

    tools = [tool(read_page), tool(answer)]
    limits = Limits(turns=4 * len(task.pages))
    return Agent("keeper", SYSTEM, tools=tools, lookback=True, limits=limits)


def _record(
    task: NeedleTask, model: str, arm: Arm, entries: Sequence[Entry], asked: bytes
) -> Record:
    why = _invalid(task, arm, entries, asked)
    question = max(e.seq for e in entries if isinstance(e.event, MessageAdded))
    after = [entry for entry in entries if entry.seq > question]
    calls = [c for e in after for c in _calls(e)]
    failure = score(task, calls)
    looks = [
        e.event for e in after if isinstance(e.event, ToolReturned) and e.event.name in _LOOKING
    ]
    figures = {
        "extra_calls": float(len(looks)),
        "extra_tokens": float(sum(estimate_tokens(plain_text(look.content)) for look in looks)),
    }
    return Record(
        suite="needle-recovery",
        sample=f"{task.name}/{model}",
        cluster=f"{task.language}/{task.seed}",
        family=task.family,
        policy=arm.name,
        model=model,
        passed=not failure,
        state="invalid" if why else "valid",
        failure=failure,
        why=why,
        seed=task.seed,
        figures=figures,
        evidence=task.expected,
    )


def score(task: NeedleTask, calls: Sequence[ToolCall]) -> str:
    """The kind of failure of what was done after the question, `""` for the exact answer.

    Only the last call of `answer` counts; text does not.
    """
    looked = any(call.name in _LOOKING for call in calls)
    given = next((_value(call) for call in reversed(calls) if call.name == "answer"), None)
    if given is None:
        return "no answer"
    if given == task.expected:
        return ""
    if given == NOT_FOUND:
        return "looked and missed" if looked else "should have looked"
    return dict(task.wrong).get(given, "invented answer")


def _value(call: ToolCall) -> str:
    try:
        data: Any = loads(call.arguments)
    except ValueError:
        return ""
    value = data.get("value") if isinstance(data, dict) else None
    return value if isinstance(value, str) else ""


def _calls(entry: Entry) -> list[ToolCall]:
    if not isinstance(entry.event, ReplyReceived):
        return []
    return [block for block in entry.event.content if isinstance(block, ToolCall)]


def _invalid(task: NeedleTask, arm: Arm, entries: Sequence[Entry], asked: bytes) -> str:
    """Why the sample does not test what it should, `""` when it does."""
    if not asked:
        return "no request followed the question"
    if not task.tracked:
        return ""
    there = task.tracked in str(loads(asked)["messages"])
    if arm.compact is None:
        return "" if there else "full history does not show the needle"
    source = [
        e.seq
        for e in entries
        if isinstance(e.event, ToolReturned) and task.tracked in plain_text(e.event.content)
    ]
    hidden = {s for e in entries if isinstance(e.event, ContextCompacted) for s in e.event.hidden}
    if not source or source[0] not in hidden:
        return "the needle's event was never shown, or is not hidden"
    return "the needle stands in the request after the question" if there else ""
