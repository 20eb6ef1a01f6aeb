"""The needle families: what each puts on the pages, what it asks, and what is right.

A family is one function of a draft and one entry in `FAMILIES`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .drafting import PAGES, Draft
from .values import look_alike, value_of
from .wording import NOT_FOUND

JOIN = " ⧺ "
"""Stands between the halves of a value that is to be put together."""
FILE_PAGE = "[enter this page]"
"""The last line of a page that the agent is to enter, its halves joined."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what is known of its answers."""

    question: str
    expected: tuple[str, ...]
    """The exact values, in order."""
    tracked: tuple[str, ...]
    """What must not stand in a request for an arm to test anything; empty for an absent needle."""
    wrong: tuple[tuple[str, str], ...] = ()
    """Wrong values of which the kind is known: the value and the name of the failure."""


@dataclass(frozen=True, slots=True)
class Family:
    """One family."""

    build: Callable[[Draft], Asked]
    """Puts the needle on the pages that were filled."""
    looks: Literal["history", "files"] = "history"
    """The tools by which the agent can look back: over its history, or over its files."""
    large: Literal["none", "one", "three"] = "none"
    """How many pages are so large that they are stored as artifacts."""
    dense: bool = False
    wide: bool = False
    decomposed: bool = False
    """True for pages in the decomposed normal form (NFD), asked in the composed one (NFC)."""
    child: bool = False
    """True when a subagent reads the first pages and the asked agent never sees them."""
    purged: bool = False
    """True when the needle is taken out of the whole run before the question."""


def _plain(d: Draft) -> Asked:
    d.place(d.line(d.name, d.label, d.value), d.anywhere())
    return Asked(d.ask(), (d.value,), (d.value,))


def _look_alike(d: Draft) -> Asked:
    asked = _plain(d)
    wrong: list[tuple[str, str]] = []
    for name in d.random.sample([n for n in d.words.names if n != d.name], 3):
        value = look_alike(d.value, d.random)
        d.place(d.line(name, d.label, value), d.anywhere())
        wrong.append((value, "near miss"))
    return Asked(asked.question, asked.expected, asked.tracked, tuple(wrong))


def _overwritten(d: Draft) -> Asked:
    old, (before, after) = look_alike(d.value, d.random), d.ascending(2)
    d.place(d.line(d.name, d.label, old), before)
    d.place(d.line(d.name, d.label, d.value), after)
    return Asked(d.ask(), (d.value,), (d.value,), ((old, "stale value"),))


def _value_at_time(d: Draft) -> Asked:
    earlier, later = look_alike(d.value, d.random), look_alike(d.value[::-1], d.random)[::-1]
    days = [f"20{50 + n}-0{n + 1}-1{d.random.randrange(10)}" for n in range(3)]
    for page, day, value in zip(d.ascending(3), days, (earlier, d.value, later), strict=True):
        line = d.words.dated.format(name=d.name, label=d.label, value=value, date=day)
        d.place(line, page)
    question = d.words.question_dated.format(name=d.name, label=d.label, date=days[1])
    wrong = ((earlier, "stale value"), (later, "near miss"))
    return Asked(question, (d.value,), (d.value,), wrong)


def _absent(d: Draft) -> Asked:
    return Asked(d.ask(), (NOT_FOUND,), ())


def _position(d: Draft) -> Asked:
    d.place(d.line(d.name, d.label, d.value), d.seed % 5 * (PAGES - 1) // 4)
    return Asked(d.ask(), (d.value,), (d.value,))


def _multi_value(d: Draft) -> Asked:
    values = (d.value, *(value_of(d.kind, d.random) for _ in range(2)))
    for page, value in zip(d.ascending(3), values, strict=True):
        d.place(d.words.further.format(name=d.name, label=d.label, value=value), page)
    return Asked(d.ask(d.words.question_all), values, values)


def _multi_query(d: Draft) -> Asked:
    other = value_of(d.kind, d.random)
    d.place(d.line(d.name, d.label, d.value), d.anywhere())
    d.place(d.line(d.name2, d.label2, other), d.anywhere())
    return Asked(d.ask(d.words.question_two), (d.value, other), (d.value, other))


def _two_hops(d: Draft) -> Asked:
    d.place(d.line(d.name, d.words.relation, d.name2), d.anywhere())
    d.place(d.line(d.name2, d.label, d.value), d.anywhere())
    wrong = ((d.name2, "near miss"),)
    return Asked(d.ask(d.words.question_hop), (d.value,), (d.value,), wrong)


def _no_shared_words(d: Draft) -> Asked:
    asked, words = _plain(d), d.words
    label = words.other_labels[words.labels.index(d.label)]
    name = words.other_names[words.names.index(d.name)]
    return Asked(words.question.format(name=name, label=label), asked.expected, asked.tracked)


def _in_artifact(d: Draft) -> Asked:
    d.place(d.line(d.name, d.label, d.value), min(d.large))
    return Asked(d.ask(), (d.value,), (d.value,))


def _one_of_artifacts(d: Draft) -> Asked:
    """In the first, the middle or the last of three."""
    d.place(d.line(d.name, d.label, d.value), sorted(d.large)[d.seed % 3])
    return Asked(d.ask(), (d.value,), (d.value,))


def _argument(d: Draft) -> Asked:
    """No page says the value: the agent joins its halves, and writes it into the arguments of a call."""
    page, half = d.anywhere(), len(d.value) // 2
    line = d.line(d.name, d.label, d.value[:half] + JOIN + d.value[half:])
    d.place(line, page)
    d.pages[page].append(FILE_PAGE)
    return Asked(d.ask(), (d.value,), (d.value,))


FAMILIES: dict[str, Family] = {
    "identifier": Family(_plain),
    "look-alike": Family(_look_alike),
    "multi-key": Family(_plain, dense=True),
    "multi-value": Family(_multi_value),
    "multi-query": Family(_multi_query),
    "overwritten": Family(_overwritten),
    "value-at-time": Family(_value_at_time),
    "two-hops": Family(_two_hops),
    "no-shared-words": Family(_no_shared_words),
    "decomposed": Family(_plain, decomposed=True),
    "position": Family(_position),
    "argument": Family(_argument),
    "absent": Family(_absent),
    "destroyed": Family(_plain, purged=True),
    "file-search": Family(_plain, looks="files"),
    "artifact": Family(_in_artifact, looks="files", large="one"),
    "artifact-position": Family(_one_of_artifacts, looks="files", large="three"),
    "preview-cut": Family(_in_artifact, looks="files", large="one", wide=True, decomposed=True),
    "subagent": Family(_plain, looks="files", child=True),
}
"""By name."""
