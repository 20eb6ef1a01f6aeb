"""Reading what can still be read of a damaged event log."""

import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from .errors import EventError, LogDamaged, LogError
from .events import Entry
from .sqlite_log import Row, connect, entry_of

_MOST_PADDED = 1 << 34
"""Bytes that a cut file is taken to have had, at most."""


def salvage_entries(path: Path) -> tuple[list[Entry], list[str]]:
    """All entries that can be read, and one line for each fault; no faults means a whole log.

    An event that does not match its checksum is left out. Where pages are damaged, events are read from
    both ends up to the damage. Raises `LogError` when nothing can be read at all.
    """
    faults: list[str] = []
    with _opened(path, faults) as db:
        found = {row[0]: row for row in _rows(db, "asc", faults)}
        if faults:
            last = max(found, default=0)
            behind = {row[0]: row for row in _rows(db, "desc", []) if row[0] > last}
            faults[0] += f"; events are missing from {last + 1} on"
            if behind:
                faults[0] += f" up to {min(behind) - 1}"
            found |= behind
    entries: list[Entry] = []
    for seq in sorted(found):
        try:
            entries.append(entry_of(path, found[seq]))
        except (LogDamaged, EventError) as error:
            faults.append(str(error))
    return entries, faults


@contextmanager
def _opened(path: Path, faults: list[str]) -> Generator[sqlite3.Connection]:
    """The log, or a copy of it with empty pages in place of those that a cut file has lost."""
    with TemporaryDirectory(prefix="undrift-") as folder:
        try:
            db = connect(path, read_only=True)
        except sqlite3.Error as error:
            faults.append(f"the file is damaged ({error})")
            try:
                db = connect(_padded(path, Path(folder)), read_only=True)
            except (sqlite3.Error, OSError) as second:
                raise LogError(f"cannot read the event log {str(path)!r}: {second}") from error
        try:
            yield db
        finally:
            db.close()


def _padded(path: Path, folder: Path) -> Path:
    """A copy as long as its first page says: SQLite opens no shorter one."""
    copy = folder / path.name
    for source in (path, path.with_name(f"{path.name}-wal")):
        if source.is_file():
            shutil.copyfile(source, folder / source.name)
    with copy.open("r+b") as file:
        header = file.read(100)
        size = int.from_bytes(header[16:18])
        pages = int.from_bytes(header[28:32])
        wanted = (65_536 if size == 1 else size) * pages
        # A first page that is no SQLite header must not make a file of terabytes.
        if header.startswith(b"SQLite format 3\0") and wanted <= _MOST_PADDED:
            file.truncate(max(wanted, path.stat().st_size))
    return copy


def _rows(db: sqlite3.Connection, order: str, faults: list[str]) -> Iterator[Row]:
    try:
        yield from db.execute(f"select * from event order by seq {order}")  # noqa: S608 - fixed words
    except sqlite3.Error as error:
        faults.append(f"the file is damaged ({error})")
