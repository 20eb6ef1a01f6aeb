"""What every file store can do, and the values it takes and returns.

Paths are relative, parts joined by `/` (see `clean_path`). Folders exist as long as they hold files.
Contents are bytes; a `str` is stored by `encode`, so that any text comes back as it was.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from .bodies import Body
from .searching import Hits, Query


@dataclass(frozen=True, slots=True)
class FileStat:
    """One file's state."""

    path: str
    """Path inside the store."""
    size: int
    """Bytes."""
    sha256: str
    """SHA-256 of the content, 64 hexadecimal digits: what `if_hash` compares."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing."""

    path: str
    """Path inside the store."""
    size: int | None
    """Bytes of a file; None for a folder."""


@dataclass(frozen=True, slots=True)
class Quota:
    """What a store may hold at most."""

    bytes: int | None = None
    """Sum of all file sizes, in bytes; None means no limit."""
    files: int | None = None
    """Number of files; None means no limit."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What an edit changed."""

    stat: FileStat
    """The file after the edit."""
    replaced: int
    """Places replaced, 1 or more."""
    line: int
    """Line of the first place, base 1."""


class FileStore(Protocol):
    """Files by path. Every refusal is a `FileError`; a refused change leaves everything as it was.

    `if_hash` makes a change conditional: on the SHA-256 of the present content, on there being no
    file (`ABSENT`), on nothing (None). A condition that fails raises `WriteConflict`. Conditions
    hold between everyone who uses the store, other processes included where the store is shared.
    """

    async def read(self, path: str, offset: int = 0, limit: int | None = None) -> bytes:
        """Return `limit` bytes (None: all) from byte `offset`; empty beyond the end."""
        ...

    def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield the content in blocks of at most 1 MiB, all of one version of the file.

        Appends that land meanwhile may or may not be seen.
        """
        ...

    async def stat(self, path: str) -> FileStat:
        """Return size and hash; reads the whole file."""
        ...

    async def write(self, path: str, body: Body, *, if_hash: str | None = None) -> FileStat:
        """Replace or create a file. Readers see the old content or the new, never a mixture."""
        ...

    async def append(self, path: str, data: str | bytes, *, if_hash: str | None = None) -> int:
        """Add to the end, creating the file when needed; return the new size in bytes."""
        ...

    async def edit(
        self, path: str, old: str, new: str, *, every: bool = False, if_hash: str | None = None
    ) -> EditResult:
        """Replace `old`, which must occur once (or, with `every`, at least once), by `new`.

        See `replace_exact` for line ends. Raises `EditNoMatch`, `EditAmbiguous`.
        """
        ...

    async def delete(self, path: str, *, if_hash: str | None = None) -> None:
        """Remove a file, and the folders that are empty then."""
        ...

    async def list(self, folder: str = "") -> tuple[Entry, ...]:
        """Return the files and folders directly in `folder`, sorted; "" is the root."""
        ...

    async def glob(self, pattern: str = "**") -> tuple[Entry, ...]:
        """Return the files whose path matches `pattern` (see `glob_matches`), sorted."""
        ...

    async def grep(self, query: Query) -> Hits:
        """Search the files' text; see `Query`."""
        ...
