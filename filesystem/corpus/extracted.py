"""What a loader hands on: the text of one file, and where its parts stand in the file."""

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of one file with its structure; offsets count characters of ``text``, from 0."""

    text: str
    """The whole text, line ends as ``\\n``. What quotes are checked against."""
    title: str = ""
    """The document's own title; "" when it has none."""
    headings: Sequence[tuple[int, str]] = ()
    """(offset of the heading, heading path "A > B"), ascending."""
    pages: Sequence[int] = ()
    """Offset at which each page begins; empty for files that have lines, not pages."""
    lines: Sequence[int] | None = None
    """For each line of ``text`` its line in the file, from 1. None: they are the same lines."""


class Places:
    """Turns spans of an extracted text into places as a reader would name them."""

    def __init__(self, extracted: Extracted) -> None:
        self._extracted = extracted
        self._starts = extracted.pages or _line_starts(extracted.text)

    def of(self, start: int, end: int) -> str:
        """Name where text[start:end] stands: "page 3", "pages 3-4", "line 7" or "lines 10-24"."""
        first = bisect_right(self._starts, start)
        last = max(first, bisect_right(self._starts, max(start, end - 1)))
        if self._extracted.pages:
            return span_name("page", first, last)
        lines = self._extracted.lines
        if lines is not None:
            first, last = lines[first - 1], lines[last - 1]
        return span_name("line", first, last)

    def heading(self, start: int) -> str:
        """Name the heading path in force at an offset; "" before the first heading."""
        at = bisect_right(self._extracted.headings, start, key=lambda heading: heading[0])
        return self._extracted.headings[at - 1][1] if at else ""


def span_name(unit: str, first: int, last: int) -> str:
    """Write a place: ``unit`` is "page" or "line", the numbers count from 1, both included."""
    return f"{unit} {first}" if first >= last else f"{unit}s {first}-{last}"


def _line_starts(text: str) -> Sequence[int]:
    starts = array("q", [0])
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts
