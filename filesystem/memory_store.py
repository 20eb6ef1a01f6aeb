"""A file store in memory: for tests, and for agents whose files need not outlive the run."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator

from .bodies import BLOCK, Body, blocks, check_hash, check_range, check_size
from .catalog import Catalog
from .edits import replace_exact
from .errors import FileMissing, IsAFolder, NotAFolder
from .paths import clean_path, glob_matches, in_order, parents
from .searching import Hits, Query, search_files
from .stores import EditResult, Entry, FileStat, Quota
from .text import encode


class MemoryStore:
    """A `FileStore` in memory, for one event loop."""

    def __init__(self, *, quota: Quota = Quota()) -> None:  # noqa: B008 - frozen
        self._catalog = Catalog(quota)
        self._data: dict[str, bytes] = {}

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file; see `FileStore.read`."""
        check_range(path, offset, limit)
        return self._get(path)[offset : None if limit is None else offset + limit]

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        data = self._get(path)
        for offset in range(0, len(data), BLOCK):
            yield data[offset : offset + BLOCK]

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; see `FileStore.stat`."""
        return _stat(clean_path(path), self._get(path))

    async def write(self, path: str, body: Body, *, if_hash: str | None = None) -> FileStat:
        """Replace or create a file; see `FileStore.write`."""
        path = clean_path(path)
        data = bytearray()
        async for block in blocks(body):
            data += block
            check_size(path, len(data), self._catalog.quota.bytes)
        self._catalog.check(path, len(data))
        self._expect(path, if_hash)
        return self._keep(path, bytes(data))

    async def append(self, path: str, data: str | bytes, *, if_hash: str | None = None) -> int:
        """Add to the end of a file; see `FileStore.append`."""
        path = clean_path(path)
        added = encode(data) if isinstance(data, str) else data
        whole = self._data.get(path, b"") + added
        self._catalog.check(path, len(whole))
        self._expect(path, if_hash)
        return self._keep(path, whole).size

    async def edit(
        self, path: str, old: str, new: str, *, every: bool = False, if_hash: str | None = None
    ) -> EditResult:
        """Replace text in a file; see `FileStore.edit`."""
        path = clean_path(path)
        data = self._get(path)
        self._expect(path, if_hash)
        done = replace_exact(path, data, old, new, every=every)
        self._catalog.check(path, len(done.data))
        return EditResult(self._keep(path, done.data), done.count, done.line)

    async def delete(self, path: str, *, if_hash: str | None = None) -> None:
        """Remove a file; see `FileStore.delete`."""
        path = clean_path(path)
        self._get(path)
        self._expect(path, if_hash)
        del self._data[path]
        self._catalog.remove(path)

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; see `FileStore.list`."""
        folder = clean_path(folder, root_ok=True)
        if folder in self._data:
            raise NotAFolder(folder, "this is a file, not a folder")
        self._refuse_file_as_folder(folder)
        if folder and folder not in self._catalog.folders:
            raise FileMissing(folder, "there is no such folder")
        prefix = f"{folder}/" if folder else ""
        found: dict[str, Entry] = {}
        for path, data in self._data.items():
            if path.startswith(prefix):
                name, slash, _ = path[len(prefix) :].partition("/")
                found[name] = Entry(prefix + name, None if slash else len(data))
        return tuple(found[name] for name in sorted(found))

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files that match a pattern; see `FileStore.glob`."""
        found = sorted((p for p in self._data if glob_matches(pattern, p)), key=in_order)
        return tuple(Entry(path, len(self._data[path])) for path in found)

    async def grep(self, query: Query) -> Hits:
        """Search the files' text; see `FileStore.grep`."""
        files = {path: self._data[path] for path in sorted(self._data, key=in_order)}

        def contents() -> Iterator[tuple[str, Iterator[bytes]]]:
            for path, data in files.items():
                if not query.wants(path):
                    continue
                offsets = range(0, len(data), 2 * BLOCK)
                yield path, (data[offset : offset + 2 * BLOCK] for offset in offsets)

        return await asyncio.to_thread(search_files, contents(), query)

    def _get(self, path: str) -> bytes:
        path = clean_path(path)
        if path in self._catalog.folders:
            raise IsAFolder(path, "this is a folder, not a file")
        if path not in self._data:
            self._refuse_file_as_folder(path)
            raise FileMissing(path, "there is no such file")
        return self._data[path]

    def _refuse_file_as_folder(self, path: str) -> None:
        if any(folder in self._data for folder in parents(path)):
            raise NotAFolder(path, "a part of the path is a file where a folder is needed")

    def _expect(self, path: str, if_hash: str | None) -> None:
        data = self._data.get(path)
        check_hash(path, if_hash, lambda: None if data is None else _sha256(data))

    def _keep(self, path: str, data: bytes) -> FileStat:
        self._data[path] = data
        self._catalog.put(path, len(data))
        return _stat(path, data)


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _stat(path: str, data: bytes) -> FileStat:
    return FileStat(path, len(data), _sha256(data))
