"""Bodies named by the hash of their content, written in a stream and stored once."""

import asyncio
import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from .bodies import BLOCK, Body, blocks, check_range
from .errors import FileMissing, StorageFailed
from .kinds import EXTENSIONS, extension_of, guess_kind, kind_of_extension
from .text import encode

_HEAD = 1 << 16
"""Bytes from which the kind of a body is guessed."""
_WHOLE = 4 << 20
"""Bytes up to which `ends` returns a whole body, so that the shape of a JSON body can be told."""
_NAME = re.compile(r"(?:/?artifacts/)?([0-9a-f]{16,64})(?:\.\w{1,16})?\Z")


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """The reference to a stored body."""

    sha256: str
    """64 hexadecimal digits: the SHA-256 of the body."""
    size: int
    """Bytes of the body."""
    lines: int
    """Lines of the body: line feeds, plus one for a last line without one."""
    kind: str
    """Media type, given or guessed: "text/plain", "application/json", "text/csv", ..."""
    origin: str
    """Where the body came from, as `put` was told; empty when read back by its name."""

    @property
    def path(self) -> str:
        """Where agents find the body: "/artifacts/", 16 digits of the hash, the kind's ending."""
        return f"/artifacts/{self.name}"

    @property
    def name(self) -> str:
        """The last part of `path`."""
        return f"{self.sha256[:16]}.{extension_of(self.kind)}"


@dataclass(frozen=True, slots=True)
class Ends:
    """The beginning and the end of a body."""

    head: bytes
    """The first bytes; the whole body when `tail` is empty."""
    tail: bytes
    """The last bytes, not overlapping `head`."""


