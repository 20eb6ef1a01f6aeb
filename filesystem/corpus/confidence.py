"""Whether what was found is likely to answer: a gate on the retrieval score."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from .normalise import UNSPACED_RUN

GATE = 0.8
"""Strength under which the sources probably do not answer the query.

Found on CLAP NQ dev, where 0.8 keeps 93 % of the 300 answerable questions. It then keeps 95 to 100 % of the
questions of MuSiQue, HotpotQA and the Claude documentation over their own corpora, and turns away 84 % of
the questions put to a corpus of another subject. Of questions on the right subject that the text does not
answer it turns away 28 % only: words cannot tell those, a reader must. 0.86 would keep 92 % and turn away
88 %. ``benchmarks/research.py`` prints these figures.
"""
_K1, _B = 1.2, 0.75  # BM25's usual saturation and length normalisation
_USUAL_LENGTH = 150.0  # terms of a usual passage with its title; fixed, so that the gate is too
_FEWEST = 1_000  # passages a corpus counts as at least: rareness in a small one says nothing
_UNSEEN_PAIR = 0.3  # a pair of characters found nowhere mostly spans two words, and says little


def strength(
    asked: Iterable[str], frequencies: Mapping[str, int], total: int, counts: Counter[str]
) -> float:
    """Measure how well one passage covers a query, comparable across queries; 0 when not at all.

    ``asked``: the query's terms. ``frequencies``: in how many of all ``total`` passages each occurs.
    ``counts``: the passage's terms, those of title and heading counted twice. The result is the BM25
    score as a share of the sum of the terms' weights, times the root of the score in units of the
    rarest possible term: most of what was asked is there, and it is more than one common word.
    """
    total = max(total, _FEWEST)
    weights = {term: _weight(term, frequencies.get(term, 0), total) for term in asked}
    score = _score(weights, counts)
    if score <= 0:
        return 0.0
    return score / sum(weights.values()) * math.sqrt(score / math.log(1 + (total + 0.5) / 0.5))


def _weight(term: str, frequency: int, total: int) -> float:
    """The rarer the heavier; unlike FTS5's weight never zero, so that a corpus of one file works."""
    share = _UNSEEN_PAIR if not frequency and UNSPACED_RUN.fullmatch(term) else 1.0
    return share * math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _score(weights: Mapping[str, float], counts: Counter[str]) -> float:
    length = 1 - _B + _B * counts.total() / _USUAL_LENGTH
    return sum(
        weight * counts[term] * (_K1 + 1) / (counts[term] + _K1 * length)
        for term, weight in weights.items()
        if term in counts
    )
