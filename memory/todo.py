"""The plan of a thread: goal, constraints and steps, and the text of `todo.md` that holds them.

A `Todo` is a value: an operation gives another one or says why not. Every text in it is one line behind a
mark of ours, so no text can pass for a heading, a step or the frame of a tail.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from .errors import TodoError

State = Literal["pending", "in_progress", "done", "cancelled"]

MAX_STEPS = 100
MAX_CONSTRAINTS = 40
MAX_LINE = 600
"""Characters of a goal, a constraint or a step."""

_MARKS: dict[State, str] = {"pending": " ", "in_progress": ">", "done": "x", "cancelled": "-"}
_STATES: dict[str, State] = {mark: state for state, mark in _MARKS.items()}
_TITLE, _CONSTRAINTS, _STEPS, _GOAL = "# Todo", "## Constraints", "## Steps", "Goal: "
_STEP = re.compile(r"([1-9][0-9]{0,2})\. \[([ >x-])\] (.+)")
# Control characters, line separators, marks that turn the direction of text, halves of characters.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FRAME = re.compile(r"<\s*/?\s*tail\s*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. Raises `TodoError` for a text that is not one plain line."""

    text: str
    """One line of at most 600 characters."""
    state: State = "pending"

    def __post_init__(self) -> None:
        _check_line(self.text, "a step")
        if self.state not in _MARKS:
            raise TodoError(
                f"{self.state!r} is no state of a step; use one of: {', '.join(_MARKS)}"
            )

    @property
    def finished(self) -> bool:
        """True for `done` and `cancelled`."""
        return self.state in ("done", "cancelled")

    @property
    def key(self) -> str:
        """What makes two steps the same: the text without regard to case and spacing."""
        return " ".join(self.text.casefold().split())


@dataclass(frozen=True, slots=True)
class Todo:
    """A plan. Raises `TodoError` for texts that are not plain lines, equal steps, or too many."""

    goal: str = ""
    """One line, `""` when none was set."""
    constraints: tuple[str, ...] = ()
    """One line each, at most 40."""
    steps: tuple[Step, ...] = ()
    """At most 100, no two of the same text."""

    def __post_init__(self) -> None:
        if self.goal:
            _check_line(self.goal, "the goal")
        for constraint in self.constraints:
            _check_line(constraint, "a constraint")
        if len(self.constraints) > MAX_CONSTRAINTS:
            raise TodoError(f"{len(self.constraints)} constraints; at most {MAX_CONSTRAINTS} fit")
        if len(self.steps) > MAX_STEPS:
            raise TodoError(
                f"{len(self.steps)} steps; at most {MAX_STEPS} fit, so make them larger"
            )
        keys = [step.key for step in self.steps]
        for step in self.steps:
            if keys.count(step.key) > 1:
                raise TodoError(f"two steps read {step.text!r}; word them apart or leave one out")

    def __bool__(self) -> bool:
        return bool(self.goal or self.constraints or self.steps)

    @property
    def open_steps(self) -> tuple[tuple[int, Step], ...]:
        """Number (from 1) and step of all that are pending or in progress."""
        return tuple((n, step) for n, step in enumerate(self.steps, 1) if not step.finished)

    def rewritten(
        self,
        *,
        goal: str | None = None,
        constraints: Sequence[str] | None = None,
        steps: Sequence[Step],
        reopen: Iterable[str] = (),
    ) -> "Todo":
        """The plan with other steps; `None` keeps goal or constraints.

        Finished steps stay: one that is left out is put before the others, and one that comes back in
        another state must be named in `reopen` by its text. Beyond 100 steps the oldest finished
        ones go. Raises `TodoError`.
        """
        wanted = {Step(text).key for text in reopen}
        finished = {step.key: step for step in self.steps if step.finished}
        unknown = wanted - finished.keys()
        if unknown:
            raise TodoError(f"`reopen` names no finished step: {sorted(unknown)[0]!r}")
        for step in steps:
            before = finished.get(step.key)
            if before and before.state != step.state and step.key not in wanted:
                raise TodoError(
                    f"the step {before.text!r} is {before.state}; send it as {before.state}, leave it "
                    "out (it stays), or name it in `reopen` to take it up again"
                )
        given = {step.key for step in steps}
        kept = [step for key, step in finished.items() if key not in given and key not in wanted]
        room = max(0, MAX_STEPS - len(steps))
        kept = kept[len(kept) - room :] if len(kept) > room else kept
        return Todo(
            self.goal if goal is None else goal,
            self.constraints if constraints is None else tuple(constraints),
            (*kept, *steps),
        )

    def updated(
        self, number: int, state: State | None = None, text: str | None = None, reopen: bool = False
    ) -> "Todo":
        """The plan with one step (from 1) in another state or wording.

        A finished step changes only with `reopen`. Raises `TodoError`.
        """
        if not 1 <= number <= len(self.steps):
            raise TodoError(f"there is no step {number}; the plan has {len(self.steps)} steps")
        before = self.steps[number - 1]
        after = Step(before.text if text is None else text, state or before.state)
        if before.finished and after != before and not reopen:
            raise TodoError(
                f"step {number} is {before.state} and stays so; send `reopen: true` to take it up again"
            )
        return replace(self, steps=(*self.steps[: number - 1], after, *self.steps[number:]))

    def added(self, texts: Iterable[str]) -> "Todo":
        """The plan with more pending steps at its end. Raises `TodoError`."""
        return replace(self, steps=(*self.steps, *(Step(text) for text in texts)))


