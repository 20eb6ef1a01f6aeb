"""Bringing the index up to date with the folders: only what changed is read."""

import hashlib
import os
import sqlite3
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileSkipped
from .chunks import chunk
from .extracted import Extracted
from .loaders import load, size_limit
from .normalise import language_of
from .passages import IndexReport, Skipped
from .rows import name_terms, row_terms
from .shown import packed, shown
from .status import status_of
from .store import IndexFile
from .walk import Candidate, Walk

_BATCH = 4_000_000  # characters of text written between two commits, so that memory stays flat
_SETTLE = (
    2_000_000_000  # ns; a file changed this shortly before it was read may change again unseen
)
_ADD_TERMS = "INSERT INTO terms (rowid, title, heading, body) VALUES (?, ?, ?, ?)"
_DROP_TERMS = "INSERT INTO terms (terms, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)"


@dataclass(frozen=True, slots=True)
class _Known:
    """What the index remembers of a file."""

    id: int
    path: bytes
    size: int
    mtime_ns: int
    settled: bool
    digest: bytes
    reason: str | None

    def looks_like(self, candidate: Candidate) -> bool:
        """Tell whether the file cannot have changed since, judging by its place, size and time."""
        same = (self.size, self.mtime_ns) == (candidate.size, candidate.mtime_ns)
        return same and self.settled and self.path == os.fsencode(candidate.path)


def sync(index: IndexFile, roots: Sequence[Path]) -> IndexReport:
    """Read new and changed files into the index, drop those that are gone; commits as it goes.

    Raises FolderMissing, IndexUnusable. A file that fails is reported, never raised.
    """
    own = [index.path.with_name(index.path.name + end) for end in ("", "-wal", "-shm", "-journal")]
    walk = Walk(roots, own)
    with index.connection() as connection:
        return _Sync(connection).run(walk)


