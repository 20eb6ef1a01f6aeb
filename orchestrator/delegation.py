"""Delegation: the coordinator's `delegate` tool and the tasks that a call of it asks for."""

import re
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from agents import See, Tool, ToolError, schema_of
from memory import ToolCall

from .subagents import Subagent
from .tasks import TaskSpec

DELEGATE = "delegate"
OWN_CONTENT = 400
"""Characters of a task before a pointer from which the pointer may mean the task's own text."""

_POINTER = re.compile(
    r"\b(?:the|this|that|these|those)\s+(?:\w+\s+){0,2}\w+\s+(?:from\s+)?"
    r"(?:above|mentioned\s+(?:above|earlier|before)|(?:from\s+)?(?:earlier|before))(?=\s*(?:[.,;:!?)]|$|\band\b|\bto\b|\bfor\b|\bin\b))"
    r"|\b(?:see|listed|shown|given|described|quoted|pasted|provided)\s+above\b"
    r"|\bas\s+(?:we\s+)?(?:discussed|mentioned|described|stated|noted|agreed)\s*(?:above|earlier|before|previously|[.,;]|$)"
    r"|\b(?:aforementioned|above-mentioned)\b"
    r"|\b(?:the|my|your|our)\s+(?:previous|earlier|last|prior)\s+(?:message|conversation|turn|answer|reply|result|response|discussion|chat)s?\b"
    r"|\bour\s+(?:conversation|discussion|chat)\b",
    re.IGNORECASE,
)
_ATTACHED = re.compile(
    r"\b(?:attached|uploaded)\s+(?:\w+\s+)?(?:file|document|image|text|table)s?\b", re.IGNORECASE
)


class TaskLimits(BaseModel):
    """What one task may take."""

    model_config = ConfigDict(extra="forbid")
    seconds: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    model_calls: int | None = Field(default=None, gt=0)


class DelegatedTask(BaseModel):
    """One task for one agent."""

    model_config = ConfigDict(extra="forbid")
    agent: str = Field(description="Name of one of the agents")
    task: str = Field(min_length=1, description="Complete in itself: the agent sees nothing else")
    inputs: list[str] = Field(default_factory=list[str], description="Paths of files to hand over")
    depends_on: list[int] = Field(
        default_factory=list[int],
        description="Numbers of earlier tasks of this list, from 1, whose conclusions it needs",
    )
    see: See | None = Field(
        default=None,
        description="What it sees of you: none (usual), text (what was said), fork (all you saw)",
    )
    limits: TaskLimits | None = None


class Delegation(BaseModel):
    """The arguments of `delegate`."""

    model_config = ConfigDict(extra="forbid")
    tasks: list[DelegatedTask] = Field(
        min_length=1, description="They run at the same time, but for those that depend on others"
    )


def delegate_tool(subagents: Mapping[str, Subagent]) -> Tool:
    """The tool that sends tasks to subagents; the coordinator's graph takes its calls.

    It may be repeated after a crash: a task whose thread has ended costs nothing.
    """
    lines = "\n".join(f"- {name}: {agent.description}" for name, agent in subagents.items())
    words = (
        f"Send tasks to agents that work on their own and hand back conclusions. Agents:\n{lines}"
    )

    def delegate() -> None:
        """Stands for the tool; the graph takes the call before it would run."""

    return Tool(
        DELEGATE, words, schema_of(Delegation), Delegation, delegate, repeatable=True, exempt=True
    )


def read_delegation(
    tool: Tool, call: ToolCall, subagents: Mapping[str, Subagent]
) -> list[DelegatedTask]:
    """The tasks of a call, with what each agent sees filled in.

    Raises `ToolError` for wrong arguments, and for a task that points at something which its agent will
    not see: it is returned before it costs.
    """
    tasks = Delegation.model_validate(tool.check(call.arguments).model_dump()).tasks
    faults: list[str] = []
    for number, task in enumerate(tasks, 1):
        task.see = task.see or getattr(subagents.get(task.agent), "sees", "none")
        wrong = [str(other) for other in task.depends_on if not 1 <= other < number]
        if wrong:
            faults.append(f"task {number} depends on {', '.join(wrong)}: only on earlier tasks")
        elif pointer := _unseen(task):
            faults.append(
                f"task {number} points at {pointer!r}, which its agent cannot see: write it into the task, "
                "hand files over by `inputs`, or let it see more by `see`"
            )
    if faults:
        raise ToolError(f"Nothing was sent. {'; '.join(faults)}. Correct this and call it again.")
    return tasks


def task_specs(
    tasks: Sequence[DelegatedTask], shared: TaskSpec, *, turn: int, position: int
) -> list[TaskSpec]:
    """The tasks of one call with the threads they will run on; `shared` holds what is the same for all.

    Thread names come from the parent's turn and the place in it, so a resumed run finds them again.
    """
    threads = [f"{shared.parent}.{turn}-{position + n}" for n in range(1, len(tasks) + 1)]
    return [
        TaskSpec(
            thread,
            task.agent,
            task.task,
            shared.parent,
            depth=shared.depth,
            cap=shared.cap,
            seen=shared.seen,
            constraints=shared.constraints,
            see=task.see or "none",
            inputs=tuple(task.inputs),
            after=tuple(threads[number - 1] for number in task.depends_on),
            **(task.limits.model_dump() if task.limits else {}),
        )
        for thread, task in zip(threads, tasks, strict=True)
    ]


def _unseen(task: DelegatedTask) -> str:
    """What a task points at without its agent being able to see it, `""` for nothing."""
    if task.see != "none" or task.depends_on:
        return ""
    found = _POINTER.search(task.task[: OWN_CONTENT + 80])
    if found and found.start() < OWN_CONTENT:
        return found.group()
    found = _ATTACHED.search(task.task)
    return found.group() if found and not task.inputs else ""
