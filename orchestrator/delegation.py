"""Delegation: the coordinator's `delegate` tool, its tasks, and the result that the coordinator reads."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from agents import Outcome, Tool, schema_of
from memory import JsonObject, ToolCall, dumps

from .subagents import Subagent
from .tasks import TaskSpec

DELEGATE = "delegate"


class DelegatedTask(BaseModel):
    """One task for one agent."""

    model_config = ConfigDict(extra="forbid")
    agent: str = Field(description="Name of one of the agents")
    task: str = Field(min_length=1, description="Complete in itself: the agent sees nothing else")


class Delegation(BaseModel):
    """The arguments of `delegate`."""

    model_config = ConfigDict(extra="forbid")
    tasks: list[DelegatedTask] = Field(min_length=1, description="They run at the same time")


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

    return Tool(DELEGATE, words, schema_of(Delegation), Delegation, delegate, repeatable=True)


def task_specs(
    tool: Tool, call: ToolCall, *, parent: str, turn: int, position: int, depth: int
) -> list[TaskSpec]:
    """The tasks of one call, with the threads they will run on.

    Thread names come from the parent's turn and the place in it, so a resumed run finds them again.
    Raises `ToolError` for wrong arguments.
    """
    arguments = Delegation.model_validate(tool.check(call.arguments).model_dump())
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