class _Sync:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._pending = 0  # characters written since the last commit
        self._indexed = 0
        self._unchanged = 0

    def run(self, walk: Walk) -> IndexReport:
        known = self._known()
        skipped = list(walk.skipped)
        gone = dict.fromkeys(source for source, file in known.items() if file.reason is None)
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            seen: set[str] = set()
            for candidate in walk.candidates:
                reason = self._take(candidate, known, seen)
                if reason is None:
                    gone.pop(candidate.source, None)
                else:
                    skipped.append(Skipped(candidate.source, reason))
            for source in known.keys() - seen:
                self._remove(source)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return IndexReport(
            files=len(walk.candidates) + len(walk.skipped),
            indexed=self._indexed,
            unchanged=self._unchanged,
            removed=len(gone),
            passages=self._connection.execute("SELECT count(*) FROM passages").fetchone()[0],
            skipped=tuple(sorted(skipped, key=lambda each: (each.source, each.reason))),
        )

    def _known(self) -> dict[str, _Known]:
        rows = self._connection.execute(
            "SELECT source, id, path, size, mtime_ns, settled, digest, reason FROM files"
        )
        return {source: _Known(*rest) for source, *rest in rows}

    def _take(self, candidate: Candidate, known: dict[str, _Known], seen: set[str]) -> str | None:
        """Bring one file up to date; gives the reason when it cannot be used."""
        if candidate.source in seen:
            return "its name cannot be told from another one's"
        seen.add(candidate.source)
        file = known.get(candidate.source)
        if file and file.looks_like(candidate):
            self._unchanged += file.reason is None
            return file.reason
        try:
            return self._read_in(candidate, file)
        except (OSError, FileSkipped) as error:
            self._remove(candidate.source)
            if isinstance(error, FileSkipped):
                return str(error)
            return f"cannot be read: {error.strerror}"

    def _read_in(self, candidate: Candidate, file: _Known | None) -> str | None:
        data = _read(candidate)
        digest = hashlib.sha256(data).digest()
        if file and file.digest == digest:
            self._touch(candidate, file.id)
            self._unchanged += file.reason is None
            return file.reason
        extracted, reason = _extract(candidate.source, data)
        del data  # as large as the text; not needed while that is indexed
        self._remove(candidate.source)
        self._insert(candidate, extracted, digest, reason)
        self._indexed += reason is None
        self._pending += len(extracted.text) + 1_000
        if self._pending > _BATCH:
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")
            self._pending = 0
        return reason

    def _touch(self, candidate: Candidate, file: int) -> None:
        self._connection.execute(
            "UPDATE files SET path = ?, size = ?, mtime_ns = ?, settled = ? WHERE id = ?",
            (*_facts(candidate), file),
        )

    def _insert(
        self, candidate: Candidate, extracted: Extracted, digest: bytes, reason: str | None
    ) -> None:
        language = language_of(extracted.text)
        title = extracted.title[:500]
        status = status_of(candidate.source, extracted.text)
        size = len(shown(extracted.text, extracted.lines))
        facts = (candidate.source, *_facts(candidate), digest, title, language, status, reason)
        file = self._connection.execute(
            "INSERT INTO files (source, path, size, mtime_ns, settled, digest, title, language,"
            " status, reason, lines, shown) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*facts, packed(extracted), size),
        ).lastrowid
        if reason is not None:
            return
        name = " ".join(name_terms(candidate.source, title, language))
        for each in chunk(extracted):
            evidence = self._evidence_id(candidate.source, each.place, each.piece.strip())
            row = self._connection.execute(
                "INSERT INTO passages (evidence, file, place, heading, piece) VALUES (?, ?, ?, ?, ?)",
                (evidence, file, each.place, each.heading, each.piece),
            ).lastrowid
            self._connection.execute(
                _ADD_TERMS, (row, name, *_joined(each.heading, each.piece, title, language))
            )

    def _evidence_id(self, source: str, place: str, text: str) -> str:
        """Hash what the passage is; an id that another passage has already is hashed on."""
        key = "\x00".join((source, place, text)).encode("utf-8", "surrogatepass")
        while True:
            key = hashlib.sha256(key).digest()
            evidence = "e" + key.hex()[:7]
            if not self._connection.execute(
                "SELECT 1 FROM passages WHERE evidence = ?", (evidence,)
            ).fetchone():
                return evidence

    def _remove(self, source: str) -> None:
        row = self._connection.execute(
            "SELECT id, title, language FROM files WHERE source = ?", (source,)
        ).fetchone()
        if row is None:
            return
        file, title, language = row
        name = " ".join(name_terms(source, title, language))
        rows = self._connection.execute(
            "SELECT id, heading, piece FROM passages WHERE file = ?", (file,)
        ).fetchall()
        self._connection.executemany(
            _DROP_TERMS,
            (
                (row, name, *_joined(heading, piece, title, language))
                for row, heading, piece in rows
            ),
        )
        self._connection.execute("DELETE FROM passages WHERE file = ?", (file,))
        self._connection.execute("DELETE FROM files WHERE id = ?", (file,))


def _extract(source: str, data: bytes) -> tuple[Extracted, str | None]:
    """Load one file; the reason instead of a text when there is none to index."""
    try:
        return load(source, data), None
    except FileSkipped as error:
        return Extracted(""), str(error)
    except Exception as error:  # noqa: BLE001 - boundary: no document may stop the others
        return Extracted(""), f"cannot be read: {type(error).__name__}: {error}"


def _facts(candidate: Candidate) -> tuple[bytes, int, int, bool]:
    settled = candidate.mtime_ns + _SETTLE < time.time_ns()
    return os.fsencode(candidate.path), candidate.size, candidate.mtime_ns, settled


def _joined(heading: str, piece: str, title: str, language: str) -> tuple[str, str]:
    below, body = row_terms(heading, piece, title, language)
    return " ".join(below), " ".join(body)


def _read(candidate: Candidate) -> bytes:
    """Read one file whole; what is opened is checked again, so that a swapped file cannot hang us."""
    limit = size_limit(candidate.source)
    if candidate.size > limit:
        raise FileSkipped(_too_large(candidate.size, limit))
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(candidate.path, flags), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise FileSkipped("not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FileSkipped(_too_large(len(data), limit))
    return data


def _too_large(size: int, limit: int) -> str:
    return f"too large: {size / 1e6:,.0f} MB, the limit is {limit / 1e6:,.0f} MB"
