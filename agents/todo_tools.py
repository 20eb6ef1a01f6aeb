"""The plan's tools: `rewrite_todo` and `update_todo` for its own thread, `read_plan` for those below it.

Each change is one `TodoWritten` event with the whole plan; a refused one changes nothing and says what
to correct.
"""

import contextlib
from collections.abc import Callable, Generator

from pydantic import BaseModel, ConfigDict, Field

from memory import State, Step, Thread, Todo, TodoError, TodoWritten, one_line, render_todo

from .errors import ToolError
from .tools import Tool, tool

REWRITE_TODO, UPDATE_TODO, READ_PLAN = "rewrite_todo", "update_todo", "read_plan"


class PlannedStep(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(extra="forbid")
    text: str = Field(min_length=1, description="One line")
    state: State = "pending"


class StepChange(BaseModel):
    """A change of one step."""

    model_config = ConfigDict(extra="forbid")
    step: int = Field(ge=1, description="Its number in the plan")
    state: State | None = None
    text: str | None = Field(default=None, description="New wording")
    reopen: bool = Field(default=False, description="Needed to change a done or cancelled step")


def plan_tools(thread: Thread) -> tuple[Tool, ...]:
    """The two tools that change this thread's plan."""

    async def rewrite_todo(
        steps: list[PlannedStep],
        goal: str | None = None,
        constraints: list[str] | None = None,
        reopen: tuple[str, ...] = (),
    ) -> str:
        """Write the plan anew, for work of several steps. `goal` and `constraints` stay when left out.

        Done and cancelled steps stay whether or not you list them; to take one up again, list it as
        pending and repeat its text in `reopen`.
        """
        with _told():
            todo = thread.todo.rewritten(
                goal=None if goal is None else one_line(goal),
                constraints=None if constraints is None else [one_line(c) for c in constraints],
                steps=[Step(one_line(step.text), step.state) for step in steps],
                reopen=[one_line(text) for text in reopen],
            )
        return _write(thread, todo)

    async def update_todo(changes: list[StepChange], add: tuple[str, ...] = ()) -> str:
        """Change steps of the plan by number, and add steps at its end. Mark a step as in_progress
        when you begin it and as done as soon as it is."""
        with _told():
            todo = thread.todo
            for change in changes:
                text = None if change.text is None else one_line(change.text)
                todo = todo.updated(change.step, change.state, text, change.reopen)
            todo = todo.added([one_line(text) for text in add])
        return _write(thread, todo)

    return (
        tool(rewrite_todo, repeatable=True),
        tool(update_todo),
    )


def read_plan_tool(read: Callable[[], str]) -> Tool:
    """The tool by which a child reads the run's plan; it has none to change it."""

    async def read_plan() -> str:
        """Read the plan of the whole run that your task is a part of. You cannot change it."""
        return read()

    return tool(read_plan, repeatable=True)


@contextlib.contextmanager
def _told() -> Generator[None, None, None]:
    """What is wrong with a plan is said to the model."""
    try:
        yield
    except TodoError as error:
        raise ToolError(f"The plan was not changed: {error}.") from error


def _write(thread: Thread, todo: Todo) -> str:
    text = render_todo(todo)
    if todo != thread.todo:
        thread.append(TodoWritten(text))
    return text
