"""A folder of documents as a source of passages."""

import asyncio
import sqlite3
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TypeVar

from ..errors import NothingReadable
from .files import CorpusFiles
from .passages import IndexReport, Passage, SearchResult
from .quotes import find_verbatim, merge_places
from .ranking import passage_of, rank
from .store import IndexFile
from .sync import sync

_Answer = TypeVar("_Answer")


class FolderCorpus:
    """Searches folders of documents through an index file; implements ``Search``.

    Safe when several researchers search at once: every call runs in a thread, on a connection of its
    own.
    """

    report: IndexReport
    """What the reading of the folders at ``open`` did."""

    def __init__(self, index: IndexFile, report: IndexReport) -> None:
        """Use ``open``."""
        self._index = index
        self.report = report

    @classmethod
    async def open(cls, roots: Sequence[Path], index: Path) -> "FolderCorpus":
        """Bring the index up to date with the folders (or single files), and open it.

        ``index``: SQLite file, made when absent; it may lie inside a root. Raises FolderMissing,
        NothingReadable (it names the files skipped and why) and IndexUnusable.
        """
        return await asyncio.to_thread(cls._open, [Path(root) for root in roots], Path(index))

    @classmethod
    def _open(cls, roots: Sequence[Path], index: Path) -> "FolderCorpus":
        file = IndexFile(index)
        try:
            report = sync(file, roots)
            if not report.passages:
                left_out = [(each.source, each.reason) for each in report.skipped]
                raise NothingReadable(roots, left_out)
        except BaseException:
            file.close()
            raise
        return cls(file, report)

    async def search(self, query: str, limit: int = 10) -> SearchResult:
        """Find the passages that fit a query best; any text is a valid query."""
        return await self._read(lambda connection: rank(connection, query, limit))

    async def passage(self, evidence_id: str) -> Passage | None:
        """Give back the passage of an evidence id; None when there is none."""
        return await self._read(lambda connection: passage_of(connection, evidence_id))

    async def find_quote(self, source: str, quote: str) -> str | None:
        """Give the place of the passages in which a quote stands verbatim, None when it does not."""
        return await self._read(lambda connection: _place_of(connection, source, quote))

    async def sources(self) -> list[str]:
        """List the sources that are searchable, ordered."""
        return await self._read(_sources)

    async def text(self, source: str) -> str | None:
        """Give the extracted full text of one source; None when it is not in the index."""
        pieces = await self._read(lambda connection: _pieces(connection, source))
        return "".join(piece for _, piece in pieces) if pieces else None

    def files(self) -> CorpusFiles:
        """Give the documents as read-only files, for agents' `/inputs`; usable until ``close``."""
        return CorpusFiles(self._index)

    async def close(self) -> None:
        """Close the index; searches that run end in their own time."""
        await asyncio.to_thread(self._index.close)

    async def _read(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        return await asyncio.to_thread(self._index.read, query)


def _sources(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT source FROM files WHERE reason IS NULL ORDER BY source")
    return [source for (source,) in rows]


def _pieces(connection: sqlite3.Connection, source: str) -> list[tuple[str, str]]:
    """The (place, piece) of a source's passages in order; the pieces joined are its text."""
    return connection.execute(
        "SELECT place, piece FROM passages JOIN files ON files.id = passages.file"
        " WHERE source = ? ORDER BY passages.id",
        (source,),
    ).fetchall()


def _place_of(connection: sqlite3.Connection, source: str, quote: str) -> str | None:
    pieces = _pieces(connection, source)
    found = find_verbatim("".join(piece for _, piece in pieces), quote)
    if found is None:
        return None
    ends = list(accumulate(len(piece) for _, piece in pieces))
    first, last = (bisect_right(ends, at) for at in (found[0], found[1] - 1))
    return merge_places(pieces[first][0], pieces[last][0])
