"""Choosing quotes: the sentences of found passages that answer a question, best first, each said once."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from filesystem import Picked, pick_sentences, terms
from memory import JsonObject

from .extractive_request import Answered, objects

_POOL = 80  # sentences scored before the fine choice
_SAME = 0.75  # share of common terms from which two sentences say the same
_FAR = 0.3  # a quote under this share of the best one's score is left out
_HEADING, _RANK, _VALUES, _ASKED_VALUES = (
    0.25,
    0.15,
    0.05,
    0.25,
)  # weights beside the sentence's 0 to 1
_STALE = 0.5  # archived and superseded sentences count this much
_MARK = re.compile(r"(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)])\s+|\|\s*")
_RULE = re.compile(r"\s*\n\s*\|?[\s:|-]*--[\s:|-]*(?:\n|$)")
_HEADING_LINE = re.compile(r"#{1,6}\s+(.*)")
_VALUE = re.compile(r"\d[\d.,]*|(?<![.!?:|*]\s)(?<!^)\b[A-Z][\w&+-]*[\w+]")
_ASKS_VALUES = re.compile(
    r"\d|\bhow (?:many|much|long|old|large|big|fast|far|often)\b|\bwhen\b|\bwho\b|"
    r"\b(?:numbers?|figures?|dates?|names?|pric\w*|costs?|revenues?|fund\w*|financ\w*|rates?|percent\w*|"
    r"amounts?|limits?|sizes?|defaults?|metrics?|performance|statistics|roadmap|timeline|years?)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Found:
    """One passage that a search returned."""

    evidence: str
    heading: str
    current: bool
    """False when its source is archived or superseded."""
    text: str
    rank: int
    """Its best place in a result, from 0."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim slice of a passage."""

    evidence: str
    text: str
    score: float
    """Higher is better; comparable inside one choice only."""
    current: bool

    @property
    def tidy(self) -> str:
        """The same words with single spaces."""
        return " ".join(self.text.split())


def passages_in(results: Iterable[Answered]) -> list[Found]:
    """The passages of confident search results, each once, those that rank best first."""
    found: dict[str, Found] = {}
    for result in results:
        data = None if result.failed else result.data()
        if not isinstance(data, dict) or not data.get("confident"):
            continue
        for rank, each in enumerate(objects(data, "passages")):
            passage = _found(each, rank)
            known = found.get(passage.evidence)
            if passage.text and (known is None or rank < known.rank):
                found[passage.evidence] = passage
    return sorted(found.values(), key=lambda passage: (passage.rank, passage.evidence))


def choose_quotes(question: str, passages: Sequence[Found], limit: int) -> list[Quote]:
    """At most `limit` quotes, best first.

    Values (numbers, names) count for more when the question asks for such. A sentence of an archived or
    superseded source is used only when no current one answers.
    """
    asked = set(terms(question))
    wanted = asks_values(question)
    picked = pick_sentences(question, [passage.text for passage in passages], _POOL)
    quotes = [
        quote
        for each in picked
        if (quote := _quote(each, passages[each.text_index], asked, wanted))
    ]
    quotes.sort(key=lambda quote: (-round(quote.score, 6), quote.evidence, quote.text))
    current = [quote for quote in quotes if quote.current]
    chosen = withoutrepeats(current or quotes)
    return [quote for quote in chosen if quote.score >= _FAR * chosen[0].score][:limit]


def asks_values(question: str) -> bool:
    """True when a question asks for numbers, dates or names."""
    return _ASKS_VALUES.search(question) is not None


def values_in(text: str) -> set[str]:
    """The numbers and names in a text: what a reader would look up in it."""
    return {value.strip(".,").lower() for value in _VALUE.findall(text)}


def withoutrepeats(quotes: Sequence[Quote]) -> list[Quote]:
    """Drop what an earlier quote says already: nearly the same terms, and no number of its own."""
    kept: list[tuple[Quote, set[str]]] = []
    for quote in quotes:
        words = set(terms(quote.text))
        if not any(repeats(words, other) for _, other in kept):
            kept.append((quote, words))
    return [quote for quote, _ in kept]


def repeats(words: set[str], other: set[str]) -> bool:
    """True when one sentence's terms say hardly more than another's; a number of its own is more."""
    if any(word[0].isdigit() for word in words - other):
        return False
    return len(words & other) >= _SAME * len(words)


def _found(passage: JsonObject, rank: int) -> Found:
    return Found(
        evidence=str(passage.get("evidence", "")),
        heading=str(passage.get("heading", "")),
        current=passage.get("status", "current") == "current",
        text=str(passage.get("text", "")),
        rank=rank,
    )


def _quote(picked: Picked, passage: Found, asked: set[str], wanted: bool) -> Quote | None:
    """A sentence as a quote, `None` for headings, column names and scraps."""
    start = picked.start
    if _HEADING_LINE.match(picked.sentence) or _RULE.match(passage.text, picked.end):
        return None
    while mark := _MARK.match(passage.text, start, picked.end):
        start = mark.end()
    text = passage.text[start : picked.end].rstrip("| \t\r\n")
    words = len(terms(text))
    if words < 3 or text.endswith(":"):
        return None
    above = set(terms(f"{passage.heading} {_heading_above(passage.text, picked.start)}"))
    density = min(len(values_in(text)) / (words**0.5), 1.0)
    score = (
        picked.score
        + _HEADING * len(above & asked) / max(len(asked), 1)
        + _RANK / (1 + passage.rank)
        + (_ASKED_VALUES if wanted else _VALUES) * density
    )
    quote = Quote(passage.evidence, text, score, passage.current)
    return quote if passage.current else replace(quote, score=score * _STALE)


def _heading_above(text: str, at: int) -> str:
    """The nearest heading line before a sentence, `""` when there is none in the passage."""
    for line in reversed(text[:at].splitlines()):
        if match := _HEADING_LINE.match(line):
            return match[1]
    return ""
