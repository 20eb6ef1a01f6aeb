"""The files of one run: what each of its agents sees, what children are given and what they leave."""

import asyncio
import re
import shutil
import tempfile
import weakref
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from filesystem import (
    ArtifactFiles,
    ArtifactStore,
    DiskStore,
    Entry,
    FileError,
    FileMissing,
    FileStat,
    FileStore,
    Folders,
    Hits,
    IsAFolder,
    Layers,
    MemoryStore,
    Merger,
    MergeReport,
    MergeRule,
    NotAFolder,
    Query,
    RunFolder,
    View,
    Workspace,
    namespaces,
    snapshot,
)
from memory import Entry as LogEntry
from memory import EventLog, transcript_text

_NAMED = re.compile(r"/artifacts/[0-9a-f]{16,64}\.\w{1,16}")


@dataclass(frozen=True, slots=True)
class ThreadFiles:
    """What the agent of one thread sees."""

    own: FileStore
    """Its `/files`."""
    artifacts: ArtifactFiles
    """Its `/artifacts`: its own results, and what it was told the name of."""
    folders: Folders
    """All of its folders."""
    workspace: Workspace
    """The operations of its file tools."""


class RunFiles:
    """Files and stored bodies of a run: in its folder, or for a run in memory gone with the process.

    An agent sees its own `/files`, `/inputs` (what the run was `given`, and copies of what it was handed),
    `/artifacts`, `/transcripts` (its own thread and those below it), and `/shared` when `shared` was set.
    """

    def __init__(self, folder: RunFolder | None = None) -> None:
        self.folder = folder
        """The run folder, `None` for a run in memory."""
        self.shared = False
        """True gives all agents one more folder that all of them write."""
        self.given: FileStore | None = None
        """What all agents read under `/inputs`, such as the documents of a corpus; set before any works."""
        self._stores: dict[str, FileStore] = {}
        self._threads: dict[str, ThreadFiles] = {}

    @cached_property
    def artifacts(self) -> ArtifactStore:
        """The stored bodies; a run in memory keeps them in a temporary folder."""
        if self.folder is not None:
            return ArtifactStore(self.folder.artifacts)
        path = tempfile.mkdtemp(prefix="undrift-")
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return ArtifactStore(Path(path))

    def of(self, log: EventLog, thread: str) -> ThreadFiles:
        """What the agent of `thread` sees; the same object each time."""
        if thread not in self._threads:
            own, artifacts = self.own(thread), ArtifactFiles(self.artifacts)
            folders = namespaces(
                own,
                inputs=self._inputs(thread),
                artifacts=artifacts,
                transcripts=View(TranscriptFiles(log, thread)),
                shared=self._store("shared") if self.shared else None,
            )
            self._threads[thread] = ThreadFiles(own, artifacts, folders, Workspace(folders))
        return self._threads[thread]

    def _inputs(self, thread: str) -> FileStore | None:
        handed = self._store("inputs", thread) if self._is_there("inputs", thread) else None
        if handed is not None and self.given is not None:
            return Layers(handed, self.given)
        return handed or self.given

    def forget(self, thread: str) -> None:
        """Let go of the view of a thread that has ended; its files stay, and the view can be made again."""
        self._threads.pop(thread, None)

    def own(self, thread: str) -> FileStore:
        """The `/files` of a thread."""
        return self._store("files", thread)

    async def learn(self, files: ThreadFiles, text: str) -> None:
        """Let an agent read the stored bodies whose names it was told: a name is made of the body's hash,
        so whoever has it was given it."""
        if "/artifacts/" not in text:
            return
        for path in set(_NAMED.findall(text)):
            try:
                files.artifacts.grant(await self.artifacts.stat(path))
            except FileMissing:
                continue

    async def hand_over(self, log: EventLog, parent: str, child: str, paths: Sequence[str]) -> None:
        """Copy files that a parent named into its child's `/inputs`; what the run was given is there.

        Raises `FileError` for one that is not there, or whose name something else has.
        """
        seen, inputs = self.of(log, parent).folders, self._store("inputs", child)
        for path in paths:
            inner = _inner(path)
            if inner.startswith("artifacts/"):
                await seen.stat(inner)
                await self.learn(self.of(log, child), f"/{inner}")
            elif not inner.startswith("shared/"):
                place, _, name = inner.partition("/")
                if not await self._is_given(name):
                    await inputs.write(name, seen.stream(inner))
                elif place != "inputs":
                    raise FileError(
                        path, f"/inputs/{name} is a document of the run", "Give it another name."
                    )

    async def _is_given(self, name: str) -> bool:
        if self.given is None:
            return False
        try:
            await self.given.read(name, 0, 0)
        except FileMissing:
            return False
        except (IsAFolder, NotAFolder):
            pass  # no file of this name has room there
        return True

    async def copy(self, parent: str, child: str) -> dict[str, str]:
        """Give a child a copy of its parent's `/files`; returns the hashes from which it starts."""
        if not await self.has(parent):
            return {}
        own, files = self.own(parent), self.own(child)
        for entry in await own.glob():
            await files.write(entry.path, own.stream(entry.path))
        return await snapshot(files)

    async def merge(
        self, child: str, parent: str, *, base: Mapping[str, str], rule: MergeRule
    ) -> MergeReport:
        """Take over a child's `/files` into its parent's; see `Merger`. Again it changes nothing more."""
        merger = Merger(self.own(parent), parent)
        return await merger.merge(child, self.own(child), base=base, rule=rule)

    async def has(self, thread: str) -> bool:
        """Whether a thread has files of its own."""
        return self._is_there("files", thread) and bool(await self.own(thread).glob())

    def _is_there(self, *place: str) -> bool:
        """Whether a store was made; asking for it would make it."""
        known = "/".join(place) in self._stores
        return known or (self.folder is not None and self.folder.path.joinpath(*place).is_dir())

    def _store(self, *place: str) -> FileStore:
        name = "/".join(place)
        if name not in self._stores:
            path = self.folder.path.joinpath(*place) if self.folder else None
            self._stores[name] = DiskStore(path) if path else MemoryStore()
        return self._stores[name]


