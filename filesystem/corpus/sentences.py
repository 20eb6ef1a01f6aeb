"""Sentence boundaries in any script, over text that may hold lists, tables and headings."""

import re
from collections.abc import Iterator

_MAX_SENTENCE = 1_000  # characters; longer runs (minified code, Thai without stops) are cut
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦–]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_TABLE_ROW = re.compile(r"\s*\||.*(?:\t| \| )")
_RULE = re.compile(r"\s*(?:[-=_*~+:|]\s*){3,}$")  # also the line under a heading or column names
SAYS_SOMETHING = re.compile(r"[^\W_]")
"""A letter or digit."""
_END = re.compile(
    r"[.!?…]+[\"'”’»)\]*_]*(?=\s)"
    r"|[。！？｡]+[」』”’）】》]*"
    r"|[؟۔।॥։።៕]+"
)
# A full stop after these does not end a sentence, whatever follows.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“])(?:[A-Z]|[A-Za-z]\.[A-Za-z]|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|No|Nos|Fig|Figs|Eq|Vol|"
    r"vs|etc|cf|al|ca?|approx|Inc|Ltd|Co|Corp|Gen|Col|Sgt|Capt|Lt|Rev|Hon|Gov|Sen|Rep|Mt|Ft|pp?|ed|"
    r"bzw|Nr|Abs|usw|z|[dtu]|env|M|Mme|Art|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$"
)


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Find the sentences of a text as (start, end) offsets: ordered, apart, without outer white space.

    A heading, a list item and a table row count as a sentence each; a line break alone does not end
    one. Spans without a letter or digit (rules, table separators) are left out. No span is longer than
    1,000 characters.
    """
    return list(sentence_spans(text))


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of ``split_sentences`` one by one: a large file has a million of them."""
    for unit in _units(text):
        yield from _sentences_of(text, *unit)


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with the offset where it begins, its line break included."""
    offset = 0
    while offset < len(text):
        end = text.find("\n", offset) + 1 or len(text)
        yield offset, text[offset:end]
        offset = end


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Cut at blank lines and around headings, rules, list items and table rows."""
    start = 0
    for offset, line in lines_of(text):
        alone = bool(_HEADING.match(line) or _TABLE_ROW.match(line) or _RULE.match(line))
        if alone or not line.strip() or _LIST_ITEM.match(line):
            if start < offset:
                yield start, offset
            start = offset
        if alone:
            start = offset + len(line)
            yield offset, start
    if start < len(text):
        yield start, len(text)


def _sentences_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(text, start, end):
        if _ends_here(text, begin, match, end):
            yield from _pieces(text, begin, match.end())
            begin = match.end()
    yield from _pieces(text, begin, end)


def _ends_here(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    stop = match.group()
    if stop[0] != ".":
        return True
    following = text[match.end() : min(match.end() + 40, end)].lstrip()
    if following[:1].islower():
        return False
    before = text[max(begin, match.start() - 12) : match.start()]
    if before.strip().isdigit() and match.start() - begin < 5:
        return False  # the number of a list item
    return len(stop) > 1 or not _ABBREVIATION.search(before)


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Trim white space, drop what holds no letter or digit, cut what is too long."""
    while end - start > _MAX_SENTENCE:
        middle, limit = start + _MAX_SENTENCE // 2, start + _MAX_SENTENCE
        cut = max(text.rfind("\n", middle, limit), start)
        cut = cut if cut > start else text.rfind(" ", middle, limit)
        cut = cut if cut > start else limit
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if SAYS_SOMETHING.search(piece):
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
