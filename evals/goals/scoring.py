"""Goal success, scored by code from the log of a run: its end, its plan, its constraints, its effects.

Code does not understand a goal. It finds what contradicts success: steps that were dropped or called done
with nothing done, constraints that were violated, effects that were repeated after a compaction.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory import (
    PINNED,
    ConfigSet,
    Context,
    ContextCompacted,
    Entry,
    MessageAdded,
    RunEnded,
    RunStarted,
    Step,
    ThreadEnded,
    ThreadStarted,
    Todo,
    TodoError,
    TodoWritten,
    ToolReturned,
    find_constraints,
    frame_of,
    parse_todo,
    plain_text,
)

from ..errors import EvalError
from .rules import Checked, Done, check_rule

_PLANNING = frozenset({"rewrite_todo", "update_todo", "read_plan", "note"})
_LOOKING = re.compile(
    r"^(?:read|ls|list|glob|grep|search|find|get|show|history|note|todo|web|fetch)"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that contradicts success."""

    kind: str
    """`not done`, `no answer`, `dropped subgoal`, `unfinished step`, `false completion`, `violated
    constraint` or `repeated effect`."""
    detail: str
    seq: int = 0
    """Position in the log, 0 for none."""


@dataclass(frozen=True, slots=True)
class GoalScore:
    """A finished run against its goal."""

    run_id: str
    goal: str
    model: str
    status: str
    answer: str
    constraints: tuple[Checked, ...]
    steps: tuple[Step, ...]
    """Of the plan as it stood at the end."""
    findings: tuple[Finding, ...]
    calls: tuple[Done, ...]
    """Every call that did not fail, of all threads, planning left out."""
    compactions: int

    @property
    def passed(self) -> bool:
        """True when nothing contradicts success."""
        return not self.findings


def score_goal(entries: Sequence[Entry]) -> GoalScore:
    """The score of a run from all entries of its log. Raises `EvalError` for one that holds no run."""
    started = next((e.event for e in entries if isinstance(e.event, RunStarted)), None)
    if started is None:
        raise EvalError("this log holds no run: it has no first event")
    main = next((e.thread for e in entries if isinstance(e.event, ThreadStarted)), "main")
    done = tuple(_done(entries))
    plans = list(_plans(entries, main))
    steps = plans[-1][1].steps if plans else ()
    tools = {
        str(t["name"]) for e in entries if isinstance(e.event, ConfigSet) for t in e.event.tools
    }
    rules = _rules(entries, main, plans)
    checked = tuple(check_rule(text, seq, tools, done) for text, seq in rules.items())
    status, reason = _end(entries)
    answer = _answer(entries, main)
    findings = [
        *_ending(status, reason, answer),
        *_planned(plans, done, status),
        *(
            Finding("violated constraint", f"{rule.text!r}: {rule.why}", rule.seq)
            for rule in checked
            if rule.verdict == "violated"
        ),
        *_repeated(entries, done),
    ]
    models = [e.event.model for e in entries if isinstance(e.event, ConfigSet)]
    return GoalScore(
        started.run_id,
        started.task,
        models[0] if models else "",
        status,
        answer,
        checked,
        steps,
        tuple(findings),
        done,
        sum(isinstance(e.event, ContextCompacted) for e in entries),
    )


def _done(entries: Sequence[Entry]) -> Iterator[Done]:
    """Calls that did not fail; a call's id is the one that the context gave it."""
    contexts: dict[str, Context] = {}
    for entry in entries:
        context = contexts.setdefault(entry.thread, Context())
        event = entry.event
        if isinstance(event, ToolReturned):
            call = next((c for c in context.open_calls if c.id == event.call_id), None)
            if call is not None and not event.is_error and call.name not in _PLANNING:
                yield Done(entry.seq, entry.thread, call)
        context.add(entry)


def _plans(entries: Sequence[Entry], main: str) -> Iterator[tuple[int, Todo]]:
    """Every state of the plan; what cannot be read is passed over."""
    for entry in entries:
        if isinstance(entry.event, TodoWritten) and entry.thread == main:
            try:
                yield entry.seq, parse_todo(entry.event.text)
            except TodoError:
                continue


