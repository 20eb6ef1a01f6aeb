"""What only the log on disk promises: crashes, locks, damage, permissions, a full disk."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from memory import LogDamaged, LogError, LogLocked, Noticed, SqliteEventLog, read_entries


async def _write(path, count):
    log = SqliteEventLog(path)
    for number in range(count):
        log.append("main", Noticed("step", {"n": number}))
    await log.close()


async def test_it_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "events.db"
    await _write(path, 3)
    await _write(path, 2)
    entries = read_entries(path)
    assert [e.seq for e in entries] == [1, 2, 3, 4, 5]
    assert [e.event.data["n"] for e in entries] == [0, 1, 2, 0, 1]


async def test_only_the_owner_can_read_it(tmp_path):
    path = tmp_path / "events.db"
    await _write(path, 1)
    assert path.stat().st_mode & 0o077 == 0
    assert path.with_suffix(".lock").stat().st_mode & 0o077 == 0


async def test_one_writer_at_a_time_and_readers_any_time(tmp_path):
    path = tmp_path / "events.db"
    log = SqliteEventLog(path)
    log.append("main", Noticed("step", {"n": 0}))
    await log.commit()
    with pytest.raises(LogLocked, match="another process"):
        SqliteEventLog(path)
    assert len(read_entries(path)) == 1
    log.append("main", Noticed("step", {"n": 1}))
    await log.commit()
    assert len(read_entries(path)) == 2
    await log.close()
    await SqliteEventLog(path).close()


async def test_a_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "events.db"
    await _write(path, 3)
    with sqlite3.connect(path) as db:
        db.execute("update event set body = cast(replace(body, '1', '7') as blob) where seq = 2")
    with pytest.raises(LogDamaged, match="event 2"):
        read_entries(path)


async def test_a_file_that_is_no_log(tmp_path):
    path = tmp_path / "events.db"
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(LogError, match="cannot"):
        SqliteEventLog(path)
    with pytest.raises(LogError, match="cannot read"):
        read_entries(path)
    with pytest.raises(LogError, match="no event log"):
        read_entries(tmp_path / "absent.db")


async def test_a_log_of_a_later_version_says_so(tmp_path):
    path = tmp_path / "events.db"
    await _write(path, 1)
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")
    with pytest.raises(LogError, match="later version"):
        SqliteEventLog(path)


async def test_a_full_disk_is_one_clear_error_and_keeps_what_was_there(tmp_path):
    path = tmp_path / "events.db"
    log = SqliteEventLog(path)
    log.append("main", Noticed("kept", {}))
    await log.commit()
    pages = log._db.execute("pragma page_count").fetchone()[0]
    log._db.execute(f"pragma max_page_count = {pages}")
    log.append("main", Noticed("lost", {"big": "x" * 1_000_000}))
    with pytest.raises(LogError, match="full"):
        await log.commit()
    with pytest.raises(LogError, match="full"):
        await log.commit()
    with pytest.raises(LogError):
        await log.close()
    assert [e.event.topic for e in read_entries(path)] == ["kept"]


def test_what_was_committed_survives_kill_9(tmp_path):
    """A child commits, says so, appends more and is killed: nothing committed is lost, no gap."""
    path = tmp_path / "events.db"
    program = textwrap.dedent(f"""
        import asyncio, pathlib
        from memory import Noticed, SqliteEventLog
        async def main():
            log = SqliteEventLog(pathlib.Path({str(path)!r}))
            n = 0
            while True:
                log.append("main", Noticed("step", {{"n": n}}))
                await log.commit()
                print(n, flush=True)
                n += 1
        asyncio.run(main())
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    for _ in range(200):
        said = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    rest = child.stdout.read().split()
    child.stdout.close()
    said = int(rest[-1]) if rest else said
    numbers = [e.event.data["n"] for e in read_entries(path)]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > said
