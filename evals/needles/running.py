"""Run a needle task through the real coordinator and loop, and score what it did.

While it reads, the run compacts itself as its arm says; then comes the question. Whatever happened is read
from the log and from the bytes of the requests.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents import Agent, Limits, ScriptedModel, Tool, tool
from memory import (
    ContextCompacted,
    Entry,
    JsonObject,
    RequestSent,
    Stored,
    ToolReturned,
    estimate_tokens,
    plain_text,
    read_entries,
)
from orchestrator import Coordinator, purge_run

from ..arms import FULL, Arm, under
from ..models import SampleModel
from ..results import LONGEST_ANSWER, Record
from ..validity import events_with, outgrown, share_kept, stands_in, why_invalid
from .scoring import answer_of, calls_after, cut_characters, question_of, score
from .scripted import RECORDED
from .seeing import LOOKING
from .tasks import CLERK, SYSTEM, NeedleTask

LOG_NAME = "events.db"
RUN = "needle"
"""Name of the run in its folder."""
PURGED = "[purged]"
BLIND = "blind"
"""In the name of a policy: the agent has no tool that looks back."""
Answering = ScriptedModel | SampleModel


async def run_needle(
    task: NeedleTask,
    model: Answering,
    arm: Arm,
    folder: Path | None = None,
    *,
    blind: bool = False,
    turns: int = 0,
) -> Record:
    """Read the pages under an arm, ask, and score the answer strictly.

    `folder` keeps the run; `None` for none. `blind` leaves out every tool that looks back: a negative
    control. `turns` limits the model calls, 0 for what the pages need. Raises the errors of a run that
    cannot begin.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="undrift-needle-") as made:
            return await run_needle(task, model, arm, Path(made), blind=blind, turns=turns)
    limits = Limits(turns=turns or 3 * len(task.pages) + 40)
    coordinator = _coordinator(task, model, arm, limits, blind=blind)
    coordinator.runs = folder
    await coordinator.run(task.goal, run_id=RUN)
    path = folder / RUN
    if task.traits.purged:
        for value in task.tracked:
            purge_run(path, value)
    before = len(model.requests)
    await coordinator.ask(path, task.question)
    entries = read_entries(path / LOG_NAME, "main")
    asked = model.requests[before] if len(model.requests) > before else b""
    trigger = arm.tokens(model)
    why = _invalid(task, arm, entries, asked, trigger)
    if not why and arm.policy != FULL and isinstance(model, ScriptedModel):
        why = outgrown(model.requests[:before], trigger)
    made = needle_record(task, arm, model.name, blind=blind)
    return _judged(made, task, entries, asked, why)


def needle_record(task: NeedleTask, arm: Arm, model: str, *, blind: bool = False) -> Record:
    """The record of a sample without its result."""
    return Record(
        suite="needle-recovery",
        sample=f"{task.name}/{model}",
        cluster=f"{task.language}/{task.seed}",
        family=task.family,
        policy=f"{arm.name} {BLIND}" if blind else arm.name,
        model=model,
        passed=False,
        window=arm.window,
        trigger=arm.trigger,
        seed=task.seed,
        question=task.question,
        expected=task.expected,
        evidence=", ".join(task.tracked),
    )


def _coordinator(
    task: NeedleTask, model: Answering, arm: Arm, limits: Limits, *, blind: bool
) -> Coordinator:
    history = task.traits.looks == "history" and not blind
    files = "read" if task.traits.looks == "files" and not blind else "none"
    tools = _tools(task)
    own = under(
        arm, Agent("keeper", SYSTEM, tools=tools, lookback=history, files=files, limits=limits)
    )
    clerk = replace(
        own,
        name=CLERK,
        description="Reads the pages of the annex.",
        tools=[_page_tool(task.clerk_pages)],
    )
    children = [clerk] if task.clerk_pages else []
    return Coordinator(own, children, model=model)


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


def _judged(
    made: Record, task: NeedleTask, entries: Sequence[Entry], asked: bytes, why: str
) -> Record:
    """The record with what came of it; `asked` is the request after the question."""
    question = question_of(entries)
    calls = calls_after(entries, question)
    visible = bool(asked and task.tracked) and all(stands_in(asked, v) for v in task.tracked)
    failure = score(task, calls, visible=visible)
    if not failure and task.traits.wide and cut_characters(entries, task.pages):
        failure = "cut character"
    after = [entry for entry in entries if entry.seq > question]
    results = [e.event for e in after if isinstance(e.event, ToolReturned)]
    looks = [event for event in results if event.name in LOOKING]
    request = next((e.seq for e in after if isinstance(e.event, RequestSent)), 0)
    update: JsonObject = {
        "passed": not failure,
        "state": "invalid" if why else "valid",
        "failure": failure,
        "why": why,
        "answer": " | ".join(answer_of(calls) or ())[:LONGEST_ANSWER],
        "request": request,
        "figures": {
            "extra_calls": float(len(looks)),
            "extra_tokens": float(sum(estimate_tokens(plain_text(e.content)) for e in looks)),
            **share_kept(entries, request),
            "compactions": float(sum(isinstance(e.event, ContextCompacted) for e in entries)),
        },
    }
    return made.model_copy(update=update)


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
