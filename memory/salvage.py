"""Reading what can still be read of a damaged event log."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from .errors import EventError, LogDamaged, LogError
from .events import Entry
from .sqlite_log import Row, connect, entry_of


def salvage_entries(path: Path) -> tuple[list[Entry], list[str]]:
    """All entries that can be read, and one line for each fault; no faults means a whole log.

    An event that does not match its checksum is left out. Where pages are damaged, events are read from
    both ends up to the damage. Raises `LogError` when nothing can be read at all.
    """
    faults: list[str] = []
    try:
        db = connect(path, read_only=True)
    except sqlite3.Error as error:
        raise LogError(f"cannot read the event log {str(path)!r}: {error}") from error
    try:
        found = {row[0]: row for row in _rows(db, "asc", faults)}
        if faults:
            last = max(found, default=0)
            behind = {row[0]: row for row in _rows(db, "desc", []) if row[0] > last}
            faults[0] += f"; events are missing from {last + 1} on"
            if behind:
                faults[0] += f" up to {min(behind) - 1}"
            found |= behind
    finally:
        db.close()
    entries: list[Entry] = []
    for seq in sorted(found):
        try:
            entries.append(entry_of(path, found[seq]))
        except (LogDamaged, EventError) as error:
            faults.append(str(error))
    return entries, faults


def _rows(db: sqlite3.Connection, order: str, faults: list[str]) -> Iterator[Row]:
    try:
        yield from db.execute(f"select * from event order by seq {order}")  # noqa: S608 - fixed words
    except sqlite3.Error as error:
        faults.append(f"the file is damaged ({error})")
