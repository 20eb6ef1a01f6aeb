"""Everything in a log read back: checksums, positions, and every request against its hash."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from .errors import ContextError
from .events import Entry, SummaryAsked
from .interventions import SecretPurged
from .requests import CodecFor, remake_requests, requests_of
from .salvage import salvage_entries
from .sqlite_log import connect


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a check of a log found."""

    events: int
    """Events that could be read and match their checksum."""
    threads: int
    """Agents' threads; the run's own events are none."""
    requests: int
    """Requests that were rebuilt and match their hash."""
    purged: tuple[int, ...]
    """Requests that are whole, but not what was sent: a secret was taken out of them."""
    problems: tuple[str, ...]
    """What is wrong, one line each; none for a whole log."""


def verify_log(path: Path, codec_for: CodecFor) -> LogCheck:
    """Read the whole log at `path`, and rebuild every request.

    A fault is in the result, not raised; raises `LogError` when nothing can be read at all.
    """
    entries, problems = salvage_entries(path)
    problems += _pages(path)
    problems += _gaps(entries)
    threads = list(dict.fromkeys(entry.thread for entry in entries))
    good = 0
    for thread in threads:
        own = [entry for entry in entries if entry.thread == thread]
        rebuilt, wrong = _rebuild(thread, own, codec_for)
        good += rebuilt
        problems += wrong
    purges = [entry.event for entry in entries if isinstance(entry.event, SecretPurged)]
    purged = sorted({seq for event in purges for seq in event.requests})
    return LogCheck(
        len(entries), len([t for t in threads if t]), good, tuple(purged), tuple(problems)
    )


def _pages(path: Path) -> list[str]:
    """SQLite's own check of the file."""
    try:
        db = connect(path, read_only=True)
        try:
            found = [str(row[0]) for row in db.execute("pragma integrity_check(20)")]
        finally:
            db.close()
    except sqlite3.Error as error:
        found = [str(error)]
    return [f"the file is damaged: {words}" for words in found if words != "ok"]


def _gaps(entries: list[Entry]) -> list[str]:
    problems: list[str] = []
    expected = 1
    for entry in entries:
        if entry.seq != expected:
            last = entry.seq - 1
            problems.append(
                f"event {expected} is missing"
                if last == expected
                else f"events {expected} to {last} are missing"
            )
        expected = entry.seq + 1
    return problems


def _rebuild(thread: str, entries: list[Entry], codec_for: CodecFor) -> tuple[int, list[str]]:
    """How many requests of a thread are what was sent, and what is wrong with the others."""
    good, wrong = 0, list[str]()
    try:
        for request in remake_requests(entries, codec_for, summaries=True):
            if request.exact:
                good += 1
            else:
                wrong.append(
                    f"request {request.entry.seq} of thread {thread!r} is not what was sent: its bytes "
                    "do not match their hash"
                )
    except ContextError as error:
        asked = sum(isinstance(entry.event, SummaryAsked) for entry in entries)
        left = len(requests_of(entries)) + asked - good - len(wrong)
        wrong.append(f"thread {thread!r}: {error}; {left} of its requests could not be rebuilt")
    return good, wrong
