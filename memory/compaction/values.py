"""Exact values of a structured result: numbers, ids and dates of a JSON text, each under its key.

They are what cannot be said in other words, so the line that stands for a result keeps some of them, as far
as the target leaves room. Which ones is decided by their form and their place alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, cast

from ..encoding import dumps, loads
from ..redaction import redact
from ..redaction_keys import names_secret
from ..replacing import Replacement
from .proposing import Goal
from .view import View

ROOMS = (400, 200, 100, 50)
"""Characters that the values of one result may have; the most that fits is taken for all alike."""
SHARE = 0.15
"""Of the target: tokens that the values of one compaction may add; lines stay when the next one comes."""
_MOST_CHARS, _MOST_VALUES = 200_000, 400
"""Of a result: longer ones are not read, and no more values are looked at."""
_EXACT = re.compile(r"(?=\D*\d|\w+://)(?:[^\s<>]{1,64}|[\d .,:+/()-]{1,64})")
"""One word with a digit in it, an address, or figures and blanks: no sentence, and no mark of a frame."""
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")
_LONGEST_NAME = 40


def is_structured(text: str) -> bool:
    """True when a text may be a JSON object or list, by its first character."""
    return text[:64].lstrip()[:1] in ("{", "[") and len(text) <= _MOST_CHARS


def values_in(text: str, room: int) -> str:
    """The first exact values of a JSON text that fit into `room` characters, `key value, value; key value`.

    Half of the text at most. `""` for a text that is no JSON, or holds none. What is under a secret's
    name or has a secret's form is left out.
    """
    room = min(room, len(text) // 2)
    chosen: dict[str, list[str]] = {}
    for name, value in dict.fromkeys(_scalars(text)):
        cost = len(value) + 2 + (0 if name in chosen else len(name) + 1)
        if cost <= room and redact(value, {}) == value:
            room -= cost
            chosen.setdefault(name, []).append(value)
    return "; ".join(f"{name} {', '.join(values)}".lstrip() for name, values in chosen.items())


def filled(
    view: View,
    goal: Goal,
    bare: Sequence[Replacement],
    wide: Callable[[int], Sequence[Replacement]],
) -> Sequence[Replacement]:
    """Replacements without values, or those of `wide`, given the widest room that fits the target."""
    least = view.apply(bare).total
    most = min(goal.target, least + int(goal.target * SHARE))
    for room in ROOMS if least < most else ():
        made = wide(room)
        if view.apply(made).total <= most:
            return made
    return bare


def _scalars(text: str) -> Iterator[tuple[str, str]]:
    """The exact values of a JSON text, in their order, each with its key; where objects under several keys
    have one of that name, the key of its object stands before it."""
    if not is_structured(text):
        return
    try:
        data: Any = loads(text)
    except (ValueError, RecursionError):
        return
    leaves = list(islice(_leaves(data), _MOST_VALUES))
    holders: dict[str, set[str]] = {}
    for holder, key, _ in leaves:
        holders.setdefault(key, set()).add(holder)
    for holder, key, value in leaves:
        word = value if isinstance(value, str) else dumps(value).decode("utf-8", "replace")
        if _EXACT.fullmatch(word):
            yield _name(key if len(holders[key]) == 1 else f"{holder}.{key}"), word


def _leaves(data: Any) -> Iterator[tuple[str, str, Any]]:
    """Texts and numbers, each with its key and the key of the object that it is in."""
    waiting: list[tuple[str, str, Any]] = [("", "", data)]
    while waiting:
        holder, key, value = waiting.pop()
        if isinstance(value, dict):
            parts = cast(dict[str, Any], value)
            named = [(key, name, part) for name, part in parts.items() if not names_secret(name)]
            waiting += reversed(named)
        elif isinstance(value, list):
            waiting += [("", key, part) for part in reversed(cast(list[Any], value))]
        elif value is not None and not isinstance(value, bool):
            yield holder, key, value


def _name(words: str) -> str:
    return _NOT_IN_NAMES.sub("_", words)[-_LONGEST_NAME:]
