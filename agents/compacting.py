"""Compacting: making room before a request. Lock event first, commit last; asked for or not, one path."""

from typing import TYPE_CHECKING

from memory import (
    CompactionRejected,
    CompactionStarted,
    ContextCompacted,
    Goal,
    Proposal,
    Rejection,
    Strategy,
    Summarising,
    Usage,
    View,
    WindowExceeded,
    constraints_of,
    fits,
    joined,
    judge,
    proposed,
    shortened_messages,
    strategy_named,
)

from .compaction import Compaction, reserve_of, trigger_of
from .errors import LimitReached
from .looking_back import LOOKBACK
from .summarising import ModelSummariser
from .telemetry import compaction_span

if TYPE_CHECKING:
    from .session import Session

FORCED = ("overflow", "fit", "hand", "tool")
"""Triggers that need not free as much as a rewrite is worth."""


async def make_room(session: "Session") -> str:
    """Compact when the next request is over the trigger, and return its tail.

    Raises `LimitReached` when the request does not fit the window, whatever is compacted, and when the
    agent pauses after a compaction.
    """
    settings, tail = session.compaction, session.tail()
    wish, session.wish = session.wish, None
    size = session.thread.size(tail)
    if settings and wish is not None:
        await compact(session, "tool", focus=wish, strategy="reset")
    elif settings and size > trigger_of(session.model, session.window, settings):
        taken = await compact(session, "size")
        if settings.pause and isinstance(taken, ContextCompacted):
            raise LimitReached(
                "paused", "the context was compacted; add a message, or go on as it is"
            )
    else:
        _check_fit(session, size)
        return tail
    tail = session.tail()
    if settings and not _fits(session, session.thread.size(tail)):
        await compact(session, "fit", strategy="auto")
        tail = session.tail()
    _check_fit(session, session.thread.size(tail))
    return tail


async def overflowed(session: "Session", error: BaseException, tokens: int) -> bool:
    """Compact once more after a provider refused a request of `tokens` as too long.

    True when the request is worth sending again; a second refusal in a row is not.
    """
    if not session.compaction or not is_overflow(error) or session.overflowed:
        return False
    session.overflowed = True
    taken = await compact(session, "overflow", target=int(tokens * 0.6), strategy="auto")
    return isinstance(taken, ContextCompacted)


def is_overflow(error: BaseException | None) -> bool:
    """True when a provider said that a request does not fit, as an error or as its cause."""
    while error is not None:
        if any(kind.__name__ == "ContextOverflowError" for kind in type(error).__mro__):
            return True
        error = error.__cause__
    return False


async def compact(
    session: "Session",
    trigger: str,
    *,
    focus: str = "",
    strategy: "str | Strategy | None" = None,
    target: int | None = None,
) -> ContextCompacted | Rejection:
    """One compaction from lock to commit; what came of it is in the log either way."""
    thread, settings = session.thread, session.compaction or Compaction()
    gate = thread.gate
    if gate.open:
        return Rejection("busy", "another compaction of this thread is under way")
    if gate.stopped and trigger not in ("hand", "tool"):
        return Rejection("stopped", gate.stopped)
    chosen = _strategy(session, settings, strategy or settings.strategy)
    tail = session.tail()
    view = thread.view(tail)
    goal = _goal(session, settings, view, trigger, focus, target)
    thread.append(CompactionStarted(chosen.name, view.total, trigger, goal.target))
    await thread.commit()
    with compaction_span(session, chosen.name, view.total) as span:
        came = await _under_lock(session, chosen, goal, trigger, (view, tail))
        if isinstance(came, Rejection):
            span.fail(came.reason)
        return came


async def _under_lock(
    session: "Session", chosen: Strategy, goal: Goal, trigger: str, seen: tuple[View, str]
) -> ContextCompacted | Rejection:
    """Have the strategy propose, judge the proposal against the history as it is then, and commit it."""
    (view, tail), thread, usage = seen, session.thread, Usage()
    gate = thread.gate
    try:
        made = await proposed(chosen, view, goal, forced=trigger in FORCED)
        usage = made.usage if made else usage
        made = _with_cap(view, made, session.window)
        # The history may have grown meanwhile: what was proposed is judged against what is there now.
        view = thread.view(tail)
        after = judge(view, made, goal, constraints_of(view.items), forced=trigger in FORCED)
    except BaseException:
        thread.append(CompactionRejected("abandoned", "it was interrupted", usage))
        raise
    if isinstance(after, Rejection):
        thread.append(CompactionRejected(after.reason, after.detail, usage))
        await thread.commit()
        if gate.stopped:
            session.notice("compaction_stopped", {"reason": gate.stopped})
        return after
    assert made is not None
    return await _commit(session, made, trigger, view.total, after.total)


async def _commit(
    session: "Session", made: Proposal, trigger: str, before: int, after: int
) -> ContextCompacted:
    thread, stopped = session.thread, session.thread.gate.stopped
    event = ContextCompacted(
        made.strategy, made.replacements, trigger, before, after, made.usage, made.record
    )
    thread.append(event)
    if thread.gate.stopped and not stopped:
        session.notice("compaction_stopped", {"reason": thread.gate.stopped})
    await thread.commit()
    return event


def _strategy(session: "Session", settings: Compaction, given: "str | Strategy") -> Strategy:
    if not isinstance(given, str):
        return given
    by_code = settings.summariser == "code" or session.model.name == "extractive"
    summarise = None if by_code else ModelSummariser(session, settings)
    return strategy_named(given, Summarising(summarise, session.thread.counter))


def _goal(
    session: "Session",
    settings: Compaction,
    view: View,
    trigger: str,
    focus: str,
    target: int | None,
) -> Goal:
    window, thread = session.window, session.thread
    most = trigger_of(session.model, window, settings)
    if target is None:
        needed = view.fixed + sum(
            group.tokens
            for place, group in enumerate(view.groups)
            if group.kept or place >= view.live
        )
        target = max(int(most * settings.target), min(most, needed + most // 10))
        if trigger == "fit":
            target = int((window - reserve_of(session.model, window)) / 1.15)
    return Goal(
        target=target,
        window=window,
        tail=int(most * settings.tail),
        cut=settings.cut,
        focus=focus,
        todo=thread.todo,
        notes=dict(thread.notes),
        record=thread.record,
        look_back=set(session.tools) >= LOOKBACK,
        stored=dict(thread.context.stored) if session.reads else {},
    )


def _with_cap(view: View, made: Proposal | None, window: int) -> Proposal | None:
    """The proposal, with the user's messages cut when they are over their share of the window."""
    cuts = shortened_messages(view, window)
    return joined(made, Proposal("messages", tuple(cuts))) if cuts else made


def _fits(session: "Session", tokens: int) -> bool:
    window, exact = session.window, session.thread.counter.exact
    return fits(tokens, window, reserve_of(session.model, window), exact=exact)


def _check_fit(session: "Session", tokens: int) -> None:
    if _fits(session, tokens):
        return
    window = session.window
    stopped = session.thread.gate.stopped
    error = WindowExceeded(
        f"the next request has about {tokens:,} tokens, {session.thread.head_tokens:,} of them system prompt "
        f"and tools; the window of {session.model.name!r} has {window:,}, "
        f"{reserve_of(session.model, window):,} of them for the answer. "
        + (f"Compaction was given up: {stopped}. " if stopped else "")
        + "Give the agent fewer tools or shorter words, or a model with a larger window."
    )
    raise LimitReached("window", str(error)) from error
