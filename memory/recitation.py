"""Recitation: the tail that restates goal, pinned text and open steps, and shows the thread's status.

One pure function, `recite`. Plan and pinned text are given as they are; the status is numbers and fixed
words of `status.py`, each with a rule for what to do about it. Nothing to say gives `""`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .errors import ContextError
from .status import CallRule, StatusKeeper
from .todo import Todo, step_line

Mode = Literal["replace", "append", "compaction", "off"]

PARTS = (
    "goal",
    "pinned",
    "steps",
    "turns",
    "window",
    "tokens",
    "time",
    "limits",
    "last",
    "compactions",
    "calls",
    "repeats",
    "refusals",
    "speed",
    "errors",
)
"""Names of all parts of a tail, in their order."""

TAIL_START, TAIL_END = "<tail>", "</tail>"
"""Lines of their own, the first and the last of every tail."""
_INTRO = "(Kept by the program for this request. Not a message of the user.)"

NEARLY_SPENT = 0.7
"""Share of a limit from which it is shown."""
HALF_WINDOW = 0.5
"""Share of the window from which it is shown."""
LONG = 8
"""Turns after which pinned text is recited even without a plan or a compaction."""
REPEATS, REFUSALS = 3, 3
"""How often a call must have given the same result, or a tool the same kind of error, to be shown."""
SHOWN_STEPS = 20

_ERROR_RULES = {
    "unknown_tool": "call only tools that you have",
    "arguments": "compare your arguments with the tool's schema before you call again",
    "tool_error": "do what the error message says",
    "exception": "check the arguments, try once more, then go another way",
    "timeout": "ask for a smaller piece of work",
    "cancelled": "go on without it",
    "limit": "use what you have",
    "unknown_after_crash": "check whether it took effect before you call again",
    "other": "do what the error message says",
}
_FRAME_LINE = re.compile(r"^(?=[ \t]*<\s*/?\s*tail\s*>)", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recitation:
    """What an agent's requests restate at their end, and when.

    Raises `ContextError` for a part that does not exist or an `every` below 1.
    """

    mode: Mode = "replace"
    """`replace`: each request has a tail of its own, which the next does not repeat. `append`: the tail is
    added to the history when it has changed. `compaction`: only in the first request after one."""
    every: int = 1
    """In the modes `replace` and `append`: every so many turns."""
    parts: frozenset[str] = frozenset(PARTS)
    """Names from `PARTS`; what is left out is never shown."""
    rules: tuple[CallRule, ...] = ()
    """Calls to count and to show from the one before the last that is allowed."""
    advice: bool = True
    """Say with each reading of the status what to do about it; without, readings mostly go unheeded."""

    def __post_init__(self) -> None:
        unknown = sorted(self.parts - set(PARTS))
        if unknown:
            raise ContextError(f"no part {unknown[0]!r} in a tail; there are: {', '.join(PARTS)}")
        if self.every < 1:
            raise ContextError(f"`every` is a number of turns from 1, not {self.every!r}")

    def due(self, status: StatusKeeper) -> bool:
        """True when the next request should have a tail."""
        match self.mode:
            case "off":
                return False
            case "compaction":
                return status.compactions > 0 and status.since_compaction == 0
            case _:
                return status.turns % self.every == 0


@dataclass(frozen=True, slots=True)
class Reading:
    """One line of the status."""

    part: str
    """From `PARTS`."""
    value: str
    """Numbers and fixed words."""
    rule: str
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class Room:
    """What an agent may still use; `None` means that there is no such limit."""

    tokens: int = 0
    """Tokens of the next request."""
    window: int | None = None
    """Tokens of the model's window."""
    turns: int | None = None
    """Model calls allowed in all."""
    spent: int = 0
    """Tokens spent by this agent and those below it."""
    token_limit: int | None = None
    """Tokens that they may spend in all."""
    seconds_left: float | None = None
    seconds_limit: float | None = None
    further: tuple["Reading", ...] = ()
    """What else its limits leave, as lines of the status."""


def recite(
    status: StatusKeeper,
    todo: Todo,
    pinned: Sequence[str] = (),
    settings: Recitation | None = None,
    room: Room | None = None,
) -> str:
    """The tail of the next request: `""`, or lines from `<tail>` to `</tail>`.

    `pinned` is restated byte for byte, but for a line that would read as the frame of a tail: it gets a
    backslash. A thread without plan, compaction or anything unusual has nothing to recite.
    """
    settings = settings or Recitation()
    if not settings.due(status):
        return ""
    readings = [r for r in read_status(status, room or Room()) if r.part in settings.parts]
    lines = [*_plan_lines(status, todo, pinned, settings.parts, bool(readings))]
    if readings:
        lines.append("Status:")
        lines += [
            f"- {reading.value}. Rule: {reading.rule}."
            if settings.advice
            else f"- {reading.value}."
            for reading in readings
        ]
    return "\n".join((TAIL_START, _INTRO, *lines, TAIL_END)) if lines else ""


