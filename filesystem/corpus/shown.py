"""A document as a file of text whose lines are the lines that citations name."""

import json
import zlib
from collections.abc import Iterable
from itertools import accumulate, pairwise

from ..text import encode
from .extracted import Extracted


def shown(text: str, numbers: Iterable[int] | None) -> bytes:
    """Return the text with each of its lines at its number, from 1 and ascending; None: as it is.

    Between them stand empty lines; texts of one number, such as two paragraphs that an HTML file has
    on one line, stand on one line with a space between.
    """
    if numbers is None:
        return encode(text)
    pieces: list[str] = []
    at, is_empty = 1, True
    for line, number in zip(text.split("\n"), numbers, strict=True):
        if number > at:
            pieces.append("\n" * (number - at))
            at, is_empty = number, True
        if line:
            pieces += [line] if is_empty else [" ", line]
            is_empty = False
    return encode("".join(pieces))


def packed(extracted: Extracted) -> bytes | None:
    """Return the numbers of the text's lines for the index; None when they only count."""
    numbers = extracted.lines
    if numbers is None or all(number == n for n, number in enumerate(numbers, 1)):
        return None
    steps = [numbers[0], *(after - before for before, after in pairwise(numbers))]
    return zlib.compress(json.dumps(steps, separators=(",", ":")).encode(), 1)


def unpacked(data: bytes | None) -> list[int] | None:
    """Return the numbers that `packed` packed."""
    return None if data is None else list(accumulate(json.loads(zlib.decompress(data))))
