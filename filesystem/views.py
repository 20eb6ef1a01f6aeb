"""What an agent sees: stores under names, and stores that only show a part of another."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

from .artifacts import ArtifactRef, ArtifactStore
from .bodies import BLOCK, Body
from .errors import FileError, FileMissing, NotAFolder, NotWritable, PathRefused
from .paths import clean_path, glob_matches
from .searching import Hits, Query, search_files
from .stores import EditResult, Entry, FileStat, FileStore


class ReadOnly:
    """The refusals of a store that nobody may change."""

    def _refuse(self, path: str) -> NoReturn:
        raise NotWritable(path, "this place is read-only", "Write somewhere else.")

    async def write(self, path: str, body: Body, *, if_hash: str | None = None) -> FileStat:
        """Raise `NotWritable`."""
        self._refuse(path)

    async def append(self, path: str, data: str | bytes, *, if_hash: str | None = None) -> int:
        """Raise `NotWritable`."""
        self._refuse(path)

    async def edit(
        self, path: str, old: str, new: str, *, every: bool = False, if_hash: str | None = None
    ) -> EditResult:
        """Raise `NotWritable`."""
        self._refuse(path)

    async def delete(self, path: str, *, if_hash: str | None = None) -> None:
        """Raise `NotWritable`."""
        self._refuse(path)


class View(ReadOnly):
    """A read-only view of a store: all of it, or the files that `allow` accepts at the moment."""

    def __init__(self, store: FileStore, allow: Callable[[str], bool] | None = None) -> None:
        self._store = store
        self._allow = allow

    def _checked(self, path: str) -> str:
        path = clean_path(path)
        if self._allow and not self._allow(path):
            raise FileMissing(path, "there is no such file")
        return path

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file; see `FileStore.read`."""
        return await self._store.read(self._checked(path), offset, limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        async for block in self._store.stream(self._checked(path)):
            yield block

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; see `FileStore.stat`."""
        return await self._store.stat(self._checked(path))

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; see `FileStore.list`."""
        if self._allow is None:
            return await self._store.list(folder)
        return children(await self.glob(), folder)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files that match a pattern; see `FileStore.glob`."""
        found = await self._store.glob(pattern)
        return tuple(e for e in found if self._allow is None or self._allow(e.path))

    async def grep(self, query: Query) -> Hits:
        """Search the files' text; see `FileStore.grep`."""
        mine, asked = self._allow, query.allow
        if mine is None:
            return await self._store.grep(query)

        def both(path: str) -> bool:
            return mine(path) and (asked is None or asked(path))

        return await self._store.grep(replace(query, allow=both))


class ArtifactFiles(ReadOnly):
    """The artifacts that one agent was given, as read-only files."""

    def __init__(self, store: ArtifactStore, refs: Iterable[ArtifactRef] = ()) -> None:
        self._store = store
        self._refs: dict[str, ArtifactRef] = {}
        self.grant(*refs)

    def grant(self, *refs: ArtifactRef) -> None:
        """Let the agent read these artifacts too."""
        self._refs.update((ref.name, ref) for ref in refs)

    def _ref(self, path: str) -> ArtifactRef:
        if ref := self._refs.get(clean_path(path)):
            return ref
        raise FileMissing(path, "there is no such artifact here")

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of an artifact; see `FileStore.read`."""
        return await self._store.read(self._ref(path), offset, limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        ref = self._ref(path)
        for offset in range(0, ref.size, BLOCK):
            yield await self._store.read(ref, offset, BLOCK)

    async def stat(self, path: str) -> FileStat:
        """Return size and hash, without reading; see `FileStore.stat`."""
        ref = self._ref(path)
        return FileStat(ref.name, ref.size, ref.sha256)

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return the artifacts; see `FileStore.list`."""
        return children(await self.glob(), folder)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the artifacts whose name matches; see `FileStore.glob`."""
        return tuple(
            Entry(name, ref.size)
            for name, ref in sorted(self._refs.items())
            if glob_matches(pattern, name)
        )

    async def grep(self, query: Query) -> Hits:
        """Search the artifacts' text; see `FileStore.grep`."""
        refs = sorted(self._refs.items())

        def contents() -> Iterator[tuple[str, Iterator[bytes]]]:
            for name, ref in refs:
                if query.wants(name):
                    with self._store.open(ref) as file:
                        yield name, iter(lambda: file.read(2 * BLOCK), b"")

        return await asyncio.to_thread(search_files, contents(), query)


class Folders:
    """Several stores as the folders of one: the path `files/a.md` is `a.md` of the store "files"."""

    def __init__(self, stores: Mapping[str, FileStore]) -> None:
        self.stores = dict(stores)
        """The stores by folder name."""

    @contextmanager
    def _at(self, path: str) -> Generator[tuple[str, FileStore, str]]:
        """Give (folder name, store, path inside it); name the folder in errors."""
        name, _, inner = clean_path(path).partition("/")
        if name not in self.stores:
            places = ", ".join(f"/{known}" for known in self.stores)
            raise PathRefused(path, f"there is no folder {name!r}", f"There are: {places}.")
        try:
            yield name, self.stores[name], inner
        except FileError as error:
            error.path = path
            raise

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return bytes of a file; see `FileStore.read`."""
        with self._at(path) as (_, store, inner):
            return await store.read(inner, offset, limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks; see `FileStore.stream`."""
        with self._at(path) as (_, store, inner):
            async for block in store.stream(inner):
                yield block

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; see `FileStore.stat`."""
        with self._at(path) as (name, store, inner):
            return _below(name, await store.stat(inner))

    async def write(self, path: str, body: Body, *, if_hash: str | None = None) -> FileStat:
        """Replace or create a file; see `FileStore.write`."""
        with self._at(path) as (name, store, inner):
            return _below(name, await store.write(inner, body, if_hash=if_hash))

    async def append(self, path: str, data: str | bytes, *, if_hash: str | None = None) -> int:
        """Add to the end of a file; see `FileStore.append`."""
        with self._at(path) as (_, store, inner):
            return await store.append(inner, data, if_hash=if_hash)

    async def edit(
        self, path: str, old: str, new: str, *, every: bool = False, if_hash: str | None = None
    ) -> EditResult:
        """Replace text in a file; see `FileStore.edit`."""
        with self._at(path) as (name, store, inner):
            done = await store.edit(inner, old, new, every=every, if_hash=if_hash)
            return replace(done, stat=_below(name, done.stat))

    async def delete(self, path: str, *, if_hash: str | None = None) -> None:
        """Remove a file; see `FileStore.delete`."""
        with self._at(path) as (_, store, inner):
            await store.delete(inner, if_hash=if_hash)

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return what is directly in a folder; the root holds the stores' names."""
        if not clean_path(folder, root_ok=True):
            return tuple(Entry(name, None) for name in self.stores)
        with self._at(folder) as (name, store, inner):
            return tuple(Entry(f"{name}/{e.path}", e.size) for e in await store.list(inner))

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files that match a pattern, which begins with a folder's name or `**`."""
        found: list[Entry] = []
        for name, store in self.stores.items():
            entries = (Entry(f"{name}/{e.path}", e.size) for e in await store.glob())
            found += [entry for entry in entries if glob_matches(pattern, entry.path)]
        return tuple(found)

    async def grep(self, query: Query) -> Hits:
        """Search one store after another, within one limit and one time; see `FileStore.grep`."""
        deadline = time.monotonic() + query.seconds
        found: list[Hits] = []
        count = 0
        for name, store in self.stores.items():

            def wanted(path: str, name: str = name) -> bool:
                return query.wants(f"{name}/{path}")

            part = replace(
                query,
                glob="**",
                allow=wanted,
                limit=max(query.limit - count, 1),
                seconds=max(deadline - time.monotonic(), 0.001),
            )
            hits = await store.grep(part)
            named = tuple(replace(hit, path=f"{name}/{hit.path}") for hit in hits.hits)
            found.append(replace(hits, hits=named))
            count += len(named)
            if hits.more or count > query.limit:
                break
        every = tuple(hit for hits in found for hit in hits.hits)
        more = len(every) > query.limit or any(hits.more for hits in found)
        return Hits(every[: query.limit], sum(hits.files for hits in found), more)


def _below(name: str, stat: FileStat) -> FileStat:
    return replace(stat, path=f"{name}/{stat.path}")


def children(files: Iterable[Entry], folder: str) -> tuple[Entry, ...]:
    """Return what is directly in `folder`, from all files. Raises `FileMissing`, `NotAFolder`."""
    folder = clean_path(folder, root_ok=True)
    prefix = f"{folder}/" if folder else ""
    found: dict[str, Entry] = {}
    for entry in files:
        if entry.path == folder:
            raise NotAFolder(folder, "this is a file, not a folder")
        if entry.path.startswith(prefix):
            name, slash, _ = entry.path[len(prefix) :].partition("/")
            found[name] = Entry(prefix + name, None if slash else entry.size)
    if folder and not found:
        raise FileMissing(folder, "there is no such folder")
    return tuple(found[name] for name in sorted(found))


def namespaces(
    files: FileStore,
    *,
    inputs: FileStore | None = None,
    artifacts: FileStore | None = None,
    transcripts: FileStore | None = None,
    shared: FileStore | None = None,
) -> Folders:
    """Return what one agent sees: its own `/files`, and what it is given beside.

    `inputs`, `artifacts` and `transcripts` become read-only; `shared` is writable and there only
    when the caller passes one. Give a transcripts' `View` that allows the agent's own thread (and,
    for a parent, its descendants'), and an `ArtifactFiles` with what was handed over.
    """
    stores: dict[str, FileStore] = {"files": files}
    for name, store in (("inputs", inputs), ("artifacts", artifacts), ("transcripts", transcripts)):
        if store is not None:
            stores[name] = store if isinstance(store, ReadOnly) else View(store)
    if shared is not None:
        stores["shared"] = shared
    return Folders(stores)
