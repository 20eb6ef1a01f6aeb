"""Constraints against calls, by code: what can be decided is, what cannot is said to be unchecked.

Two forms are decidable without understanding: a tool that is forbidden by its name, and a number of
calls of it that is allowed; and a path that is forbidden to change. A rule with a condition in it ("without
asking", "unless") is none of these.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from memory import ToolCall

_FORBIDS = re.compile(
    r"\b(?:never|must not|mustn't|do not|don't|should not|shouldn't|not allowed|forbidden"
    r"|không được|không bao giờ|đừng|cấm)\b|不得|不要|不能|禁止|してはいけない|しないで",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:without|before|until|unless|except|other than|if|when|more than|trừ|trước khi|nếu|mà không)\b"
    r"|除非|之前|如果|前に|以外|場合",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"(?:at most|no more than|not more than|up to|maximum of|tối đa|不超过|最多|至多|最大)\s*"
    r"(\d{1,4}|once|twice|one|two|three|four|five)\b"
    r"|(\d{1,4})\s*(?:回以内|次以内)",
    re.IGNORECASE,
)
_NUMBERS = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "four": 4, "five": 5}
_EACH = re.compile(r"\b(?:per|each|every|mỗi)\b|每|ごと", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/.-])(?:/?[\w.-]+/)*[\w-]+\.[A-Za-z]\w{0,7}(?![\w/])")
_CHANGES = re.compile(r"write|edit|delete|remove|move|rename|create|append|patch|replace|update")


@dataclass(frozen=True, slots=True)
class Done:
    """One call that was made and did not fail."""

    seq: int
    """Position of its result in the log."""
    thread: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class Checked:
    """A constraint, and what code can say about it."""

    text: str
    seq: int
    """Position of the event that says it first."""
    verdict: Literal["held", "violated", "unchecked"]
    why: str = ""


def check_rule(text: str, seq: int, tools: Collection[str], done: Sequence[Done]) -> Checked:
    """A constraint against the calls that were made after it."""
    after = [each for each in done if each.seq > seq]
    named = [
        tool
        for tool in tools
        if re.search(rf"(?<![A-Za-z0-9_]){re.escape(tool)}(?![A-Za-z0-9_])", text)
    ]
    most = _MOST.search(text)
    if most and len(named) == 1 and not _EACH.search(text):
        word = (most.group(1) or most.group(2)).lower()
        allowed = _NUMBERS.get(word) or int(word)
        made = [each for each in after if each.call.name == named[0]]
        words = f"{named[0]} was called {len(made)} times, {allowed} allowed"
        return Checked(text, seq, "violated" if len(made) > allowed else "held", words)
    if not _FORBIDS.search(text) or _CONDITION.search(text):
        return Checked(text, seq, "unchecked")
    if named:
        return _forbidden(text, seq, [each for each in after if each.call.name in named])
    paths = set(_PATH.findall(text))
    if paths:
        touched = [
            each
            for each in after
            if _CHANGES.search(each.call.name) and paths & set(_PATH.findall(each.call.arguments))
        ]
        return _forbidden(text, seq, touched)
    return Checked(text, seq, "unchecked")


def _forbidden(text: str, seq: int, against: Sequence[Done]) -> Checked:
    if not against:
        return Checked(text, seq, "held", "no such call was made")
    first = against[0]
    return Checked(
        text, seq, "violated", f"event {first.seq} of {first.thread!r}: {first.call.name}"
    )
