"""Disk faults for `crash.py`: each must give one clear error, and leave the rest readable."""

import asyncio
import os
import sqlite3
import tempfile
from pathlib import Path

from _crash_runs import RUN, Account, drive, in_child, team

import orchestrator.runs
from memory import LogError, SqliteEventLog, read_entries, salvage_entries


def disk_faults(folder: Path) -> dict[str, str]:
    """What a full disk, a folder without write permission and a damaged page give: one clear error."""
    return {
        "full disk": full_disk(folder / "full"),
        "read-only folder": read_only(folder / "fixed"),
        "damaged last page": damaged(folder / "damaged"),
    }


def full_disk(folder: Path) -> str:
    """A log that may not grow stands for a full disk; resumed with room, the run ends as it should."""
    folder.mkdir()

    class Full(SqliteEventLog):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            self._db.execute("pragma max_page_count = 8")

    def run() -> int:
        orchestrator.runs.SqliteEventLog = Full
        try:
            asyncio.run(team(folder, Account(folder), 0).run("answer everything", run_id=RUN))
        except LogError as error:
            (folder / "said").write_text(str(error))
            return 0
        return 5

    _, status = os.waitpid(in_child(run), 0)
    if status != 0:
        return "no error was raised"
    kept = len(read_entries(folder / RUN / "events.db"))
    _, status = os.waitpid(in_child(lambda: drive(folder, 0, "", 0)), 0)
    return f"{(folder / 'said').read_text()!r}; {kept} events readable; resumed: {status == 0}"


def read_only(folder: Path) -> str:
    """Where nothing can be written, a new run and a resume say so; reading goes on."""
    folder.mkdir()
    asyncio.run(team(folder, Account(folder), 0).run("answer everything", run_id=RUN))
    said: list[str] = []

    def run() -> int:
        if os.getuid() == 0:  # root may write anywhere
            os.setgid(65534)
            os.setuid(65534)
        try:
            SqliteEventLog(folder / RUN / "events.db")
        except LogError as error:
            entries = len(read_entries(folder / RUN / "events.db"))
            (Path(said[0])).write_text(f"{str(error)!r}; {entries} events readable")
            return 0
        return 5

    folder.parent.chmod(0o755)
    with tempfile.NamedTemporaryFile() as answer:
        os.chmod(answer.name, 0o666)
        said.append(answer.name)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        folder.parent.chmod(0o755)
        _, status = os.waitpid(in_child(run), 0)
        for path in [folder, *folder.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        return Path(answer.name).read_text() if status == 0 else "no clear error"


def damaged(folder: Path) -> str:
    """The last page overwritten: the error names the log, and the threads before it can be read."""
    folder.mkdir()
    asyncio.run(team(folder, Account(folder), 0).run("answer everything", run_id=RUN))
    path = folder / RUN / "events.db"
    total = len(read_entries(path))
    with sqlite3.connect(path) as db:
        db.execute("pragma wal_checkpoint(truncate)")
        page = int(db.execute("pragma page_size").fetchone()[0])
        pages = db.execute(
            "select distinct pageno from dbstat where name = 'event' and pagetype = 'leaf'"
        )
        last = max(int(row[0]) for row in pages)
    db.close()
    with open(path, "r+b") as file:
        file.seek((last - 1) * page + 100)
        file.write(b"\xff" * (page - 100))
    try:
        read_entries(path)
        return "the damage was not noticed"
    except LogError as error:
        entries, faults = salvage_entries(path)
        return f"{type(error).__name__} {str(error)!r}; {len(entries)} of {total} events readable; {faults}"
