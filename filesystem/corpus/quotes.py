"""Finding a quote in a text when only its white space may differ."""

import re
from bisect import bisect_right

from .extracted import span_name

_WORD = re.compile(r"\S+")
_PLACE = re.compile(r"(page|line)s? (\d+)(?:-(\d+))?")


def find_verbatim(text: str, quote: str) -> tuple[int, int] | None:
    """Find where a quote stands in a text, as (start, end) offsets; the first place of several.

    Runs of white space count as one space on both sides; at the quote's ends it does not count. None
    when it does not occur, or has no word.
    """
    wanted = " ".join(quote.split())
    if not wanted:
        return None
    words = list(_WORD.finditer(text))
    starts: list[int] = []  # where each word begins in the text with single spaces
    length = 0
    for word in words:
        starts.append(length)
        length += word.end() - word.start() + 1
    at = " ".join(word.group() for word in words).find(wanted)
    if at < 0:
        return None
    return _original(words, starts, at), _original(words, starts, at + len(wanted) - 1) + 1


def _original(words: list[re.Match[str]], starts: list[int], at: int) -> int:
    """Map an offset in the single-spaced text, which is never a space, back to the text."""
    word = bisect_right(starts, at) - 1
    return words[word].start() + at - starts[word]


def merge_places(first: str, last: str) -> str:
    """Name the place from the beginning of one place to the end of another: "lines 3-9"."""
    begin, end = _PLACE.fullmatch(first), _PLACE.fullmatch(last)
    if begin is None or end is None or first == last:
        return first
    return span_name(begin[1], int(begin[2]), int(end[3] or end[2]))
