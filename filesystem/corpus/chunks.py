"""Cutting an extracted text into passages of about 130 words."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise

from .extracted import Extracted, Places
from .normalise import UNSPACED_RUN
from .sentences import SAYS_SOMETHING, sentence_spans

TARGET_WORDS = 130
"""Words of a passage aimed at: large enough to answer, small enough to rank and to read."""
_MOST_WORDS = 165  # a paragraph up to here stays whole
_FEWEST_WORDS = 40  # a shorter section is kept together with the next one
_CHARACTERS_PER_WORD = 12  # a "word" longer than this counts as several (URLs, keys, minified code)
_BLANK = re.compile(r"\n[ \t]*\n+")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a text; the pieces of a text joined are the text again."""

    piece: str
    """The exact text, outer white space included; stripped it is the passage."""
    place: str
    """As in ``Passage.place``."""
    heading: str
    """As in ``Passage.heading``."""


def chunk(extracted: Extracted) -> Iterator[Chunk]:
    """Cut a text into pieces that tile it, at headings, pages, paragraphs, sentences, in that order.

    Every piece holds a letter or digit, except when the whole text holds none.
    """
    places = Places(extracted)
    start = 0
    for end in _ends(extracted):
        piece = extracted.text[start:end]
        lead = start + len(piece) - len(piece.lstrip())
        yield Chunk(piece, places.of(lead, start + len(piece.rstrip())), places.heading(lead))
        start = end


def word_count(text: str) -> float:
    """Estimate the words of a text: two characters of an unspaced script count as one word."""
    unspaced = 0 if text.isascii() else sum(len(run) for run in UNSPACED_RUN.findall(text))
    return max(len(text.split()) + unspaced / 2, len(text) / _CHARACTERS_PER_WORD)


def _ends(extracted: Extracted) -> Iterator[int]:
    """Choose where pieces end; the last one is the length of the text."""
    text = extracted.text
    pages = frozenset(extracted.pages)
    headings = frozenset(at for at, _ in extracted.headings)
    words, says_something = 0.0, False
    for atom, end in _atoms(extracted):
        size = word_count(text[atom:end])
        full = words + size > _MOST_WORDS and words > 0
        section = atom in headings and words >= _FEWEST_WORDS
        if says_something and (full or section or atom in pages):
            yield atom
            words, says_something = 0.0, False
        words += size
        says_something = says_something or bool(SAYS_SOMETHING.search(text, atom, end))
    if text:
        yield len(text)


def _atoms(extracted: Extracted) -> Iterator[tuple[int, int]]:
    """Tile the text with spans that are not cut further, none over about 130 words."""
    text = extracted.text
    cuts = {0, len(text), *extracted.pages, *(at for at, _ in extracted.headings)}
    cuts.update(match.end() for match in _BLANK.finditer(text))
    borders = sorted(cuts)
    for start, end in pairwise(borders):
        if word_count(text[start:end]) <= _MOST_WORDS:
            yield start, end
        else:
            yield from _cut_paragraph(text, start, end)


def _cut_paragraph(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Cut a long paragraph at sentences into parts of about equal size."""
    size = word_count(text[start:end])
    aim = size / max(2, round(size / TARGET_WORDS))
    words, begin = 0.0, start
    for at, stop in _segments(text, start, end):
        segment = word_count(text[at:stop])
        if words and words + segment / 2 > aim:
            yield begin, at
            words, begin = 0.0, at
        words += segment
    yield begin, end


def _segments(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Tile a paragraph with its sentences, those that are too long with equal parts."""
    following = (start + at for at, _ in islice(sentence_spans(text[start:end]), 1, None))
    for at, stop in pairwise(chain([start], following, [end])):
        size = word_count(text[at:stop])
        parts = 1 if size <= TARGET_WORDS else math.ceil(size / TARGET_WORDS)
        step = math.ceil((stop - at) / parts)
        for part in range(at, stop, step):
            yield part, min(part + step, stop)
