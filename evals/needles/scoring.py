"""Scoring a needle sample: strict, by code, from the calls after the question; words do not count."""

import unicodedata
from collections.abc import Sequence
from typing import Any, cast

from memory import Entry, MessageAdded, ReplyReceived, Stored, ToolCall, ToolReturned, loads

from .seeing import LOOKING
from .tasks import NeedleTask
from .wording import NOT_FOUND


def score(task: NeedleTask, calls: Sequence[ToolCall], *, visible: bool) -> str:
    """The kind of failure of what was done after the question, `""` for the exact answer.

    Only the last call of `answer` counts, and only the very list of values. `visible` says whether the
    request after the question showed the needle.
    """
    given = answer_of(calls)
    if given is None:
        return "no answer"
    if given == task.expected:
        return ""
    if given in ((NOT_FOUND,), ()):
        if visible:
            return "abstained"
        looked = any(call.name in LOOKING for call in calls)
        return "looked and missed" if looked else "should have looked"
    part = "stale value" if task.traits.purged else "near miss"
    wrong = dict(task.wrong) | dict.fromkeys(task.tracked, part)
    kinds = [wrong.get(value, "invented answer") for value in given]
    return next((kind for kind in kinds if kind != "near miss"), "near miss")


def answer_of(calls: Sequence[ToolCall]) -> tuple[str, ...] | None:
    """The values of the last call of `answer`, `None` when there is none."""
    return next((_values(call) for call in reversed(calls) if call.name == "answer"), None)


def _values(call: ToolCall) -> tuple[str, ...]:
    """What a call of `answer` gives; one empty value for what is no list of texts."""
    try:
        data: Any = loads(call.arguments)
    except ValueError:
        return ("",)
    values = data.get("values") if isinstance(data, dict) else None
    if not isinstance(values, list):
        return ("",)
    return tuple(v if isinstance(v, str) else "" for v in cast(list[Any], values))


def calls_after(entries: Sequence[Entry], question: int) -> list[ToolCall]:
    """The calls that the model made after an event, in order."""
    return [
        block
        for entry in entries
        if entry.seq > question and isinstance(entry.event, ReplyReceived)
        for block in entry.event.content
        if isinstance(block, ToolCall)
    ]


def question_of(entries: Sequence[Entry]) -> int:
    """Position of the newest message of the user."""
    return max(
        e.seq for e in entries if isinstance(e.event, MessageAdded) and e.event.origin == "user"
    )


def cut_characters(entries: Sequence[Entry], pages: Sequence[str]) -> list[str]:
    """Where a preview of one of these pages shows a part of a character: a mark without its letter."""
    faults: list[str] = []
    for shown in previews(entries):
        lines = shown.split("\n")
        borders = [n for n, line in enumerate(lines) if line.startswith("[... ")]
        for border in borders[:1]:
            before, after = lines[border - 1], lines[border + 1]
            faults += [f"{p[:20]!r} follows" for p in _following(before, pages) if _is_mark(p[:1])]
            faults += [f"begins with {after[:20]!r}"] if _is_mark(after[:1]) else []
    return faults


def previews(entries: Sequence[Entry]) -> list[str]:
    """The words that stand for stored results."""
    return [
        block.text
        for entry in entries
        if isinstance(entry.event, ToolReturned)
        for block in entry.event.content
        if isinstance(block, Stored)
    ]


def _following(shown: str, pages: Sequence[str]) -> list[str]:
    places = ((page, page.find(shown)) for page in pages)
    return [page[at + len(shown) :] for page, at in places if shown and at >= 0]


def _is_mark(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] == "M"
