"""The index file: SQLite with FTS5, holding normalised terms to search and exact text to show."""

import sqlite3
import unicodedata
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue
from typing import TypeVar

from ..errors import IndexUnusable
from .languages import stemmer_stamp

_Answer = TypeVar("_Answer")

_APPLICATION = 0x556E6464  # marks the file as ours, so that no other database is ever emptied
_FORMAT = "4"  # raise it when loaders, chunks, terms or tables change: old indexes are made anew
_TIMEOUT = 60.0  # seconds to wait for another process that writes

# Terms are joined by spaces; the ASCII tokenizer takes every other character as part of a term. The
# full-text table keeps no copy of its terms: they are computed again when a file goes.
_SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL UNIQUE,
    path BLOB NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    settled INTEGER NOT NULL,
    digest BLOB NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    lines BLOB,
    shown INTEGER NOT NULL
);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    evidence TEXT NOT NULL UNIQUE,
    file INTEGER NOT NULL REFERENCES files(id),
    place TEXT NOT NULL,
    heading TEXT NOT NULL,
    piece TEXT NOT NULL
);
CREATE INDEX passages_of_file ON passages (file, id);
CREATE VIRTUAL TABLE terms USING fts5(
    title, heading, body, content='', tokenize="ascii tokenchars '.'"
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(terms, 'row');
"""


class IndexFile:
    """One index file and its connections; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        """Open the file, make it when absent (for its owner only), empty an older version's.

        Raises IndexUnusable when it cannot be opened or is somebody else's database.
        """
        self.path = path
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._closed = False
        with self.errors():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.touch(mode=0o600)  # it holds the documents' text; its companions get the same mode
            connection = self._connect()
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._idle.put(connection)

    @contextmanager
    def errors(self) -> Generator[None]:
        """Turn what SQLite and the system say into IndexUnusable."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise IndexUnusable(self.path, str(error)) from error

    @contextmanager
    def connection(self) -> Generator[sqlite3.Connection]:
        """Lend a connection, for one thread at a time; it comes back to be used again."""
        if self._closed:
            raise IndexUnusable(self.path, "it was closed")
        with self.errors():
            try:
                connection = self._idle.get_nowait()
            except Empty:
                connection = self._connect()
            try:
                yield connection
            finally:
                if self._closed:
                    connection.close()
                else:
                    self._idle.put(connection)

    def read(self, query: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        """Run a query on a connection of its own, all its statements on one state of the index."""
        with self.connection() as connection:
            connection.execute("BEGIN")
            try:
                return query(connection)
            finally:
                connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the idle connections; one in use is closed when it comes back."""
        self._closed = True
        while True:
            try:
                self._idle.get_nowait().close()
            except Empty:
                return

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # In this order: another opening may make both between the two.
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if tables and application != _APPLICATION:
            raise IndexUnusable(self.path, "it is a database of another program")
        _write_ahead(connection)
        connection.execute("BEGIN IMMEDIATE")
        if _stamp_of(connection) != _stamp():
            _make_tables(connection)
        connection.execute("COMMIT")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Set the journal's mode, for which SQLite itself does not wait while another connection sets it too."""
    from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

    busy = retry_if_exception(lambda e: getattr(e, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY)
    retrying = Retrying(
        retry=busy, stop=stop_after_delay(_TIMEOUT), wait=wait_random(0.005, 0.05), reraise=True
    )
    retrying(connection.execute, "PRAGMA journal_mode=WAL")


def _stamp() -> str:
    """What the terms depend on: they are computed again to remove a file, and must be the same."""
    return f"{_FORMAT}/{stemmer_stamp()}/{unicodedata.unidata_version}"


def _stamp_of(connection: sqlite3.Connection) -> str | None:
    try:
        row = connection.execute("SELECT value FROM settings WHERE name = 'stamp'").fetchone()
    except sqlite3.OperationalError:
        return None  # no tables yet
    return row[0] if row else None


def _make_tables(connection: sqlite3.Connection) -> None:
    for table in ("vocabulary", "terms", "passages", "files", "settings"):
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _SCHEMA.split(";\n"):
        connection.execute(statement)
    connection.execute("INSERT INTO settings VALUES ('stamp', ?)", (_stamp(),))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
