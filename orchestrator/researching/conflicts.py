"""Conflicts: two sources that give the same quantity a different value, or the same event another date.

Made to raise few false alarms, so it misses some: the words beside the numbers must be nearly the same,
one side's words all found on the other, and nothing may tell the two apart: a name, a model number, a
word such as "target", another year or quarter. A difference that rounding explains is none.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import combinations

from filesystem import Passage, terms

from .quantities import Number, months, numbers, plain

SHARED = 0.6
"""Share of the terms of both sides together that both must have."""
LEAST = 2
"""Terms that both must have, whatever their share."""
ABOUT_TOLERANCE = Decimal("0.1")
"""Relative difference that "about" or "over" before a number explains."""

MOST_VALUES = 3
"""Values of one quantity from which the quotes are taken for a series, such as the rows of a log."""

_IDLE = (
    "a an the of and or to in on at for by with from as is are was were be been has have had it its this "
    "that these those which will would can may now currently about around over under nearly almost roughly "
    "some up than more at least approximately ca circa stood stands stand remains remained reached reach "
    "grew grown rose amounts amounted came comes ended per we our their there"
)
# Words that make another quantity of the same words.
_TELLING = (
    "target goal plan planned forecast expected projected estimate budget guidance minimum maximum min max "
    "average mean median gross net previous former initial old new first second third last next increase "
    "decrease growth change up down daily weekly monthly quarterly annual annually yearly not no without "
    "before after north south east west left right upper lower best worst"
)
_EVENT = re.compile(
    r"\b(?:launch(?:es|ed)?|founded|due|scheduled|planned|expected|deadline|opens|opened|closes|closed|signed|"
    r"releases?|released|starts?|started|begins|began|ends|ended|expires?|expired|completed|delivered|ships|"
    r"shipped|announced|acquired|effective|go[- ]live|available|retires|retired|deprecated|born|died)\b",
    re.I,
)
_ABOUT = re.compile(
    r"(?:about|around|over|under|nearly|almost|roughly|some|than|up to|least|most|approx\w*\.?|circa|ca\.?"
    r"|[~≈<>])\W{0,3}$",
    re.I,
)
_IDENTIFIER = re.compile(r"\b[A-Za-z]+[-_]?\d[\w-]*")
_NOT_IDENTIFIER = re.compile(r"(?:[QH][1-4]|FY|USD|EUR|GBP|CHF|US)", re.I)
_CLAUSE = re.compile(r"(?<=[.;!?])\s+")
_UNIT = re.compile(r"\s?(°\s?[CF]|[^\W\d_]+)")
_NAME = re.compile(r"(?<!^)(?<![.!?:|*\"]\s)\b[A-Z][\w&]*")


@dataclass(frozen=True, slots=True)
class Stated:
    """A verified quote and where it stands."""

    quote: str
    passage: Passage
    place: str


@dataclass(frozen=True, slots=True)
class _Period:
    years: frozenset[str]
    parts: frozenset[str]
    """Quarters and halves."""
    months: frozenset[str]
    written: str

    @property
    def single(self) -> bool:
        return bool(self) and max(len(self.years), len(self.parts), len(self.months)) == 1

    def __bool__(self) -> bool:
        return bool(self.years or self.parts or self.months)

    def contradicts(self, other: "_Period") -> bool:
        """True when both name a year, a quarter or a month, and not the same."""
        pairs = (
            (self.years, other.years),
            (self.parts, other.parts),
            (self.months, other.months),
        )
        return any(mine and theirs and mine != theirs for mine, theirs in pairs)

    def is_other_than(self, other: "_Period") -> bool:
        """True when values of these periods are different quantities; a year is not its quarter."""
        return self.contradicts(other) or bool(self and other and self.parts != other.parts)


@dataclass(frozen=True, slots=True)
class _Claim:
    stated: Stated
    written: str
    value: Decimal | None
    """`None` for a date."""
    slack: Decimal
    """How far another value may be off and still be the same one, rounded."""
    words: frozenset[str]
    names: frozenset[str]
    identifiers: frozenset[str]
    period: _Period


Conflict = tuple[list[str], tuple[Stated, str], tuple[Stated, str]]
"""The shared terms; the two quotes, each with the value as written."""


def find_conflicts(stated: Sequence[Stated]) -> list[Conflict]:
    """The conflicts between quotes of different passages, in the order of the quotes, each once."""
    groups: dict[str, list[_Claim]] = defaultdict(list)
    for each in dict.fromkeys(stated):
        for unit, claim in _claims(each):
            groups[unit].append(claim)
    found: dict[str, dict[frozenset[str], Conflict]] = defaultdict(dict)
    for unit, claims in groups.items():
        for one, other in combinations(claims, 2):
            if _same_subject(one, other) and _may_differ(one, other):
                about = sorted(one.words & other.words)
                pair = frozenset({one.written, other.written})
                sides = (one.stated, one.written), (other.stated, other.written)
                found[f"{unit} {about}"].setdefault(pair, (about, *sides))
    return [
        conflict
        for pairs in found.values()
        if len(frozenset[str]().union(*pairs)) <= MOST_VALUES
        for conflict in pairs.values()
    ]


def _claims(stated: Stated) -> Iterator[tuple[str, _Claim]]:
    """What a quote claims, with its unit: each number whose unit is said once in its clause, each date."""
    above = _period(plain(f"{stated.passage.heading}; {stated.passage.source}"))
    for text in _CLAUSE.split(plain(stated.quote)):
        identifiers = [match for match in _IDENTIFIER.finditer(text) if not _is_period(match)]
        inside = [match.span() for match in identifiers]
        inside += [(start, end) for _, start, end in months(text)]
        found = [each for each in numbers(text) if not any(a <= each.start < b for a, b in inside)]
        period = _period(text, found)
        units: dict[str, list[Number]] = defaultdict(list)
        for number in found:
            if number.kind == "number":
                units[_unit(text, number)].append(number)
        rest = _without(text, [*inside, *((each.start, each.end) for each in found)])
        words = frozenset(terms(rest)) - _stems(_IDLE)
        names = frozenset(match.group().lower() for match in _NAME.finditer(rest))
        known = frozenset(match.group().lower() for match in identifiers)
        for unit, same in units.items():
            if len(same) == 1 and same[0].value is not None:
                slack = _slack(text, same[0], same[0].value)
                claim = _Claim(
                    stated,
                    same[0].written,
                    same[0].value,
                    slack,
                    words,
                    names,
                    known,
                    period or above,
                )
                yield unit, claim
        if period.single and _EVENT.search(text):
            yield (
                "date",
                _Claim(stated, period.written, None, Decimal(0), words, names, known, period),
            )


def _may_differ(one: _Claim, other: _Claim) -> bool:
    """True when the two values cannot both be right for one quantity."""
    first, second = one.stated.passage, other.stated.passage
    if first.id == second.id:
        return False
    if first.source == second.source and " | " in one.stated.quote and " | " in other.stated.quote:
        return False  # rows of one table
    if one.value is None or other.value is None:
        return one.period.contradicts(other.period)
    if one.period.is_other_than(other.period):
        return False
    return abs(one.value - other.value) > max(one.slack, other.slack)


def _same_subject(one: _Claim, other: _Claim) -> bool:
    shared, either = one.words & other.words, one.words | other.words
    if len(shared) < LEAST or len(shared) < SHARED * len(either):
        return False
    if one.identifiers != other.identifiers or shared not in (one.words, other.words):
        return False
    if (one.words ^ other.words) & _stems(_TELLING):
        return False
    return not (_only_here(one, other) or _only_here(other, one))


def _only_here(one: _Claim, other: _Claim) -> bool:
    """True when a claim has a name that the other's passage does not know: it is about part of it."""
    passage = other.stated.passage
    context = f"{passage.source} {passage.heading} {passage.text}".lower()
    return any(name not in context for name in one.names)


