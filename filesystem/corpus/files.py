"""The documents of a corpus as read-only files, read from its index when they are asked for."""

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

from ..bodies import BLOCK, check_range
from ..errors import FileMissing, IsAFolder, PathRefused
from ..paths import clean_path, glob_matches, in_order
from ..searching import Hits, Query, search_files
from ..stores import Entry, FileStat
from ..views import ReadOnly, children
from .shown import shown, unpacked
from .store import IndexFile

_Answer = TypeVar("_Answer")


class CorpusFiles(ReadOnly):
    """A read-only `FileStore` of what a corpus can cite: each document's text, by its source.

    PDF, DOCX and HTML are shown as the text that was extracted, in the lines that citations name. What
    the corpus skipped is not there. Nothing is opened but the index.
    """

    def __init__(self, index: IndexFile) -> None:
        """Use `FolderCorpus.files`."""
        self._index = index

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a document's text; see `FileStore.read`."""
        check_range(path, offset, limit)
        data = await self._data(path)
        return data[offset : None if limit is None else offset + limit]

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the text in blocks; see `FileStore.stream`."""
        data = await self._data(path)
        for offset in range(0, len(data), BLOCK):
            yield data[offset : offset + BLOCK]

    async def stat(self, path: str) -> FileStat:
        """Return size and hash of the text; see `FileStore.stat`."""
        data = await self._data(path)
        return FileStat(clean_path(path), len(data), hashlib.sha256(data).hexdigest())

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; see `FileStore.list`."""
        return children(await self.glob(), folder)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the documents that match a pattern; see `FileStore.glob`."""
        found = await self._ask(_sizes)
        return tuple(Entry(path, size) for path, size in found if glob_matches(pattern, path))

    async def grep(self, query: Query) -> Hits:
        """Search the documents' text; see `FileStore.grep`."""

        def search(connection: sqlite3.Connection) -> Hits:
            def contents() -> Iterator[tuple[str, Iterator[bytes]]]:
                for path, _ in _sizes(connection):
                    if query.wants(path) and (data := _text(connection, path)) is not None:
                        offsets = range(0, len(data), 2 * BLOCK)
                        yield path, (data[at : at + 2 * BLOCK] for at in offsets)

            return search_files(contents(), query)

        return await self._ask(search)

    async def _data(self, path: str) -> bytes:
        path = clean_path(path)
        data = await self._ask(lambda connection: _text(connection, path))
        if data is not None:
            return data
        if any(entry.path.startswith(f"{path}/") for entry in await self.glob()):
            raise IsAFolder(path, "this is a folder, not a file")
        raise FileMissing(path, "there is no such document")

    async def _ask(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        return await asyncio.to_thread(self._index.read, query)


def _sizes(connection: sqlite3.Connection) -> list[tuple[str, int]]:
    """Return path and bytes of all documents, in order; a name that no path can have is left out."""
    rows = connection.execute("SELECT source, shown FROM files WHERE reason IS NULL").fetchall()
    return sorted((row for row in rows if _is_path(row[0])), key=lambda row: in_order(row[0]))


def _is_path(source: str) -> bool:
    try:
        return clean_path(source) == source
    except PathRefused:
        return False


def _text(connection: sqlite3.Connection, source: str) -> bytes | None:
    row = connection.execute(
        "SELECT id, lines FROM files WHERE source = ? AND reason IS NULL", (source,)
    ).fetchone()
    if row is None:
        return None
    file, lines = row
    pieces = connection.execute("SELECT piece FROM passages WHERE file = ? ORDER BY id", (file,))
    return shown("".join(piece for (piece,) in pieces), unpacked(lines))
