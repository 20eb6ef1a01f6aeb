"""What a search answers with, and the protocol that every source of passages follows."""

from dataclasses import dataclass
from typing import Literal, Protocol

Status = Literal["current", "archived", "superseded"]


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a source, about 130 words, that evidence can point at."""

    id: str
    """Evidence id: "e" and 7 hexadecimal digits of a SHA-256 over source, place and text; the same as
    long as these are."""
    source: str
    """Path as the user knows it, relative to the corpus root ("ops/q1.pdf"); begins with the root's
    name when there are several roots."""
    place: str
    """"page 3" or "lines 10-24", counted from 1; in a DOCX file every paragraph counts as a line."""
    heading: str
    """Heading path, "A > B"; the column names in a table; "" where there is none."""
    text: str
    """The exact extracted text, without outer white space."""
    status: Status
    """What the source says of itself by its path, name or first lines."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found."""

    passage: Passage
    """The passage."""
    score: float
    """Higher is better; comparable inside one result only."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What one query found."""

    query: str
    """The query as asked."""
    hits: tuple[Hit, ...]
    """Best first; empty when no word of the query occurs."""
    confident: bool
    """False: the score of the retrieval is under the gate, the sources probably do not answer this."""


class Search(Protocol):
    """A source of passages: a folder, later the web. Safe to call from several agents at once."""

    async def search(self, query: str, limit: int = 10) -> SearchResult:
        """Find the passages that fit a query best. Any text is a valid query."""
        ...

    async def passage(self, evidence_id: str) -> Passage | None:
        """Give back the passage of an evidence id; None when there is none."""
        ...

    async def text(self, source: str) -> str | None:
        """Give back the whole extracted text of a source; None when there is none."""
        ...

    async def find_quote(self, source: str, quote: str) -> str | None:
        """Give the place where a quote stands verbatim in a source, None when it does not.

        Runs of white space count as one space, on both sides.
        """
        ...


@dataclass(frozen=True, slots=True)
class Skipped:
    """One file that is not searchable."""

    source: str
    """Path as in ``Passage.source``."""
    reason: str
    """Why, in words for the user."""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one reading of the folders did. ``files`` = indexed + unchanged + skipped."""

    files: int
    """Files seen; those under an ignore rule and hidden ones do not count."""
    indexed: int
    """Files read into the index this time."""
    unchanged: int
    """Files already indexed with this content."""
    removed: int
    """Files that the index held and that are gone, or no longer readable."""
    passages: int
    """Passages in the index now."""
    skipped: tuple[Skipped, ...]
    """Every file that could not be used, ordered by source."""