def is_tail(text: str) -> bool:
    """True for a text that `recite` made, as it stands in a request or in the history."""
    return text.startswith(TAIL_START + "\n")


def read_status(status: StatusKeeper, room: Room) -> Iterator[Reading]:
    """The readings that have something to say now, in the order of `PARTS`."""
    yield from _limits(status, room)
    if status.compactions:
        rule = "earlier messages are hidden, not lost"
        if status.has_tool("history_search"):
            rule += "; look them up with history_search before you guess or do them again"
        times = "time" if status.compactions == 1 else "times"
        yield Reading("compactions", f"history compacted {status.compactions} {times}", rule)
    yield from _calls(status)
    for outlier in status.outliers:
        if outlier.usual is None:
            value = f"{outlier.tool}: empty result after {outlier.milliseconds} ms"
            yield Reading("speed", value, "make sure that it did anything before you rely on it")
        else:
            value = f"{outlier.tool}: {outlier.milliseconds:,} ms, usually {outlier.usual:,} ms"
            yield Reading("speed", value, "ask it for less, or expect it to be slow")
    tool, kind = status.error
    if kind:
        yield Reading("errors", f"last error: {kind} of {tool}", _ERROR_RULES[kind])


def _limits(status: StatusKeeper, room: Room) -> Iterator[Reading]:
    if room.turns is not None and status.turns >= NEARLY_SPENT * room.turns:
        value = f"turns: {status.turns} of {room.turns} used, {room.turns - status.turns} left"
        yield Reading("turns", value, "finish what matters most and hand it in before the last")
    if room.window is not None and room.tokens >= HALF_WINDOW * room.window:
        left = max(0, room.window - room.tokens)
        value = f"window: {room.tokens:,} of {room.window:,} tokens used, {left:,} left"
        rule = "read in small pieces, and put what must last into the plan or a note"
        yield Reading("window", value, rule)
    if room.token_limit is not None and room.spent >= NEARLY_SPENT * room.token_limit:
        left = max(0, room.token_limit - room.spent)
        value = f"tokens: {room.spent:,} of {room.token_limit:,} spent, {left:,} left"
        yield Reading("tokens", value, "start nothing large; hand in what you have")
    limit, left_s = room.seconds_limit, room.seconds_left
    if limit is not None and left_s is not None and limit - left_s >= NEARLY_SPENT * limit:
        value = f"time: {status.elapsed:.0f} s elapsed, {max(0.0, left_s):.0f} s left"
        yield Reading("time", value, "start nothing that takes longer than what is left")
    yield from room.further


def _calls(status: StatusKeeper) -> Iterator[Reading]:
    for count in status.rule_counts.values():
        rule, reached = count.rule, count.calls >= count.rule.limit
        if count.calls >= rule.limit - 1:
            where = f"{rule.tool} {rule.argument}={count.value}" if rule.argument else rule.tool
            value = f"{where}: {count.calls} of {rule.limit} calls"
            yield Reading(
                "calls",
                value + (", limit reached" if reached else ""),
                "do not call it so again" if reached else "one call is left",
            )
    tool, times = status.repeated
    if times >= REPEATS:
        value = f"{tool}: the same call gave the same result {times} times"
        yield Reading("repeats", value, "use that result, or change the call")
    for name, counts in status.tools.items():
        if name in status.newest and counts.refusals >= REFUSALS:
            value = f"{name}: {counts.refusals} errors in a row, all {counts.refusal}"
            yield Reading("refusals", value, "this way is closed; take another one")


def _plan_lines(
    status: StatusKeeper, todo: Todo, pinned: Sequence[str], parts: frozenset[str], readings: bool
) -> Iterator[str]:
    if todo.goal and "goal" in parts:
        yield f"Goal: {todo.goal}"
    worth_it = bool(todo) or readings or status.compactions > 0 or status.turns >= LONG
    kept = [*(_FRAME_LINE.sub(r"\\", text) for text in pinned), *todo.constraints]
    if kept and worth_it and "pinned" in parts:
        yield "Constraints:"
        yield from (f"- {text}" for text in kept)
    if todo.steps and "steps" in parts:
        yield from _step_lines(todo)


def _step_lines(todo: Todo) -> Iterator[str]:
    steps = todo.open_steps
    finished = len(todo.steps) - len(steps)
    if not steps:
        yield f"All {finished} steps are finished: hand in the result, or add what is missing."
        return
    yield f"Open steps ({finished} of {len(todo.steps)} finished):"
    yield from (step_line(number, step) for number, step in steps[:SHOWN_STEPS])
    if len(steps) > SHOWN_STEPS:
        yield f"(and {len(steps) - SHOWN_STEPS} more open steps)"
