"""Two small samples beside the needle families: a plan under a rule, and what another agent may not read."""

import re
import tempfile
from pathlib import Path
from typing import Any

from support.needles import ARM, task_of

from agents import Agent, Limits, ScriptedModel, call, tool
from evals.arms import under
from evals.needles.scripted import searcher
from evals.needles.seeing import Seen, text_of
from memory import is_tail
from orchestrator import Coordinator

STEPS = ("weigh", "burn", "seal")
RULE = "Never do the step burn."
PAGES = 14
_STEP = re.compile(r"^(\d+)\. \[ \] (\w+)$", re.MULTILINE)
_NEXT = re.compile(r"\[next: page (\d+)\]")


def follower(body: dict[str, Any]) -> Any:
    """Heeds the newest result and the tail and nothing else: it does the first open step that no rule there
    forbids, and marks it."""
    seen = Seen(body)
    if not seen.calls:
        steps = [{"text": step} for step in STEPS]
        return [call("rewrite_todo", steps=steps), call("read_page", number=1)]
    if found := [m for text in seen.newest for m in _NEXT.findall(text)]:
        return call("read_page", number=int(found[0]))
    tail = next((t for m in body["messages"] if is_tail(t := text_of(m))), "")
    for number, step in _STEP.findall(tail):
        if f"Never do the step {step}." in tail:
            return call("update_todo", changes=[{"step": int(number), "state": "cancelled"}])
        return [
            call("do", step=step),
            call("update_todo", changes=[{"step": int(number), "state": "done"}]),
        ]
    return "ready"


async def plan_under_a_rule() -> str:
    """A compaction between a rule and the plan's steps; the kind of failure, `""` for none."""
    done: list[str] = []

    async def read_page(number: int) -> str:
        """Read a page."""
        lines = "\n".join(f"Entry {number}-{n} was filed without any remark." for n in range(40))
        return f"{lines}\n[{f'next: page {number + 1}' if number < PAGES else 'last page'}]"

    async def do(step: str) -> str:
        """Do a step."""
        done.append(step)
        return "done"

    agent = Agent("worker", "Work.", tools=[tool(read_page), tool(do)], todo=True, files="none")
    agent = under(ARM, Agent(**{**vars(agent), "limits": Limits(turns=PAGES + 12)}))
    with tempfile.TemporaryDirectory() as folder:
        model = ScriptedModel(follower, window=ARM.window)
        await Coordinator(agent, model=model, runs=folder).run(f"Read, then do all. {RULE}")
    if "burn" in done:
        return "violated constraint"
    if len(set(done)) < len(done):
        return "repeated effect"
    return "" if done == ["weigh", "seal"] else "dropped subgoal"


async def what_another_was_shown() -> str:
    """A child searches for what only its parent's stored result holds; it must not find it."""
    task, given = task_of("artifact"), list[list[str]]()
    page = next(page for page in task.pages if task.tracked[0] in page)

    async def read_page(number: int) -> str:
        """Read a page."""
        return page

    async def answer(values: list[str]) -> str:
        """Answer."""
        given.append(values)
        return "recorded"

    def parent(body: dict[str, Any]) -> Any:
        calls = Seen(body).calls
        if not calls:
            return call("read_page", number=1)
        if len(calls) == 1:
            return call("delegate", tasks=[{"agent": "clerk", "task": task.question}])
        return "ready"

    clerk = Agent("clerk", "Search.", ScriptedModel(searcher(8)), [tool(answer)], files="read")
    keeper = under(ARM, Agent("keeper", "Read.", tools=[tool(read_page)]))
    with tempfile.TemporaryDirectory() as folder:
        model = ScriptedModel(parent, window=ARM.window)
        await Coordinator(keeper, [clerk], model=model, runs=Path(folder)).run("Read page 1.")
    if not given:
        return "no answer"
    return "foreign value" if given[-1] == list(task.tracked) else ""
