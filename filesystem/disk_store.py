"""A file store in a folder of the local disk."""

import asyncio
import contextlib
import hashlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiofiles

from .bodies import BLOCK, Body, blocks, check_hash, check_range, check_size
from .confined import judge, make_folder, open_file, open_folder, open_in, refusals
from .disk_area import DiskArea, plain_size, walk
from .edits import replace_exact
from .errors import FileError, FileMissing
from .paths import RESERVED, clean_path, glob_matches
from .searching import Hits, Query, search_files
from .stores import EditResult, Entry, FileStat, Quota
from .text import encode


class DiskStore:
    """A `FileStore` in the folder `root`, made (mode 0700) when missing.

    Safe between tasks, threads and processes: each change happens under one lock, a whole file is
    replaced by a rename. Every call runs in a thread. What a change wrote survives the process; a
    crash of the machine may lose the newest changes. A cancelled call may still take effect.
    """

    def __init__(self, root: Path, *, quota: Quota = Quota()) -> None:  # noqa: B008 - frozen
        with refusals(str(root)):
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root = root.resolve()
        """The folder, without links in its own path."""
        self._area = DiskArea(self.root, quota)
        self._quota = quota

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file; see `FileStore.read`."""
        check_range(path, offset, limit)
        return await asyncio.to_thread(self._read, clean_path(path), offset, limit)

    def _read(self, path: str, offset: int, limit: int | None) -> bytes:
        with refusals(path), open(self._open(path), "rb", buffering=0) as file:
            file.seek(offset)
            return file.read(-1 if limit is None else limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        fd = await asyncio.to_thread(self._open, clean_path(path))
        async with aiofiles.open(fd, "rb", buffering=0) as file:
            while block := await file.read(BLOCK):
                yield block

    def _open(self, path: str) -> int:
        with self._area.opened() as root:
            return open_file(root, path)

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; see `FileStore.stat`."""
        return await asyncio.to_thread(self._stat, clean_path(path))

    def _stat(self, path: str) -> FileStat:
        with self._area.opened() as root:
            return _stat(root, path)

    async def write(self, path: str, body: Body, *, if_hash: str | None = None) -> FileStat:
        """Replace or create a file; see `FileStore.write`."""
        path = clean_path(path)
        if isinstance(body, str | bytes):
            data = encode(body) if isinstance(body, str) else body
            return await asyncio.to_thread(self._write, path, data, if_hash)
        fd, name = await asyncio.to_thread(self._unfinished)
        size, digest = 0, hashlib.sha256()
        try:
            with refusals(path):
                async with aiofiles.open(fd, "wb") as file:
                    async for block in blocks(body):
                        size += len(block)
                        check_size(path, size, self._quota.bytes)
                        digest.update(block)
                        await file.write(block)
            return await asyncio.to_thread(
                self._finish, name, FileStat(path, size, digest.hexdigest()), if_hash
            )
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.root / name)

    def _unfinished(self) -> tuple[int, str]:
        with self._area.opened() as root:
            return self._area.unfinished(root)

    def _finish(self, name: str, new: FileStat, if_hash: str | None) -> FileStat:
        with self._area.locked() as root:
            self._area.catalog.check(new.path, new.size)
            _expect(root, new.path, if_hash)
            self._replace(root, name, new)
        return new

    def _write(self, path: str, data: bytes, if_hash: str | None) -> FileStat:
        with self._area.locked() as root:
            self._area.catalog.check(path, len(data))
            _expect(root, path, if_hash)
            return self._put(root, path, data)

    def _put(self, root: int, path: str, data: bytes) -> FileStat:
        fd, name = self._area.unfinished(root)
        try:
            with refusals(path), open(fd, "wb") as file:
                file.write(data)
            new = FileStat(path, len(data), hashlib.sha256(data).hexdigest())
            self._replace(root, name, new)
        except FileError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=root)
            raise
        return new

    def _replace(self, root: int, name: str, new: FileStat) -> None:
        folder, _, leaf = new.path.rpartition("/")
        parent = make_folder(root, folder)
        try:
            with refusals(new.path):
                # For a clear refusal only: a rename replaces a link, it never follows one.
                with contextlib.suppress(FileNotFoundError):
                    judge(os.lstat(leaf, dir_fd=parent), new.path)
                os.rename(name, leaf, src_dir_fd=root, dst_dir_fd=parent)
        finally:
            os.close(parent)
        self._area.catalog.put(new.path, new.size)

    async def append(self, path: str, data: str | bytes, *, if_hash: str | None = None) -> int:
        """Add to the end of a file; see `FileStore.append`."""
        added = encode(data) if isinstance(data, str) else data
        return await asyncio.to_thread(self._append, clean_path(path), added, if_hash)

    def _append(self, path: str, added: bytes, if_hash: str | None) -> int:
        with self._area.locked() as root:
            try:
                fd = open_file(root, path, os.O_WRONLY | os.O_APPEND)
            except FileMissing:
                self._area.catalog.check(path, len(added))
                _expect(root, path, if_hash)
                return self._put(root, path, added).size
            with refusals(path), open(fd, "wb", buffering=0) as file:
                old = os.fstat(fd).st_size
                self._area.catalog.check(path, old + len(added))
                _expect(root, path, if_hash)
                try:
                    view = memoryview(added)
                    while view:
                        view = view[file.write(view) :]
                except OSError:
                    file.truncate(old)
                    raise
            self._area.catalog.put(path, old + len(added))
            return old + len(added)

    async def edit(
        self, path: str, old: str, new: str, *, every: bool = False, if_hash: str | None = None
    ) -> EditResult:
        """Replace text in a file; see `FileStore.edit`."""

        def edit(path: str) -> EditResult:
            with self._area.locked() as root:
                with refusals(path), open(open_file(root, path), "rb", buffering=0) as file:
                    data = file.read()
                _expect(root, path, if_hash)
                done = replace_exact(path, data, old, new, every=every)
                self._area.catalog.check(path, len(done.data))
                return EditResult(self._put(root, path, done.data), done.count, done.line)

        return await asyncio.to_thread(edit, clean_path(path))

    async def delete(self, path: str, *, if_hash: str | None = None) -> None:
        """Remove a file; see `FileStore.delete`."""
        await asyncio.to_thread(self._delete, clean_path(path), if_hash)

    def _delete(self, path: str, if_hash: str | None) -> None:
        with self._area.locked() as root:
            os.close(open_file(root, path))
            _expect(root, path, if_hash)
            folder, _, leaf = path.rpartition("/")
            parent = open_folder(root, folder)
            try:
                with refusals(path):
                    os.unlink(leaf, dir_fd=parent)
            finally:
                os.close(parent)
            self._area.catalog.remove(path)
            self._prune(root, folder)

    def _prune(self, root: int, folder: str) -> None:
        """Remove `folder` and the folders above it as long as they are empty."""
        while folder:
            above, _, name = folder.rpartition("/")
            with contextlib.ExitStack() as stack:
                parent = open_folder(root, above)
                stack.callback(os.close, parent)
                try:
                    os.rmdir(name, dir_fd=parent)
                except OSError:  # not empty, or not ours to remove
                    return
            folder = above

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; see `FileStore.list`."""
        return await asyncio.to_thread(self._list, clean_path(folder, root_ok=True))

    def _list(self, folder: str) -> tuple[Entry, ...]:
        found: list[Entry] = []
        with self._area.opened() as root:
            fd = open_folder(root, folder)
            try:
                with refusals(folder), os.scandir(fd) as entries:
                    for entry in sorted(entries, key=lambda entry: entry.name):
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False) and path != RESERVED:
                            found.append(Entry(path, None))
                        elif (size := plain_size(fd, entry.name)) is not None:
                            found.append(Entry(path, size))
            finally:
                os.close(fd)
        return tuple(found)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files that match a pattern; see `FileStore.glob`."""

        def glob() -> tuple[Entry, ...]:
            with self._area.opened() as root:
                return tuple(
                    Entry(path, size)
                    for path, fd, name in walk(root)
                    if glob_matches(pattern, path) and (size := plain_size(fd, name)) is not None
                )

        return await asyncio.to_thread(glob)

    async def grep(self, query: Query) -> Hits:
        """Search the files' text; see `FileStore.grep`."""

        def grep() -> Hits:
            with self._area.opened() as root:
                return search_files(_contents(root, query), query)

        return await asyncio.to_thread(grep)


def _contents(root: int, query: Query) -> Iterator[tuple[str, Iterator[bytes]]]:
    for path, folder, name in walk(root):
        if query.wants(path):
            try:
                fd, size = open_in(folder, name, path)
            except FileError:  # deleted or replaced since it was listed
                continue
            try:
                yield path, _blocks(fd, size)
            finally:
                os.close(fd)


def _blocks(fd: int, size: int) -> Iterator[bytes]:
    room = min(size + 1, 2 * BLOCK)
    while block := os.read(fd, room):
        yield block
        if len(block) < room:  # which spares most files a second call
            return


def _expect(root: int, path: str, if_hash: str | None) -> None:
    def actual() -> str | None:
        try:
            return _stat(root, path).sha256
        except FileMissing:
            return None

    check_hash(path, if_hash, actual)


def _stat(root: int, path: str) -> FileStat:
    size, digest = 0, hashlib.sha256()
    with refusals(path), open(open_file(root, path), "rb", buffering=0) as file:
        while block := file.read(BLOCK):
            size += len(block)
            digest.update(block)
    return FileStat(path, size, digest.hexdigest())