class ArtifactStore:
    """Stored bodies of one run, in one folder.

    Equal bodies are one file, so two results never meet under one name unless they are the same.
    A body is complete under its name or absent. It survives a crash of the process; a crash of the
    machine may lose the newest ones, as it may lose the newest events.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """The folder; made with mode 0700 at the first `put` when it does not exist."""
        self._stored: dict[str, str] = {}

    async def put(self, body: Body, *, kind: str | None = None, origin: str) -> ArtifactRef:
        """Store `body` and return its reference.

        `kind` None means guess. Chunks are written as they come, at most about 1 MiB is held. If
        the stream raises, its error passes through and nothing stays. Raises `StorageFailed`.
        """
        if isinstance(body, str | bytes):
            return await asyncio.to_thread(self._put, body, kind, origin)
        sink = await asyncio.to_thread(_Sink, self.folder)
        try:
            async for block in blocks(body):
                await asyncio.to_thread(sink.feed, block)
            return await asyncio.to_thread(self._finish, sink, kind, origin)
        finally:
            sink.close()

    def _put(self, body: str | bytes, kind: str | None, origin: str) -> ArtifactRef:
        sink = _Sink(self.folder)
        try:
            for start in range(
                0, len(body), BLOCK
            ):  # what fits a cache is hashed and written faster
                part = body[start : start + BLOCK]
                sink.feed(encode(part) if isinstance(part, str) else part)
            return self._finish(sink, kind, origin)
        finally:
            sink.close()

    def _finish(self, sink: "_Sink", kind: str | None, origin: str) -> ArtifactRef:
        ref = sink.ref(kind, origin)
        if (known := self._find(ref.sha256)) is None or _size(self.folder / known) != ref.size:
            name = known or f"{ref.sha256}.{extension_of(ref.kind)}"
            sink.keep(self.folder / name)
            self._stored[ref.sha256] = name
        return ref

    async def read(
        self, ref: ArtifactRef | str, offset: int = 0, limit: int | None = None
    ) -> bytes:
        """Return bytes of a body: `limit` of them (None: all) from byte `offset`.

        `ref` is a reference or a path such as `ref.path`. Raises `FileMissing`, `BadArgument`.
        """
        check_range(_said(ref), offset, limit)
        return await asyncio.to_thread(self._read, ref, offset, limit)

    def _read(self, ref: ArtifactRef | str, offset: int, limit: int | None) -> bytes:
        with self.open(ref) as file:
            file.seek(offset)
            return file.read(-1 if limit is None else limit)

    def open(self, ref: ArtifactRef | str) -> BinaryIO:
        """Open a body for reading, by reference or path. Raises `FileMissing`. Blocking."""
        path = self.folder / self._name(ref)
        try:
            return cast(BinaryIO, open(path, "rb", buffering=0))
        except OSError as error:
            raise StorageFailed(_said(ref), f"cannot be read ({error.strerror})") from error

    async def ends(self, ref: ArtifactRef | str) -> Ends:
        """Return what `preview` needs: a body up to 4 MiB whole, else 16 KiB of each end."""

        def read() -> Ends:
            with self.open(ref) as file:
                size = os.fstat(file.fileno()).st_size
                if size <= _WHOLE:
                    return Ends(file.read(), b"")
                head = file.read(_HEAD // 4)
                file.seek(size - _HEAD // 4)
                return Ends(head, file.read())

        return await asyncio.to_thread(read)

    async def stat(self, ref: ArtifactRef | str) -> ArtifactRef:
        """Return the full reference of a stored body, found by reference or path.

        The kind is that of the path's ending, the origin empty; lines are counted anew, in a
        stream. A reference comes back as it is. Raises `FileMissing`.
        """
        if isinstance(ref, ArtifactRef):
            self._name(ref)
            return ref
        return await asyncio.to_thread(self._stat, ref)

    def _stat(self, path: str) -> ArtifactRef:
        name = self._name(path)
        sha256, _, stored_extension = name.partition(".")
        asked = path.rpartition("/")[2].partition(".")[2]
        size = lines = 0
        last = b""
        with self.open(path) as file:
            while block := file.read(BLOCK):
                size, lines, last = size + len(block), lines + block.count(b"\n"), block[-1:]
        lines += last not in (b"", b"\n")
        return ArtifactRef(sha256, size, lines, kind_of_extension(asked or stored_extension), "")

    def names(self) -> tuple[str, ...]:
        """Return the hashes of all stored bodies, sorted. Blocking: lists the folder."""
        self._list()
        return tuple(sorted(self._stored))

    def _list(self) -> None:
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            names = []
        self._stored = {n.partition(".")[0]: n for n in names if not n.startswith(".")}

    def _find(self, sha256: str) -> str | None:
        """Return the file name of a body, looking into the folder when it is not known yet."""
        if sha256 not in self._stored:
            # Another process of this run may have stored it; one look-up, not a listing.
            for name in (f"{sha256}.{extension}" for extension in EXTENSIONS):
                if os.path.lexists(self.folder / name):
                    self._stored[sha256] = name
                    break
        return self._stored.get(sha256)

    def _name(self, ref: ArtifactRef | str) -> str:
        found = self._find(ref.sha256) if isinstance(ref, ArtifactRef) else self._by_prefix(ref)
        if found is None:
            raise FileMissing(_said(ref), "there is no stored body of this name")
        return found

    def _by_prefix(self, path: str) -> str | None:
        if not (match := _NAME.match(path)):
            return None
        for listed in (False, True):
            if listed:
                self._list()
            if found := [n for sha, n in self._stored.items() if sha.startswith(match[1])]:
                return found[0] if len(found) == 1 else None
        return None


class _Sink:
    """A body on its way to the disk: hashed, counted and written block by block."""

    def __init__(self, folder: Path) -> None:
        self._path = str(folder)
        with self._refusals():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd, self._path = tempfile.mkstemp(dir=folder, prefix=".writing-")
        self._file = open(fd, "wb", buffering=0)  # noqa: SIM115 - closed by keep or drop
        self._hash = hashlib.sha256()
        self._size = self._feeds = 0
        self._head = self._last = b""
        self._kept = False

    def feed(self, data: bytes) -> None:
        if not data:
            return
        self._hash.update(data)
        with self._refusals():
            view = memoryview(data)
            while view:
                view = view[self._file.write(view) :]
        self._size += len(data)
        self._feeds += data.count(b"\n")
        if len(self._head) < _HEAD:
            self._head += data[: _HEAD - len(self._head)]
        self._last = (self._last + data[-16:])[-16:]

    def ref(self, kind: str | None, origin: str) -> ArtifactRef:
        lines = self._feeds + (not self._last.endswith(b"\n") and self._size > 0)
        kind = kind or guess_kind(self._head, self._last)
        return ArtifactRef(self._hash.hexdigest(), self._size, lines, kind, origin)

    def keep(self, path: Path) -> None:
        with self._refusals():
            os.replace(self._path, path)
        self._kept = True

    def close(self) -> None:
        self._file.close()
        if not self._kept:
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    @contextlib.contextmanager
    def _refusals(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StorageFailed(
                self._path,
                f"the body cannot be stored ({error.strerror or error}); nothing was kept",
                "Free some space or check the permissions.",
            ) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return -1


def _said(ref: ArtifactRef | str) -> str:
    return ref.path if isinstance(ref, ArtifactRef) else ref
