"""Choosing the sentences that answer a query best."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .normalise import language_of, query_terms, terms_in
from .sentences import split_sentences

_QUERY_SHARE = 0.7  # the rest is centrality; the pair that scored best on CLAP NQ (F1 58.5)
_ABOVE = 0.5  # what a word of the heading counts, against one of the sentence
_MAX_HEADING = 80  # characters of an unmarked heading
_K1, _B = (
    1.2,
    0.3,
)  # BM25; a long sentence is no worse evidence, so its length counts less than usual


@dataclass(frozen=True, slots=True)
class Picked:
    """One sentence chosen."""

    text_index: int
    """Which of the given texts it is from, from 0."""
    start: int
    """Offset of its first character in that text."""
    end: int
    """Offset after its last character."""
    sentence: str
    """texts[text_index][start:end], verbatim."""
    score: float
    """0 to 1, comparable inside one call only."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text_index: int
    start: int
    end: int
    counts: Counter[str]
    above: Counter[str]


def pick_sentences(query: str, texts: Sequence[str], limit: int) -> list[Picked]:
    """Pick at most ``limit`` sentences, best first: 0.7 BM25 for the query + 0.3 centrality.

    Centrality is the cosine of a sentence with all sentences of its text together: what a text is
    about. A heading is never picked while anything else is there; its words count for what stands under
    it. A sentence that says the same words as a better one is left out. Ties go by text and place.
    """
    language = language_of("\n".join(texts))
    sentences = [
        sentence
        for number, text in enumerate(texts)
        for sentence in _sentences(number, text, language)
    ]
    if not sentences or limit < 1:
        return []
    relevance = _scaled(_bm25(query_terms(query, [language]), sentences))
    centrality = _scaled(_centrality(sentences))
    scored = sorted(
        (
            -round(_QUERY_SHARE * fits + (1 - _QUERY_SHARE) * central, 9),
            each.text_index,
            each.start,
            each.end,
            tuple(each.counts),
        )
        for each, fits, central in zip(sentences, relevance, centrality, strict=True)
    )
    picked: dict[tuple[str, ...], Picked] = {}
    for score, number, start, end, words in scored:
        if len(picked) == limit:
            break
        if words not in picked:
            picked[words] = Picked(number, start, end, texts[number][start:end], -score)
    return list(picked.values())


def _sentences(number: int, text: str, language: str) -> Iterator[_Sentence]:
    """Split one text; headings lend their terms to the sentences up to the next heading."""
    spans = split_sentences(text)
    headings = {span for span in spans if _is_heading(text, *span)}
    if len(headings) == len(spans):
        headings = set()
    above: list[str] = []
    for start, end in spans:
        words = terms_in(text[start:end], language)
        if (start, end) in headings:
            above = words
        else:
            yield _Sentence(number, start, end, Counter(words), Counter(above))


def _is_heading(text: str, start: int, end: int) -> bool:
    """A heading has marks, or is one short line without a stop, apart from what follows."""
    sentence = text[start:end]
    if sentence.startswith("#"):
        return True
    return (
        "\n" not in sentence
        and len(sentence) <= _MAX_HEADING
        and text[end : end + 2] == "\n\n"
        and sentence[-1].isalnum()
        and not sentence.startswith(("-", "*", "|", "+"))
        and " | " not in sentence
    )


def _bm25(query: list[str], sentences: list[_Sentence]) -> list[float]:
    holding = Counter(term for each in sentences for term in each.counts)
    usual = max(sum(each.counts.total() for each in sentences) / len(sentences), 1.0)
    weights = {
        term: math.log(1 + (len(sentences) - holding[term] + 0.5) / (holding[term] + 0.5))
        for term in query
    }
    return [_fit(each, weights, usual) for each in sentences]


def _fit(sentence: _Sentence, weights: dict[str, float], usual: float) -> float:
    length = 1 - _B + _B * sentence.counts.total() / usual
    score = 0.0
    for term, weight in weights.items():
        count = sentence.counts[term] or _ABOVE * sentence.above[term]
        if count:
            score += weight * count * (_K1 + 1) / (count + _K1 * length)
    return score


def _centrality(sentences: list[_Sentence]) -> list[float]:
    whole: dict[int, Counter[str]] = {}
    for each in sentences:
        whole.setdefault(each.text_index, Counter()).update(each.counts)
    norms = {number: _norm(counts) for number, counts in whole.items()}
    return [
        sum(count * whole[each.text_index][term] for term, count in each.counts.items())
        / max(_norm(each.counts) * norms[each.text_index], 1e-9)
        for each in sentences
    ]


def _norm(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))


def _scaled(values: list[float]) -> list[float]:
    most = max(values)
    return [value / most if most > 0 else 0.0 for value in values]
