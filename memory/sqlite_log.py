"""The event log on SQLite: one file a run, one writer, commits grouped across threads."""

import asyncio
import contextlib
import fcntl
import os
import sqlite3
import threading
import time
import zlib
from collections.abc import Callable
from itertools import chain
from pathlib import Path

from .errors import LogDamaged, LogError, LogLocked
from .events import (
    Entry,
    Event,
)
from .stored_events import decode_event, encode_event

Row = tuple[int, str, float, str, int, bytes, int]
"""Position, thread, time, kind, version, body, checksum."""
_TOGETHER = 100
"""Rows of one statement: each one gives the interpreter away and waits to get it back."""

# Numbered migrations: the file's `user_version` says how many were applied.
_MIGRATIONS = (
    """
    create table event (
        seq integer primary key,
        thread text not null,
        time real not null,
        kind text not null,
        version integer not null,
        body blob not null,
        crc integer not null
    ) strict;
    create index event_by_thread on event (thread, seq);
    """,
)


def checksum(thread: str, kind: str, version: int, body: bytes) -> int:
    """CRC-32 over what an event says, so that a damaged page is noticed when it is read."""
    return zlib.crc32(body, zlib.crc32(f"{thread}\0{kind}\0{version}\0".encode("utf-8", "replace")))


class SqliteEventLog:
    """`EventLog` in one SQLite file (WAL, owner-only), safe against `kill -9` at any instant.

    Appends are numbered at once and written by one writer thread; a commit waits for the transaction
    that holds its events, and all threads that wait at that moment share it. What is appended without
    an `await` in between is in one transaction: a crash keeps all of it or none.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        """Open or create `path`. Raises `LogError` (unreadable, no event log, written by a later
        version) or `LogLocked` (another process is writing it)."""
        self._path, self._clock = path, clock
        self._lock = lock_log(path)
        try:
            self._db = connect(path)
            self._seq = int(
                self._db.execute("select coalesce(max(seq), 0) from event").fetchone()[0]
            )
        except sqlite3.Error as error:
            os.close(self._lock)
            raise LogError(
                f"cannot open the event log {str(path)!r}: {error}; read what is left with "
                "`undrift show RUN --verify`, or restore the file from a copy"
            ) from error
        except LogError:
            os.close(self._lock)
            raise
        self._threads = {
            str(row[0]) for row in self._db.execute("select distinct thread from event")
        }
        # Appended since the last commit; only a commit hands them to the writer, so that it never
        # takes a part of what belongs together.
        self._appended: list[Row] = []
        self._queue: list[Row] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._wake = threading.Condition()
        self._closed, self._failure = False, ""
        self._writer = threading.Thread(target=self._write_loop, name="event-log", daemon=True)
        self._writer.start()

    @staticmethod
    def check_unlocked(path: Path) -> None:
        """Raise `LogLocked` while a process is writing the log at `path`."""
        os.close(lock_log(path))

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event; see `EventLog.append`."""
        if self._closed:
            raise LogError(f"the event log {str(self._path)!r} is closed")
        kind, version, body = encode_event(event)
        self._seq += 1
        self._threads.add(thread)
        entry = Entry(self._seq, thread, self._clock(), event)
        crc = checksum(thread, kind, version, body)
        self._appended.append((entry.seq, thread, entry.time, kind, version, body, crc))
        return entry

    def has(self, thread: str) -> bool:
        """Whether there is such a thread; see `EventLog.has`."""
        return thread in self._threads

    async def commit(self) -> None:
        """Wait for the transaction that holds everything appended so far; see `EventLog.commit`."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._wake:
            if self._failure:
                raise LogError(self._failure)
            self._queue += self._appended
            self._appended = []
            self._waiting.append(done)
            self._wake.notify()
        await done

    async def read(self, thread: str | None = None, after: int = 0) -> list[Entry]:
        """Entries after a position; see `EventLog.read`. Raises `LogDamaged` on a bad checksum."""
        if not self._closed:
            await self.commit()
        return await asyncio.to_thread(read_entries, self._path, thread, after)

    async def close(self) -> None:
        """Commit, stop the writer and give the file free."""
        if self._closed:
            return
        try:
            await self.commit()
        finally:
            self._closed = True
            with self._wake:
                self._wake.notify()
            await asyncio.to_thread(self._writer.join)
            os.close(self._lock)

    def _write_loop(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closed:
                    self._wake.wait()
                rows, self._queue = self._queue, []
                waiting, self._waiting = self._waiting, []
            if rows:
                self._write(rows)
            for loop in {done.get_loop() for done in waiting}:
                with contextlib.suppress(
                    RuntimeError
                ):  # closed: nobody of that loop waits any more
                    loop.call_soon_threadsafe(_settle, loop, waiting, self._failure)
            if self._closed and not self._queue:
                self._db.close()
                return

    def _write(self, rows: list[Row]) -> None:
        """One transaction. A failure is final for this log: what follows would leave a gap."""
        if self._failure:
            return
        try:
            with self._db:
                for first in range(0, len(rows), _TOGETHER):
                    some = rows[first : first + _TOGETHER]
                    places = ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * len(some))
                    self._db.execute(f"insert into event values {places}", [*chain(*some)])  # noqa: S608 - fixed text
        except Exception as error:  # noqa: BLE001 - a writer that died would let all wait for ever
            self._failure = (
                f"the event log {str(self._path)!r} cannot be written: {error}; everything before "
                f"event {rows[0][0]} is kept; free some space or fix the folder, then resume the run"
            )


def _settle(
    loop: asyncio.AbstractEventLoop, waiting: list[asyncio.Future[None]], failure: str
) -> None:
    """Wake those of a loop who waited for one transaction, all at once."""
    for done in waiting:
        if done.get_loop() is not loop or done.done():
            continue
        if failure:
            done.set_exception(LogError(failure))
        else:
            done.set_result(None)


def lock_log(path: Path) -> int:
    """An advisory lock beside the file, held while this process writes; a crash frees it.

    Returns its open file; raises `LogLocked`, or `LogError` when the folder refuses.
    """
    try:
        fd = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LogError(
            f"cannot open the event log {str(path)!r}: {error}; let this user write in the folder, or copy "
            "the run to where it may"
        ) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise LogLocked(
            f"the run in {str(path.parent)!r} is being written by another process; "
            "wait until it ends or stop it, then try again"
        ) from error
    return fd


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open the file and bring it to the current form. Readers never block the writer (WAL)."""
    if read_only and not path.is_file():
        raise LogError(f"there is no event log at {str(path)!r}")
    if not read_only and not path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    db = sqlite3.connect(_address(path, read_only=read_only), check_same_thread=False, uri=True)
    try:
        if not read_only:
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = normal")
        _migrate(db, path, read_only=read_only)
    except BaseException:
        db.close()
        raise
    return db


