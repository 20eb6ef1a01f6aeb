"""Forking a log: a copy of its events up to the end of one turn, for a run that goes another way."""

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from .errors import ContextError, LogError
from .events import Entry, ReplyReceived, ToolReturned
from .interventions import RunForked
from .requests import requests_of
from .sqlite_log import Row, checksum, connect, entry_of
from .stored_events import encode_event


def end_of_turn(entries: Sequence[Entry], turn: int) -> int:
    """Position of the last event of turn `turn` of one thread: its reply, or the last of its results.

    Turn 0 ends before the first request. Raises `ContextError` when there is no such turn.
    """
    requests = [entry.seq for entry in requests_of(entries)]
    if not 0 <= turn <= len(requests) or not entries:
        raise ContextError(f"there is no turn {turn}: this thread has {len(requests)}, from 1 on")
    begins = requests[turn - 1] if turn else 0
    ends = requests[turn] if turn < len(requests) else entries[-1].seq + 1
    inside = [entry for entry in entries if begins <= entry.seq < ends]
    done = [e.seq for e in inside if isinstance(e.event, ReplyReceived | ToolReturned)]
    if turn and not done:
        raise ContextError(f"turn {turn} has no reply yet; fork at turn {turn - 1}")
    return done[-1] if done else ends - 1


def fork_log(origin: Path, target: Path, last: int, forked: RunForked) -> None:
    """Copy the events of `origin` up to position `last` into a new log at `target`, byte for byte.

    `forked` is its next event. Raises `LogError`, `LogDamaged` for an event that does not match its
    checksum.
    """
    try:
        source = connect(origin, read_only=True)
        try:
            found = source.execute("select * from event where seq <= ? order by seq", (last,))
            rows = [cast(Row, row) for row in found]
        finally:
            source.close()
        for row in rows:
            entry_of(origin, row)
        kind, version, body = encode_event(forked)
        crc = checksum("", kind, version, body)
        rows.append((last + 1, "", time.time(), kind, version, body, crc))
        db = connect(target)
        try:
            with db:
                db.executemany("insert into event values (?, ?, ?, ?, ?, ?, ?)", rows)
        finally:
            db.close()
    except sqlite3.Error as error:
        raise LogError(f"{str(origin)!r} cannot be forked into {str(target)!r}: {error}") from error
