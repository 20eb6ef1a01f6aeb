"""Two read-only places under one name."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace

from .errors import FileMissing, IsAFolder, NotAFolder
from .paths import in_order
from .searching import Hits, Query
from .stores import Entry, FileStat, FileStore
from .views import ReadOnly, children


class Layers(ReadOnly):
    """A read-only store of what is in either of two: where both have a path, the `upper` one's."""

    def __init__(self, upper: FileStore, lower: FileStore) -> None:
        self._upper, self._lower = upper, lower

    async def _of(self, path: str) -> FileStore:
        try:
            await self._upper.read(path, 0, 0)
        except (FileMissing, IsAFolder, NotAFolder):
            return self._lower
        return self._upper

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file; see `FileStore.read`."""
        return await (await self._of(path)).read(path, offset, limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        async for block in (await self._of(path)).stream(path):
            yield block

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; see `FileStore.stat`."""
        return await (await self._of(path)).stat(path)

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; see `FileStore.list`."""
        return children(await self.glob(), folder)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files that match a pattern; see `FileStore.glob`."""
        found = {entry.path: entry for entry in await self._lower.glob(pattern)}
        found |= {entry.path: entry for entry in await self._upper.glob(pattern)}
        return tuple(found[path] for path in sorted(found, key=in_order))

    async def grep(self, query: Query) -> Hits:
        """Search both, within one limit and one time; see `FileStore.grep`."""
        deadline = time.monotonic() + query.seconds
        upper = await self._upper.grep(query)
        hidden = {entry.path for entry in await self._upper.glob()}

        def wanted(path: str) -> bool:
            return path not in hidden and (query.allow is None or query.allow(path))

        left = max(deadline - time.monotonic(), 0.001)
        lower = await self._lower.grep(replace(query, allow=wanted, seconds=left))
        hits = sorted(
            (*upper.hits, *lower.hits), key=lambda hit: (in_order(hit.path), hit.line, hit.char)
        )
        more = upper.more or lower.more or len(hits) > query.limit
        return Hits(tuple(hits[: query.limit]), upper.files + lower.files, more)
