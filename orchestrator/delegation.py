"""Delegation: the coordinator's `delegate` tool, its tasks, and the result that the coordinator reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field, create_model

from agents import Outcome, Tool, schema_of
from memory import JsonObject, ToolCall, dumps

from .runner import Subagent, TaskSpec

DELEGATE = "delegate"


def delegate_tool(subagents: Mapping[str, Subagent]) -> Tool:
    """The tool that sends tasks to subagents; the coordinator's graph takes its calls.

    It may be repeated after a crash: a task whose thread has ended costs nothing.
    """
    task: Any = create_model(
        "Task",
        __config__=ConfigDict(extra="forbid"),
        agent=(str, Field(description=f"One of: {', '.join(subagents)}")),
        task=(
            str,
            Field(min_length=1, description="Complete in itself: the agent sees nothing else"),
        ),
    )
    arguments = create_model(
        "delegate_arguments",
        __config__=ConfigDict(extra="forbid"),
        tasks=(list[task], Field(min_length=1, description="They run at the same time")),
    )
    lines = "\n".join(f"- {name}: {agent.description}" for name, agent in subagents.items())
    words = (
        f"Send tasks to agents that work on their own and hand back conclusions. Agents:\n{lines}"
    )

    def delegate() -> None:
        """Stands for the tool; the graph takes the call before it would run."""

    return Tool(DELEGATE, words, schema_of(arguments), arguments, delegate, repeatable=True)


def task_specs(
    tool: Tool, call: ToolCall, *, parent: str, turn: int, position: int, depth: int
) -> list[TaskSpec]:
    """The tasks of one call, with the threads they will run on.

    Thread names come from the parent's turn and the place in it, so a resumed run finds them again.
    Raises `ToolError` for wrong arguments.
    """
    arguments: Any = tool.check(call.arguments)
    return [
        TaskSpec(f"{parent}.{turn}-{position + number}", task.agent, task.task, parent, depth=depth)
        for number, task in enumerate(arguments.tasks, 1)
    ]


def delegation_result(outcomes: Sequence[Outcome]) -> str:
    """What the coordinator reads: one JSON object a task, in the order in which they were given."""
    return dumps([_shown(outcome) for outcome in outcomes]).decode()


def _shown(outcome: Outcome) -> JsonObject:
    shown: JsonObject = {"agent": outcome.agent, "thread": outcome.thread, "status": outcome.status}
    if outcome.reason:
        shown["reason"] = outcome.reason
    if outcome.output:
        shown["conclusion"] = {key: value for key, value in outcome.output.items() if value}
    elif outcome.text:
        shown["text"] = outcome.text
    return shown
