"""Run a needle task through the real coordinator and loop, and score what it did.

While it reads, the run compacts itself as its arm says; then comes the question. Whatever happened is read
from the log and from the bytes of the requests.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agents import Agent, Limits, Model, Tool, tool
from memory import (
    ContextCompacted,
    Entry,
    Stored,
    ToolReturned,
    estimate_tokens,
    plain_text,
    read_entries,
)
from orchestrator import Coordinator, purge_run

from ..arms import FULL, Arm, under
from ..results import Record
from ..validity import events_with, stands_in, why_invalid
from .scoring import calls_after, cut_characters, question_of, score
from .scripted import RECORDED
from .seeing import LOOKING
from .tasks import CLERK, SYSTEM, NeedleTask

LOG_NAME = "events.db"
PURGED = "[purged]"


@dataclass
class _Watched:
    """A model in front of another, which keeps the bytes of every request."""

    model: Model
    requests: list[bytes] = field(default_factory=list[bytes])

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def send(self, body: bytes, sink: Any = None) -> Any:
        """See `Model.send`."""
        self.requests.append(body)
        return await self.model.send(body, sink)


async def run_needle(task: NeedleTask, model: Model, arm: Arm, *, blind: bool = False) -> Record:
    """Read the pages under an arm, ask, and score the answer strictly.

    `blind` leaves out every tool that looks back: the negative control. Raises the errors of a run that
    cannot begin.
    """
    with tempfile.TemporaryDirectory(prefix="undrift-needle-") as folder:
        watched: Any = _Watched(model)
        coordinator = _coordinator(task, watched, arm, folder, blind=blind)
        await coordinator.run(task.goal, run_id="needle")
        path = Path(folder) / "needle"
        if task.traits.purged:
            for value in task.tracked:
                purge_run(path, value)
        before = len(watched.requests)
        await coordinator.ask(path, task.question)
        entries = read_entries(path / LOG_NAME, "main")
        asked = watched.requests[before] if len(watched.requests) > before else b""
    return _record(task, arm, entries, asked, _Run(model.name, arm.tokens(watched), blind))


@dataclass(frozen=True, slots=True)
class _Run:
    """What a record says of how its run was made."""

    model: str
    trigger: int
    """Tokens."""
    blind: bool


def _coordinator(
    task: NeedleTask, model: Model, arm: Arm, folder: str, *, blind: bool
) -> Coordinator:
    history = task.traits.looks == "history" and not blind
    files = "read" if task.traits.looks == "files" and not blind else "none"
    limits = Limits(turns=3 * len(task.pages) + 40)
    own = under(
        arm,
        Agent(
            "keeper",
            SYSTEM,
            tools=_tools(task),
            lookback=history,
            files=files,
            limits=limits,
        ),
    )
    clerk = replace(
        own,
        name=CLERK,
        description="Reads the pages of the annex.",
        tools=[_page_tool(task.clerk_pages)],
    )
    children = [clerk] if task.clerk_pages else []
    return Coordinator(own, children, model=model, runs=folder)


def _tools(task: NeedleTask) -> list[Tool]:
    async def answer(values: list[str]) -> str:
        """Give the answer: the exact value, or values in the order in which they were asked for."""
        return RECORDED

    async def enter(text: str) -> str:
        """Enter a page that ends with [enter this page]: the whole of its text, with halves of a value
        that stand around ⧺ joined to one."""
        return "entered"

    tools = [_page_tool(task.own_pages), tool(answer)]
    return [*tools, tool(enter)] if task.family == "argument" else tools


def _page_tool(pages: Sequence[str]) -> Tool:
    async def read_page(number: int) -> str:
        """Read one of your pages by its number."""
        if not 1 <= number <= len(pages):
            return f"There is no page {number}; there are {len(pages)}."
        end = f"[next: page {number + 1}]" if number < len(pages) else "[last page]"
        return f"{pages[number - 1]}\n{end}"

    return tool(read_page)


def _record(
    task: NeedleTask, arm: Arm, entries: Sequence[Entry], asked: bytes, run: _Run
) -> Record:
    question = question_of(entries)
    visible = bool(task.tracked) and all(stands_in(asked, v) for v in task.tracked) if asked else False
    failure = score(task, calls_after(entries, question), visible=visible)
    if not failure and task.traits.wide and cut_characters(entries, task.pages):
        failure = "cut character"
    looks = [
        e.event
        for e in entries
        if e.seq > question and isinstance(e.event, ToolReturned) and e.event.name in LOOKING
    ]
    why = _invalid(task, arm, entries, asked, run.trigger)
    return Record(
        suite="needle-recovery",
        sample=f"{task.name}/{run.model}",
        cluster=f"{task.language}/{task.seed}",
        family=task.family,
        policy=f"{arm.name} blind" if run.blind else arm.name,
        model=run.model,
        passed=not failure,
        state="invalid" if why else "valid",
        failure=failure,
        why=why,
        window=arm.window,
        trigger=arm.trigger,
        seed=task.seed,
        figures={
            "extra_calls": float(len(looks)),
            "extra_tokens": float(sum(estimate_tokens(plain_text(e.content)) for e in looks)),
            "compactions": float(sum(isinstance(e.event, ContextCompacted) for e in entries)),
        },
        evidence=" | ".join(task.expected),
    )


def _invalid(
    task: NeedleTask, arm: Arm, entries: Sequence[Entry], asked: bytes, trigger: int
) -> str:
    """Why the sample does not test what it should, `""` when it does."""
    if not asked:
        return "no request followed the question"
    question = question_of(entries)
    key = _key(task, [entry for entry in entries if entry.seq < question])
    if why := why_invalid(entries, arm, trigger, key=key, question=question):
        return why
    shown = [value for value in task.tracked if stands_in(asked, value)]
    if arm.policy != FULL:
        return f"{shown[0]!r} stands in the request after the question" if shown else ""
    never = task.traits.child or task.traits.purged
    if len(shown) == len(task.tracked) or never:
        return ""
    return "the full history does not show the needle"


def _key(task: NeedleTask, entries: Sequence[Entry]) -> tuple[int, ...]:
    """Positions of the events that showed the needle; of the first page read where no event of the
    asked agent shows one."""
    if task.traits.purged:
        return events_with(entries, PURGED)
    if task.traits.large != "none" and (stored := _stored(entries)):
        return stored
    found = {seq for value in task.tracked for seq in events_with(entries, value)}
    return tuple(sorted(found)) or _first_page(entries)


def _stored(entries: Sequence[Entry]) -> tuple[int, ...]:
    return tuple(
        e.seq
        for e in entries
        if isinstance(e.event, ToolReturned)
        and any(isinstance(block, Stored) for block in e.event.content)
    )


def _first_page(entries: Sequence[Entry]) -> tuple[int, ...]:
    pages = (
        e.seq for e in entries if isinstance(e.event, ToolReturned) and e.event.name == "read_page"
    )
    return tuple(pages)[:1]
