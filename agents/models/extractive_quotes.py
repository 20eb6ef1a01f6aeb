"""Choosing quotes: the sentences of found passages that answer a question, best first, each said once."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from filesystem import Picked, pick_sentences, terms
from memory import JsonObject

from .extractive_request import Answered, objects

_FEWEST_TERMS = 3
_POOL = 80  # sentences scored before the fine choice
_SAME = 0.75  # share of common terms from which two sentences say the same
# A quote under this share of the best one's score is left out. On CLAP NQ and HotpotQA 0.5 finds 89 and
# 79 % of the sentences wanted, 0.3 only 5 % more at half the precision.
_FAR, _FAR_FOR_TOPICS = 0.5, 0.3
_HEADING, _RANK, _VALUES = 0.25, 0.3, 0.15  # beside the sentence's own 0 to 1; flat around here
_STALE = 0.5  # archived and superseded sentences count this much
_MARK = re.compile(r"(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)])\s+|\|\s*")
_RULE = re.compile(r"\s*\n\s*\|?[\s:|-]*(?:--|==)[\s:|=-]*(?:\n|$)")
# A line in bold alone under a title says who may read it and when it was written.
_EMPHASISED = re.compile(r"(\*\*|__)[^*\n]*[^*.!?。\n]\1")
# Fenced code and comments; one that does not end in the passage reaches to the passage's end.
_BLOCK = re.compile(
    r"^[ \t]*(?P<fence>```|~~~)(?![^\n]*`).*?(?:^[ \t]*(?P=fence)|\Z)|<!--.*?(?:-->|\Z)",
    re.M | re.S,
)
_BORDER = re.compile(r"```|~~~|<!--")  # what the border of a block cuts through is no sentence
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
    picked = pick_sentences(question, [passage.text for passage in passages], _POOL)
    above = _heading_fits(question.split(": ", 1)[-1], passages, picked)
    asked = values_in(f"; {question}")
    weight = _VALUES if asks_values(question) else 0.0
    quotes: list[Quote] = []
    for each, fit in zip(picked, above, strict=True):
        passage = passages[each.text_index]
        text = _quotable(each, passage.text)
        if text:
            score = (
                each.score
                + _HEADING * fit
                + _RANK / (1 + passage.rank)
                + weight * _density(text, asked)
            )
            score *= 1.0 if passage.current else _STALE
            quotes.append(Quote(passage.evidence, text, score, passage.current))
    quotes.sort(key=lambda quote: (-round(quote.score, 6), quote.evidence, quote.text))
    chosen = without_repeats([quote for quote in quotes if quote.current] or quotes)
    share = _FAR_FOR_TOPICS if _is_topic(question) else _FAR
    return [quote for quote in chosen if quote.score >= share * chosen[0].score][:limit]


def _is_topic(question: str) -> bool:
    """True for "Aurora: price and service", which wants all there is rather than one answer."""
    return ": " in question and not question.rstrip().endswith("?")


def asks_values(question: str) -> bool:
    """True when a question asks for numbers, dates or names."""
    return _ASKS_VALUES.search(question) is not None


def values_in(text: str) -> set[str]:
    """The numbers and names in a text: what a reader would look up in it."""
    return {value.strip(".,").lower() for value in _VALUE.findall(text)}


def without_repeats(quotes: Sequence[Quote]) -> list[Quote]:
    """Drop what an earlier quote says already: nearly the same terms, and no number of its own."""
    kept: list[tuple[Quote, set[str]]] = []
    for quote in quotes:
        words = set(terms(quote.text))
        if not any(repeats(words, other) for _, other in kept):
            kept.append((quote, words))
    return [quote for quote, _ in kept]


def repeats(words: Set[str], other: Set[str]) -> bool:
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


def _quotable(picked: Picked, text: str) -> str:
    """The sentence without the mark of its list or table; `""` for headings, code and scraps."""
    start, line = picked.start, picked.sentence
    if any(each.start() <= start < each.end() for each in _BLOCK.finditer(text)):
        return ""
    if _HEADING_LINE.match(line) or _EMPHASISED.fullmatch(line) or _RULE.match(text, picked.end):
        return ""
    while mark := _MARK.match(text, start, picked.end):
        start = mark.end()
    quote = text[start : picked.end].rstrip("| \t\r\n")
    if quote.startswith("**") and quote.endswith("**") and quote.count("**") == 2:
        quote = quote[2:-2]
    scrap = quote.endswith(":") or _BORDER.search(quote) or len(terms(quote)) < _FEWEST_TERMS
    return "" if scrap else quote


def _density(text: str, asked: set[str]) -> float:
    """How much of a text are values beyond those asked about, 0 to 1; a name counts half a number."""
    new = values_in(text) - asked
    numbers = sum(value[0].isdigit() for value in new)
    return min((numbers + len(new)) / 2 / len(terms(text)) ** 0.5, 1.0)


def _heading_fits(
    question: str, passages: Sequence[Found], picked: Sequence[Picked]
) -> list[float]:
    """How well the headings over each sentence fit the question, 0 to 1; rare words count for more."""
    asked = set(terms(question))
    above = [_headings(passages[each.text_index], each.start) & asked for each in picked]
    holding = Counter(word for words in above for word in words)
    weights = {word: math.log(1 + len(picked) / count) for word, count in holding.items()}
    fits = [sum(weights[word] for word in sorted(words)) for words in above]
    most = max(fits, default=0.0)
    return [fit / most if most else 0.0 for fit in fits]


def _headings(passage: Found, at: int) -> set[str]:
    """The terms of a sentence's headings: the nearest one in the passage, and those over the passage."""
    for line in reversed(passage.text[:at].splitlines()):
        if match := _HEADING_LINE.match(line):
            return set(terms(f"{passage.heading.split(' > ')[0]} {match[1]}"))
    return set(terms(passage.heading))
