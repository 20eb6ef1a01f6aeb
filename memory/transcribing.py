"""Transcripts as it happens: what a log commits is written beside it, for people and for machines.

`NAME.txt` frames each event as `transcript_text` does; `NAME.jsonl` holds one event a line. Both are
redacted, and both are only views: the log is the original, and a run that goes on completes them.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from .encoding import dumps, loads
from .events import Entry, Event
from .log import EventLog
from .redaction import may_hold_secrets, redact, redact_value
from .stored_events import encode_event
from .transcripts import transcript_text

PAUSE, LONGEST_PAUSE = 20, 0.5
"""Times that writing took, and seconds at most, before the next writing: many agents at once then share
one opening of each file."""
_END = 1 << 16
"""Bytes at the end of a file in which its last line begins, as a rule."""


class TranscribingLog:
    """An `EventLog` in front of another one that writes transcripts of what was committed.

    A commit does not wait for them; what is written in one go are all events since the last one.
    """

    def __init__(self, log: EventLog, folder: Path) -> None:
        """`folder` is where the transcripts are; it must exist."""
        self._log, self._folder = log, folder
        self._new: list[Entry] = []
        self._committed: list[Entry] = []
        self._writing: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self.failure = ""
        """Why transcripts could not be written, `""` while they can; the log goes on without them."""

    def append(self, thread: str, event: Event) -> Entry:
        """Add an event; see `EventLog.append`."""
        entry = self._log.append(thread, event)
        self._new.append(entry)
        return entry

    def has(self, thread: str) -> bool:
        """Whether there is such a thread; see `EventLog.has`."""
        return self._log.has(thread)

    async def commit(self) -> None:
        """See `EventLog.commit`."""
        ready, self._new = self._new, []
        await self._log.commit()
        self._committed += ready
        if self._committed and self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def read(self, thread: str | None = None, after: int = 0) -> list[Entry]:
        """See `EventLog.read`."""
        return await self._log.read(thread, after)

    async def close(self) -> None:
        """Commit, write the transcripts to their end, and close the log."""
        try:
            self._closing.set()
            await self.commit()
            while self._writing is not None:
                await self._writing
        finally:
            await self._log.close()

    async def complete(self, entries: Iterable[Entry]) -> None:
        """Bring the transcripts of a run of the past in step with its log; `entries` are all of it."""
        await self._guarded(_complete, self._folder, list(entries))

    async def _write(self) -> None:
        try:
            while self._committed:
                started = time.monotonic()
                await self._guarded(_add, self._folder, self._take())
                pause = min(LONGEST_PAUSE, PAUSE * (time.monotonic() - started))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), pause)
        finally:
            self._writing = None

    def _take(self) -> list[Entry]:
        """What waits to be written, in order; nothing here holds it while the writing pauses."""
        batch, self._committed = self._committed, []
        return sorted(batch, key=lambda entry: entry.seq)

    async def _guarded(
        self, writing: Callable[[Path, list[Entry]], None], folder: Path, entries: list[Entry]
    ) -> None:
        try:
            await asyncio.to_thread(writing, folder, entries)
        except OSError as error:
            self.failure = f"{folder}: {error.strerror or error}"


def _add(folder: Path, entries: list[Entry]) -> None:
    """Append events to the files of their threads; a line for machines is written last."""
    for name, own in _by_thread(entries).items():  # no `Path` each: it costs more than the opening
        _append(f"{folder}/{name}.txt", _text(own))
        _append(f"{folder}/{name}.jsonl", _lines(own))


def _complete(folder: Path, entries: list[Entry]) -> None:
    """Write those files anew whose last line is not their thread's last event."""
    for name, own in _by_thread(entries).items():
        if _last_written(folder / f"{name}.jsonl") == own[-1].seq:
            continue
        for ending, data in ((".txt", _text(own)), (".jsonl", _lines(own))):
            path = folder / f"{name}{ending}"
            part = folder / f".{name}{ending}.new"
            with contextlib.suppress(FileNotFoundError):
                part.unlink()
            _append(part, data)
            part.replace(path)


def _by_thread(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    threads: dict[str, list[Entry]] = {}
    for entry in entries:
        threads.setdefault(entry.thread.replace("/", "_") or "run", []).append(entry)
    return threads


def _text(entries: list[Entry]) -> bytes:
    return redact(transcript_text(entries)).encode("utf-8", "surrogatepass")


def _lines(entries: list[Entry]) -> bytes:
    return b"".join(_line(entry) + b"\n" for entry in entries)


def _line(entry: Entry) -> bytes:
    kind, version, body = encode_event(entry.event)
    if may_hold_secrets(body.decode("utf-8", "replace")):
        body = dumps(redact_value(loads(body)))
    head = {
        "seq": entry.seq,
        "thread": entry.thread,
        "time": entry.time,
        "kind": kind,
        "version": version,
    }
    return dumps(head)[:-1] + b',"event":' + body + b"}"


def _append(path: Path | str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "ab", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def _last_written(path: Path) -> int:
    """The position in a file's last line, 0 when there is none that is whole."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            back = _END
            while True:
                file.seek(max(0, size - back))
                data = file.read()
                start = data.rfind(b"\n", 0, -1)
                if start >= 0 or back >= size:
                    break
                back *= 8
        line = loads(data[start + 1 :]) if data.endswith(b"\n") else {}
        return int(line.get("seq", 0))
    except (OSError, ValueError, AttributeError):
        return 0
