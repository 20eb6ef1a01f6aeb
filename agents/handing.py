"""Handing back: what a parent reads of a child's outcome, and how it is made to fit its cap.

The cap counts the JSON as it stands in the parent's context. What does not fit is cut by priority:
answer, verified findings, other findings, open questions, next steps, artifacts.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

from memory import Counter, JsonObject, cut_to_tokens, dumps

from .outcome import Outcome

CAP = 2_000
"""Tokens of one conclusion at most."""
LEAST = 150
"""Tokens below which a conclusion says too little to be worth its place."""
ESTIMATE = 1.15
"""What an estimated count may be too low by."""
ANSWER_SHARE = 0.6
"""Of the cap, for the answer, when something stands behind it."""
REASON_TOKENS = 60
_FLOOD_CHARS = 20
"""Characters a token; a text of more than this is counted from its beginning first."""
_TRIES = 100
"""Parts that are tried before the rest is left out: a flood must not cost time."""
_LISTS = ("open_questions", "next_steps", "artifacts")


@dataclass(frozen=True, slots=True)
class Handing:
    """How a session hands back to its parent."""

    cap: int = CAP
    """Tokens of what the parent reads, as serialised there."""


def size_of(value: Any, counter: Counter) -> int:
    """Tokens of a JSON value as it stands in the parent's context; an estimate errs upwards."""
    tokens = counter.count(dumps(value).decode("utf-8", "replace"))
    return tokens if counter.exact else int(tokens * ESTIMATE) + 1


def fits(value: Any, cap: int, counter: Counter) -> bool:
    """True when a JSON value is at most `cap` tokens; of a flood only the beginning is counted."""
    text = dumps(value).decode("utf-8", "replace")
    beginning = text[: cap * _FLOOD_CHARS]
    for part in dict.fromkeys((beginning, text)):
        tokens = counter.count(part)
        if (tokens if counter.exact else int(tokens * ESTIMATE) + 1) > cap:
            return False
    return True


def shown(outcome: Outcome) -> JsonObject:
    """What the parent reads of an outcome, whole."""
    found: JsonObject = {
        "agent": outcome.agent,
        "thread": outcome.thread,
        "status": outcome.status,
    }
    if outcome.reason:
        found["reason"] = outcome.reason
    if outcome.output:
        found["conclusion"] = _pruned(outcome.output)
    if outcome.text:
        found["text" if outcome.ok else "found"] = outcome.text
    return found


def fitted(outcome: Outcome, cap: int, counter: Counter, full: str = "") -> JsonObject:
    """What the parent reads of an outcome, at most `cap` tokens; `full` says where all of it is.

    A cap too small for even the status gives the status alone.
    """
    whole = shown(outcome)
    if fits(whole, cap, counter):
        return whole
    base = {key: whole[key] for key in ("agent", "thread", "status")}
    base["cut"] = f"shortened; all of it: {full}" if full else "shortened; the rest is not kept"
    if outcome.reason:
        base["reason"] = cut(outcome.reason, min(REASON_TOKENS, cap // 3), counter)
    if size_of(base, counter) > cap:
        return {key: base[key] for key in ("thread", "status")}
    fit = _Fit(base, cap, counter)
    if outcome.output:
        fit.output(whole["conclusion"])
    if outcome.text:
        fit.text("text" if outcome.ok else "found", outcome.text, cap)
    return base


def cut(text: str, limit: int, counter: Counter) -> str:
    """The beginning of a text that is at most `limit` tokens as JSON, with a mark when it was cut."""
    if limit <= 4:
        return ""
    end = cut_to_tokens(text, 0, limit, counter)
    while end > 0:
        part = text if end >= len(text) else text[:end].rstrip() + " [...]"
        if size_of(part, counter) <= limit:
            return part
        end = int(end * 0.85)
    return ""


class _Fit:
    """Adds parts to a base while they fit."""

    def __init__(self, base: JsonObject, cap: int, counter: Counter) -> None:
        self.base, self.cap, self.counter = base, cap, counter

    @property
    def room(self) -> int:
        """Tokens left."""
        return self.cap - size_of(self.base, self.counter)

    def text(self, key: str, text: str, most: int, into: JsonObject | None = None) -> None:
        """Add as much of a text as fits."""
        target = self.base if into is None else into
        words = cut(text, min(most, self.room) - 12, self.counter)
        if words:
            target[key] = words
            if self.room < 0:
                del target[key]

    def output(self, whole: JsonObject) -> None:
        """Add an output part by part; one of the user's own type is added as the beginning of its JSON."""
        if not isinstance(whole.get("answer"), str):
            self.text("conclusion_begins", dumps(whole).decode("utf-8", "replace"), self.cap)
            return
        part: JsonObject = {}
        self.base["conclusion"] = part
        if "status" in whole:
            part["status"] = whole["status"]
        more = any(key in whole for key in ("findings", *_LISTS))
        self.text("answer", whole["answer"], int(self.cap * (ANSWER_SHARE if more else 1)), part)
        findings = cast(list[Any], whole.get("findings") or [])
        self.listed(part, "findings", sorted(findings, key=_unverified))
        for key in _LISTS:
            self.listed(part, key, cast(list[Any], whole.get(key) or []))

    def listed(self, part: JsonObject, key: str, values: Iterable[Any]) -> None:
        """Add those of a list's members that fit whole."""
        kept: list[Any] = []
        part[key] = kept
        for _, value in zip(range(_TRIES), values, strict=False):
            kept.append(value)
            if self.room < 0:
                kept.pop()
        if not kept:
            del part[key]


def _unverified(finding: Any) -> int:
    """0 for a finding all of whose quotes were found, 1 for one that nobody checked, 2 for a false one."""
    citations = finding.get("citations") if isinstance(finding, dict) else None
    marks = [citation.get("verified") for citation in citations or []]
    if any(mark is False for mark in marks):
        return 2
    return 0 if marks and all(marks) else 1


def _pruned(value: Any) -> Any:
    """A value without the members that say nothing; false and 0 say something."""
    if isinstance(value, list):
        return [_pruned(part) for part in cast(list[Any], value)]
    if not isinstance(value, dict):
        return value
    parts = ((key, _pruned(part)) for key, part in cast(JsonObject, value).items())
    return {key: part for key, part in parts if part is not None and part not in ("", [], {})}