def _address(path: Path, *, read_only: bool) -> str:
    """The file as SQLite opens it. In a folder that cannot be written there is no place for the index
    of the write-ahead log; without such a log none is needed."""
    name = path.absolute().as_uri()
    waiting = path.with_name(f"{path.name}-wal")
    fixed = read_only and not os.access(path.parent, os.W_OK) and not waiting.exists()
    return f"{name}?immutable=1" if fixed else name


def _migrate(db: sqlite3.Connection, path: Path, *, read_only: bool) -> None:
    version = int(db.execute("pragma user_version").fetchone()[0])
    if version > len(_MIGRATIONS):
        raise LogError(
            f"{str(path)!r} was written by a later version of Undrift; upgrade to read it"
        )
    if read_only:
        return
    for number, script in enumerate(_MIGRATIONS[version:], version + 1):
        db.executescript(f"begin; {script} pragma user_version = {number}; commit;")


def read_entries(
    path: Path, thread: str | None = None, after: int = 0, *, kind: str | None = None
) -> list[Entry]:
    """Read a log from disk, whether or not a process is writing it; `kind` is one of the stored words.

    Raises `LogError` when there is none, `LogDamaged` when an event does not match its checksum.
    """
    given = {"thread": thread, "kind": kind}
    asked = {name: value for name, value in given.items() if value is not None}
    where = "".join(f" and {name} = ?" for name in asked)
    try:
        db = connect(path, read_only=True)
        try:
            query = f"select * from event where seq > ?{where} order by seq"  # noqa: S608 - fixed text
            rows = db.execute(query, (after, *asked.values()))
            return [entry_of(path, row) for row in rows]
        finally:
            db.close()
    except sqlite3.Error as error:
        raise LogError(
            f"cannot read the event log {str(path)!r}: {error}; read what is left with "
            "`undrift show RUN --verify`"
        ) from error


def entry_of(path: Path, row: Row) -> Entry:
    """One stored row as an entry. Raises `LogDamaged` when it does not match its checksum."""
    seq, thread, when, kind, version, body, crc = row
    if checksum(thread, kind, version, body) != crc:
        raise LogDamaged(f"event {seq} in {str(path)!r} does not match its checksum")
    return Entry(seq, thread, when, decode_event(kind, version, body))
