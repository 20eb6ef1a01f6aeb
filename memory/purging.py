"""Taking a secret out of a log: the one case in which stored events change."""

import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from .encoding import dumps, loads
from .errors import ContextError, LogError
from .events import Entry
from .interventions import SecretPurged
from .requests import CodecFor, Rebuilt, remake_requests
from .sqlite_log import Row, checksum, connect, entry_of, lock_log
from .stored_events import decode_event, encode_event

Clean = Callable[[str], str]
"""Takes the secret out of a text; returns it unchanged when it holds none."""


def purge_log(path: Path, clean: Clean, codec_for: CodecFor, *, files: int = 0) -> SecretPurged:
    """Apply `clean` to every text of every event at `path`, renew checksums, and say so in the log.

    Requests that change get the hash and size of what can be rebuilt of them now. `files` goes into the
    event, which is returned; nothing is recorded when no event changed and `files` is 0. The file is then
    written anew, so that no freed page keeps the secret. Raises `LogLocked`, `LogError`, `LogDamaged`.
    """
    lock = lock_log(path)
    try:
        with _alone(path) as db:
            rows = [cast(Row, row) for row in db.execute("select * from event order by seq")]
            before = [entry_of(path, row) for row in rows]
            changed = {row[0]: new for row in rows if (new := _cleaned(row, clean)) is not None}
            requests = _renewed(before, changed, codec_for)
            event = SecretPurged(len(changed), files, tuple(requests))
            if changed or files:
                _store(db, rows, changed | requests, event)
            db.execute("vacuum")
            return event
    except sqlite3.Error as error:
        raise LogError(
            f"the event log {str(path)!r} cannot be purged: {error}; nothing in it was changed"
        ) from error
    finally:
        os.close(lock)


@contextmanager
def _alone(path: Path) -> Generator[sqlite3.Connection]:
    """The file without a write-ahead log, whose pages would keep what was removed."""
    db = connect(path)
    try:
        db.execute("pragma journal_mode = delete")
        db.execute("pragma secure_delete = on")
        yield db
    finally:
        db.close()


def _store(
    db: sqlite3.Connection, rows: Sequence[Row], bodies: dict[int, bytes], event: SecretPurged
) -> None:
    kinds = {row[0]: row for row in rows}
    with db:
        for seq, body in bodies.items():
            _, thread, _, kind, version, _, _ = kinds[seq]
            crc = checksum(thread, kind, version, body)
            db.execute("update event set body = ?, crc = ? where seq = ?", (body, crc, seq))
        kind, version, body = encode_event(event)
        row = (rows[-1][0] + 1, "", time.time(), kind, version, body)
        crc = checksum("", kind, version, body)
        db.execute("insert into event values (?, ?, ?, ?, ?, ?, ?)", (*row, crc))


def _cleaned(row: Row, clean: Clean) -> bytes | None:
    """An event's new body, `None` when it held nothing."""
    value = loads(row[5])
    new = _walked(value, clean)
    return None if new == value else dumps(new)


def _walked(value: Any, clean: Clean) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        return {clean(key): _walked(part, clean) for key, part in fields.items()}
    if isinstance(value, list):
        return [_walked(part, clean) for part in cast(list[Any], value)]
    return value


def _renewed(
    before: Sequence[Entry], changed: dict[int, bytes], codec_for: CodecFor
) -> dict[int, bytes]:
    """New bodies of the requests that were whole and whose bytes are others now, by position."""
    renewed: dict[int, bytes] = {}
    for thread in dict.fromkeys(entry.thread for entry in before):
        own = [entry for entry in before if entry.thread == thread]
        if not any(entry.seq in changed for entry in own):
            continue
        after = [_after(entry, changed.get(entry.seq)) for entry in own]
        whole = {r.entry.seq for r in _remade(own, codec_for) if r.exact}
        for request in _remade(after, codec_for):
            if request.entry.seq in whole and not request.exact:
                renewed[request.entry.seq] = _rehashed(request)
    return renewed


def _remade(entries: Sequence[Entry], codec_for: CodecFor) -> Iterator[Rebuilt]:
    """The requests of a thread, up to one that cannot be made (by a codec that is not known here)."""
    try:
        yield from remake_requests(entries, codec_for)
    except ContextError:
        return


def _after(entry: Entry, body: bytes | None) -> Entry:
    if body is None:
        return entry
    kind, version, _ = encode_event(entry.event)
    return replace(entry, event=decode_event(kind, version, body))


def _rehashed(request: Rebuilt) -> bytes:
    import hashlib

    sha256 = hashlib.sha256(request.body).hexdigest()
    return encode_event(replace(request.sent, sha256=sha256, size=len(request.body)))[2]