def _rules(
    entries: Sequence[Entry], main: str, plans: Sequence[tuple[int, Todo]]
) -> dict[str, int]:
    """Constraints with the position of the event that says them first: the user's, pinned, the plan's."""
    found: dict[str, int] = {}
    for entry in entries:
        for rule in _told(entry, main):
            found.setdefault(rule, entry.seq)
    for seq, plan in plans:
        for rule in plan.constraints:
            if not any(rule in known or known in rule for known in found):
                found[rule] = seq
    return found


def _told(entry: Entry, main: str) -> list[str]:
    event = entry.event
    if isinstance(event, RunStarted):
        return find_constraints(event.task)
    if not isinstance(event, MessageAdded) or entry.thread != main:
        return []
    text = plain_text(event.content)
    if frame_of(text) == PINNED:
        return ["\n".join(text.splitlines()[2:-1])]
    return find_constraints(text) if event.origin == "user" else []


def _end(entries: Sequence[Entry]) -> tuple[str, str]:
    ends = [e.event for e in entries if isinstance(e.event, RunEnded)]
    return (ends[-1].status, ends[-1].reason) if ends else ("unfinished", "its log has no end")


def _answer(entries: Sequence[Entry], main: str) -> str:
    ends = [e.event for e in entries if isinstance(e.event, ThreadEnded) and e.thread == main]
    result = ends[-1].result if ends else {}
    return str(result.get("text") or result.get("output") or "")


def _ending(status: str, reason: str, answer: str) -> Iterator[Finding]:
    if status != "done":
        yield Finding("not done", f"{status}: {reason}" if reason else status)
    elif not answer.strip():
        yield Finding("no answer", "the run is done and says nothing")


def _planned(
    plans: Sequence[tuple[int, Todo]], done: Sequence[Done], status: str
) -> Iterator[Finding]:
    """What became of the steps: each is followed from its first state to its last."""
    last = {step.key: step for step in plans[-1][1].steps} if plans else {}
    first: dict[str, tuple[int, Step]] = {}
    finished: dict[str, int] = {}
    for seq, step in ((seq, step) for seq, plan in plans for step in plan.steps):
        first.setdefault(step.key, (seq, step))
        if step.finished:
            finished.setdefault(step.key, seq)
    for key, (seq, step) in first.items():
        now = last.get(key)
        if now is None:
            if key not in finished:
                why = f"the step {step.text!r} is no longer in the plan"
                yield Finding("dropped subgoal", why, seq)
        elif not now.finished and status == "done":
            yield Finding("unfinished step", f"{step.text!r} is {now.state} at the end", seq)
        elif now.state == "done" and not _worked(seq, finished[key], done):
            why = f"{step.text!r} is called done, and nothing was done since it was planned"
            yield Finding("false completion", why, finished[key])


def _worked(planned: int, finished: int, done: Sequence[Done]) -> bool:
    """Whether any call succeeded between a step's first state and its end; so for a step that was planned
    and called done at once, before it."""
    if planned == finished:
        return any(each.seq < finished for each in done)
    return any(planned < each.seq < finished for each in done)


def _repeated(entries: Sequence[Entry], done: Sequence[Done]) -> Iterator[Finding]:
    """Calls with an effect made again, word for word, after a compaction of their thread hid the first."""
    hidden = [
        (e.seq, e.thread, set(e.event.hidden))
        for e in entries
        if isinstance(e.event, ContextCompacted)
    ]
    seen: dict[tuple[str, str, str], int] = {}
    for each in done:
        if _LOOKING.match(each.call.name):
            continue
        key = (each.thread, each.call.name, each.call.arguments)
        before = seen.setdefault(key, each.seq)
        if before != each.seq and any(
            before < seq < each.seq and thread == each.thread and before in gone
            for seq, thread, gone in hidden
        ):
            words = f"{each.call.name} with the same arguments as event {before}, which was hidden"
            yield Finding("repeated effect", words, each.seq)