def one_line(text: str) -> str:
    """A text as a plan can hold it: line breaks, control characters and runs of spaces as one space."""
    return " ".join(_UNFIT.sub(" ", text).split())


def render_todo(todo: Todo) -> str:
    """The text of `todo.md`; `parse_todo` reads it back to an equal plan."""
    parts = [f"{_TITLE}\n"]
    if todo.goal:
        parts.append(f"{_GOAL}{todo.goal}\n")
    if todo.constraints:
        parts.append("\n".join((_CONSTRAINTS, *(f"- {text}" for text in todo.constraints), "")))
    if todo.steps:
        lines = (step_line(number, step) for number, step in enumerate(todo.steps, 1))
        parts.append("\n".join((_STEPS, *lines, "")))
    return "\n".join(parts)


def step_line(number: int, step: Step) -> str:
    """One step as `todo.md` shows it."""
    return f"{number}. [{_MARKS[step.state]}] {step.text}"


def parse_todo(text: str) -> Todo:
    """Read `todo.md`. Only what `render_todo` writes is accepted, to the last character.

    Raises `TodoError` naming the line that does not fit.
    """
    goal, constraints, steps, section = "", list[str](), list[Step](), ""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        step = _STEP.fullmatch(line)
        if line in ("", _TITLE, _CONSTRAINTS, _STEPS):
            section = line or section
        elif section == _TITLE and line.startswith(_GOAL):
            goal = line.removeprefix(_GOAL)
        elif section == _CONSTRAINTS and line.startswith("- "):
            constraints.append(line.removeprefix("- "))
        elif section == _STEPS and step:
            steps.append(Step(step[3], _STATES[step[2]]))
        else:
            raise TodoError(f"line {number} of todo.md does not fit: {line[:80]!r}")
    todo = Todo(goal, tuple(constraints), tuple(steps))
    if render_todo(todo) != text:
        raise TodoError(
            "todo.md is not in its fixed form (order of sections, numbers, empty lines)"
        )
    return todo


def _check_line(text: str, what: str) -> None:
    if not text or text != text.strip():
        raise TodoError(f"{what} must be one line without spaces around it, not {text[:80]!r}")
    if len(text) > MAX_LINE:
        raise TodoError(f"{what} has {len(text)} characters; at most {MAX_LINE} fit: {text[:60]!r}")
    if _UNFIT.search(text):
        raise TodoError(f"{what} must be one line without control characters, not {text[:80]!r}")
    if _FRAME.search(text):
        raise TodoError(f"{what} must not hold the marks of a tail: {text[:80]!r}; reword it")
