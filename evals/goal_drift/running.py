"""Run a goal-drift task through the real coordinator and loop, and score what the log says was done."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agents import Agent, Limits, Model, ignore
from memory import (
    ContextCompacted,
    Entry,
    MessageAdded,
    RequestSent,
    ToolReturned,
    plain_text,
    read_entries,
)
from orchestrator import Coordinator

from ..arms import FULL, HEAD_ONLY, Arm, under
from ..results import Record
from ..summarisers import planting
from ..validity import share_kept, why_invalid
from .archive import Clock
from .scoring import done_of, failure_of, violations
from .tasks import GOAL, SYSTEM, DriftTask
from .tickets import long_message, tickets_of, tools_of

RUN = "drift"
"""Id of each run, in a folder of its own."""


async def run_drift(
    task: DriftTask,
    model: Model,
    arm: Arm,
    folder: Path | None = None,
    *,
    turns: int = 0,
) -> Record:
    """Work through a task under an arm, and score it.

    `folder` is the run's own, `None` for a run in memory. `turns` are model calls at most, 0 for what the
    tickets need.
    """
    arm = arm_of(task, arm)
    trigger = arm.tokens(model)
    tickets, clock = tickets_of(task, arm, trigger), Clock()
    limits = Limits(turns=turns or 4 * len(tickets) + 60)
    agent = Agent(
        "clerk",
        SYSTEM,
        tools=tools_of(task, tickets, clock),
        todo="todo" in task.tools,
        files="none",
        limits=replace(limits, parallel_tools=1) if task.archive else limits,
    )
    coordinator = Coordinator(under(arm, agent, task.pinned, task.calls), model=model, runs=folder)
    live = await coordinator.start(GOAL, RUN, ignore)
    if task.archive:  # what a call takes is the sample's business, and the same on every machine
        live.run.clock = clock.read
    await coordinator.drive(live)
    if task.question:
        if folder is None:
            coordinator.kept[RUN] = live
        await coordinator.ask(RUN, long_message(task, trigger))
    log = live.run.log
    entries = await log.read("main") if folder is None else read_entries(_log(folder), "main")
    return _record(task, arm, model.name, trigger, entries)


def arm_of(task: DriftTask, arm: Arm) -> Arm:
    """The arm as a task needs it: one that plants needs a strategy that asks a summariser."""
    if not task.planted or arm.policy in (FULL, HEAD_ONLY):
        return arm
    return replace(arm, policy="summary", summariser=planting(task.planted))


def _log(folder: Path) -> Path:
    return folder / RUN / "events.db"


def _record(task: DriftTask, arm: Arm, name: str, trigger: int, entries: Sequence[Entry]) -> Record:
    question = _question(task, entries)
    key = tuple(dict.fromkeys(s for line in task.key for s in _told_at(entries, line)[:1]))
    done = done_of(entries, question)
    failure = failure_of(task.right, done)
    # A message that itself makes the compaction necessary is followed by it, before it is sent.
    judged = next((e.seq for e in entries if e.seq > question and _sent(e)), question)
    until = judged if task.question else question
    why = why_invalid(entries, arm, trigger, key=key, question=until)
    taken = sum(isinstance(e.event, ContextCompacted) for e in entries)
    acts = len(done.before) + len(done.after)
    return drift_record(task, arm, name).model_copy(
        update={
            "passed": not failure,
            "state": "invalid" if why else "valid",
            "failure": failure,
            "why": why,
            "figures": {
                "violations": float(violations(task.right, done)),
                **share_kept(entries, judged),
                "compactions": float(taken),
                "acts": float(acts),
            },
            "request": judged,
        }
    )


def drift_record(task: DriftTask, arm: Arm, name: str) -> Record:
    """The record of a task that `name` answers under an arm, without a result yet."""
    return Record(
        suite="goal-drift",
        sample=f"{task.name}/{name}",
        cluster=f"{task.language}/{task.seed}/{arm.load}",
        family=task.family,
        policy=arm.name,
        model=name,
        passed=False,
        window=arm.window,
        trigger=arm.trigger,
        seed=task.seed,
        evidence="; ".join(task.key)[:400],
    )


def _question(task: DriftTask, entries: Sequence[Entry]) -> int:
    """Position of the event that asks: the user's second message, or the judged ticket's result."""
    if task.question:
        told = [e.seq for e in entries if isinstance(e.event, MessageAdded)]
        return max(told, default=0)
    wanted = task.asked[task.judged]
    found = [e.seq for e in entries if _ticket(e).endswith(f"\n{wanted}")]
    return found[-1] if found else len(entries) + 1


def _told_at(entries: Sequence[Entry], line: str) -> list[int]:
    return [e.seq for e in entries if line in _ticket(e)]


def _ticket(entry: Entry) -> str:
    """The text of a ticket as it was taken, `""` for any other event."""
    if isinstance(entry.event, ToolReturned) and entry.event.name == "next_ticket":
        return plain_text(entry.event.content)
    return ""


def _sent(entry: Entry) -> bool:
    return isinstance(entry.event, RequestSent)