def _period(text: str, found: Sequence[Number] | None = None) -> _Period:
    found = numbers(text) if found is None else found
    keys: set[str] = set()
    spans = [(start, end) for _, start, end in months(text)]
    for number in found:
        if number.kind in ("year", "quarter", "date"):
            keys |= number.readings[0]
            spans.append((number.start, number.end))
    keys |= {key for key, _, _ in months(text)}
    spans.sort()
    return _Period(
        years=frozenset(key for key in keys if key.isdigit() and len(key) == 4),
        parts=frozenset(key for key in keys if key[0] in "qh"),
        months=frozenset(key for key in keys if key[0] == "m"),
        written=text[spans[0][0] : spans[-1][1]] if spans else "",
    )


def _is_period(match: re.Match[str]) -> bool:
    return _NOT_IDENTIFIER.match(match.group()) is not None


def _unit(text: str, number: Number) -> str:
    if number.unit:
        return number.unit
    after = _UNIT.match(text, number.end)
    return " ".join(terms(after[1])) if after else ""


def _slack(text: str, number: Number, value: Decimal) -> Decimal:
    rounding = number.step / 2
    if _ABOUT.search(text[max(0, number.start - 16) : number.start]):
        return max(rounding, abs(value) * ABOUT_TOLERANCE)
    return rounding


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """A clause without its numbers, identifiers and dates."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


@cache
def _stems(words: str) -> frozenset[str]:
    return frozenset(terms(words))