def handed_path(path: str) -> str:
    """Where a child finds what its parent hands over under `path`."""
    inner = _inner(path)
    if inner.startswith(("artifacts/", "shared/")):
        return f"/{inner}"
    return f"/inputs/{inner.partition('/')[2]}"


def _inner(path: str) -> str:
    """A path with its folder; one without the first slash is inside `/files`."""
    return path.lstrip("/") if path.startswith("/") else f"files/{path}"


class TranscriptFiles(MemoryStore):
    """The transcripts of a thread and of all below it, made of the log when they are read."""

    def __init__(self, log: EventLog, thread: str) -> None:
        super().__init__()
        self._log, self._thread = log, thread
        self._newest = 0
        self._reading = asyncio.Lock()

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """See `FileStore.read`."""
        await self._refresh()
        return await super().read(path, offset, limit)

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """See `FileStore.stream`."""
        await self._refresh()
        async for block in super().stream(path):
            yield block

    async def stat(self, path: str) -> FileStat:
        """See `FileStore.stat`."""
        await self._refresh()
        return await super().stat(path)

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """See `FileStore.list`."""
        await self._refresh()
        return await super().list(folder)

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """See `FileStore.glob`."""
        await self._refresh()
        return await super().glob(pattern)

    async def grep(self, query: Query) -> Hits:
        """See `FileStore.grep`."""
        await self._refresh()
        return await super().grep(query)

    async def _refresh(self) -> None:
        """Add what the log has more than when it was last looked at."""
        async with self._reading:
            threads: dict[str, list[LogEntry]] = {}
            for entry in await self._log.read(None, self._newest):
                self._newest = entry.seq
                name = entry.thread
                if name == self._thread or name.startswith(f"{self._thread}."):
                    threads.setdefault(name, []).append(entry)
            for name, entries in threads.items():
                await self.append(f"{name}.txt", transcript_text(entries))
