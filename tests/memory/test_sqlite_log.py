"""What only the log on disk promises: crashes, locks, damage, permissions, a full disk."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

from agents import codec_for
from memory import (
    LogDamaged,
    LogError,
    LogLocked,
    MessageAdded,
    Noticed,
    SqliteEventLog,
    Text,
    read_entries,
    salvage_entries,
    verify_log,
)


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


async def _long_log(path):
    """A log of some 60 pages; its file is complete, without a write-ahead log."""
    log = SqliteEventLog(path)
    for number in range(200):
        log.append("main", Noticed("step", {"n": number, "text": "x" * 1000}))
    await log.close()
    return read_entries(path)


def _page_size(path):
    with sqlite3.connect(path) as db:
        return db.execute("pragma page_size").fetchone()[0]


async def test_a_corrupted_last_page_is_one_clear_error_and_the_rest_is_readable(tmp_path):
    path = tmp_path / "events.db"
    whole = await _long_log(path)
    size = _page_size(path)
    with path.open("r+b") as file:
        file.seek(-size, os.SEEK_END)
        file.write(b"\xff" * size)
    with pytest.raises(LogError, match=r"cannot read|checksum"):
        read_entries(path)
    entries, faults = salvage_entries(path)
    by_seq = {e.seq: e for e in whole}
    assert all(by_seq[e.seq] == e for e in entries)
    assert len(entries) >= len(whole) - 10
    assert faults
    found = verify_log(path, codec_for)
    assert found.events == len(entries)
    assert any("damaged" in words for words in found.problems)


async def test_a_truncated_file_is_one_clear_error_and_the_rest_is_readable(tmp_path):
    path = tmp_path / "events.db"
    whole = await _long_log(path)
    os.truncate(path, path.stat().st_size - 10 * _page_size(path))
    with pytest.raises(LogError, match="cannot read"):
        read_entries(path)
    entries, faults = salvage_entries(path)
    by_seq = {e.seq: e for e in whole}
    assert all(by_seq[e.seq] == e for e in entries)
    assert len(entries) >= len(whole) - 40
    assert faults


async def test_a_reader_with_an_open_transaction_does_not_block_the_writer(tmp_path):
    path = tmp_path / "events.db"
    log = SqliteEventLog(path)
    log.append("main", Noticed("step", {"n": 0}))
    await log.commit()
    with sqlite3.connect(path) as reader:
        reader.execute("begin")
        assert reader.execute("select count(*) from event").fetchone() == (1,)
        for number in range(1, 50):
            log.append("main", Noticed("step", {"n": number}))
            await log.commit()
        assert reader.execute("select count(*) from event").fetchone() == (1,)
        reader.execute("commit")
        assert reader.execute("select count(*) from event").fetchone() == (50,)
    reader.close()
    await log.close()


async def test_any_number_of_events_is_one_transaction_and_kinds_can_be_read_alone(tmp_path):
    path = tmp_path / "events.db"
    log = SqliteEventLog(path)
    for number in range(250):
        log.append("main", Noticed("step", {"n": number}))
    log.append("main", MessageAdded((Text("x"),)))
    await asyncio.gather(*(log.commit() for _ in range(5)))
    assert [entry.seq for entry in read_entries(path)] == list(range(1, 252))
    assert [entry.seq for entry in read_entries(path, kind="message_added")] == [251]
    assert read_entries(path, "other", kind="message_added") == []
    await log.close()


async def test_a_text_that_sqlite_refuses_is_an_error_and_no_endless_wait(tmp_path):
    log = SqliteEventLog(tmp_path / "events.db")
    log.append("half a character: \ud800", Noticed("step", {}))
    async with asyncio.timeout(10):
        with pytest.raises(LogError, match="surrogates"):
            await log.commit()
        with pytest.raises(LogError, match="surrogates"):
            await log.close()


def test_a_loop_that_is_closed_during_a_commit_stops_no_later_one(tmp_path):
    path = tmp_path / "events.db"
    log = SqliteEventLog(path)

    loop = asyncio.new_event_loop()
    loop.close()
    gone = loop.create_future()
    log.append("main", Noticed("step", {"n": 0}))
    log._waiting.append(gone)

    async def go_on():
        async with asyncio.timeout(10):
            await log.commit()
            await log.commit()
            await log.close()

    asyncio.run(go_on())
    assert len(read_entries(path)) == 1


async def test_a_log_of_a_later_version_is_refused_and_not_kept_locked(tmp_path):
    path = tmp_path / "events.db"
    await _write(path, 1)
    with sqlite3.connect(path) as db:
        db.execute("pragma user_version = 99")
    with pytest.raises(LogError, match="later version"):
        SqliteEventLog(path)
    SqliteEventLog.check_unlocked(path)
