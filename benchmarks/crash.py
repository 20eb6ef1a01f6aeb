"""Kills runs with SIGKILL, resumes them, and compares every thread with an undisturbed run (G8).

    python benchmarks/crash.py [--kills 320] [--seed 1]

A run is a coordinator with five subagents in parallel, each with tools, a second delegation and an
answer; the scripted model answers each request by what the request holds, so that every run says the
same. Kills come before, inside and after each commit of the log (a subclass of the log, which this
program installs in its own processes, stops there), and at random instants; some strike the resumed run
again. The children are forked from one warm process. Then the disk faults: a full disk, a folder that
cannot be written, a damaged last page.

Exit code 1 when an event was lost or doubled, or a finished call was paid twice.
"""

import argparse
import asyncio
import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orchestrator.runs
from agents import Agent, Conclusion, ScriptedModel, call, tool
from memory import (
    Entry,
    LogError,
    Noticed,
    ReplyReceived,
    RequestSent,
    SqliteEventLog,
    ToolReturned,
    encode_event,
    read_entries,
    salvage_entries,
)
from orchestrator import Coordinator

CHILDREN = 5
RUN = "run"
LARGE = 1_500
"""Lines of the third page: over the limit from which a result is stored and replaced."""
MOMENTS = ("before", "inside", "after")


class Account:
    """What the model and the tools were asked, appended to a file that survives a kill."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "account"
        self._fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, kind: str, what: str) -> None:
        os.write(self._fd, f"{kind} {what}\n".encode())

    @staticmethod
    def read(folder: Path) -> Counter[str]:
        path = folder / "account"
        return Counter(path.read_text().splitlines()) if path.exists() else Counter()


class Counted(ScriptedModel):
    """A scripted model whose calls are noted when they are paid for: when they are sent."""

    def __init__(self, script: Any, account: Account, pause: float) -> None:
        super().__init__(script, seconds=pause)
        self._account = account

    async def send(self, body: bytes, sink: Any = None) -> Any:
        self._account.note("model", hashlib.sha256(body).hexdigest())
        return await super().send(body, sink)


class DyingLog(SqliteEventLog):
    """A log that stops this process at the n-th commit: before it, inside its transaction, or after it."""

    die_at = 0
    moment = ""
    commits = 0

    async def commit(self) -> None:
        number = DyingLog.commits = DyingLog.commits + 1
        if number == self.die_at and self.moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        await super().commit()
        if number == self.die_at and self.moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    def _write(self, rows: list[Any]) -> None:
        if self.moment == "inside" and self.commits >= self.die_at:
            self._db.execute("begin")
            self._db.executemany("insert into event values (?, ?, ?, ?, ?, ?, ?)", rows)
            os.kill(os.getpid(), signal.SIGKILL)
        super()._write(rows)


def team(folder: Path, account: Account, pause: float) -> Coordinator:
    """The coordinator under test; its model answers by what it reads."""

    @tool(repeatable=True)
    async def look(topic: str, page: int) -> str:
        """Look something up."""
        account.note("tool", f"{topic}/{page}")
        await asyncio.sleep(pause)
        line = f"{topic} page {page}: {hashlib.sha256(f'{topic}{page}'.encode()).hexdigest()}\n"
        return line * (LARGE if page == 3 else 4)

    def lead(body: dict[str, Any]) -> Any:
        results = sum(m["role"] == "tool" for m in body["messages"])
        if results == 0:
            tasks = [{"agent": "helper", "task": f"topic {n}"} for n in range(CHILDREN)]
            return [call("delegate", tasks=tasks), call("look", topic="x", page=0)]
        if results == 2:
            tasks = [{"agent": "helper", "task": "topic again"}]
            return call("delegate", tasks=tasks)
        return "all is answered"

    def helper(body: dict[str, Any]) -> Any:
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        results = sum(m["role"] == "tool" for m in body["messages"])
        if results == 0:
            return [call("look", topic=task, page=1), call("look", topic=task, page=2)]
        if results == 2:
            return call("look", topic=task, page=3)
        return call("conclude", answer=f"about {task}: {results} pages")

    child = Agent(
        "helper", "Help.", Counted(helper, account, pause), [look], output_type=Conclusion
    )
    lead_agent = Agent("lead", "Lead.", Counted(lead, account, pause), [look])
    return Coordinator(lead_agent, [child], runs=folder)


def in_child(work: Any) -> int:
    """Run `work` in a forked process and return its id."""
    pid = os.fork()
    if pid == 0:
        code = 3
        try:
            code = work() or 0
        except BaseException as error:  # said by the exit code and the line
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(code)
    return pid


def drive(folder: Path, die_at: int, moment: str, pause: float) -> int:
    """Start or resume the run; the forked process's whole life."""
    orchestrator.runs.SqliteEventLog = DyingLog  # type: ignore[misc]
    DyingLog.die_at, DyingLog.moment, DyingLog.commits = die_at, moment, 0
    coordinator = team(folder, Account(folder), pause)
    log = folder / RUN / "events.db"

    async def run() -> str:
        if log.exists() and _has_begun(log):
            result = await coordinator.resume(folder / RUN)
        else:
            import shutil

            shutil.rmtree(folder / RUN, ignore_errors=True)
            result = await coordinator.run("answer everything", run_id=RUN)
        return result.status

    status = asyncio.run(run())
    (folder / "commits").write_text(str(DyingLog.commits))
    return 0 if status == "done" else 4


def _has_begun(log: Path) -> bool:
    try:
        return bool(read_entries(log))
    except Exception:  # a run killed before its first event is no run yet
        return False


def threads_of(path: Path) -> dict[str, list[bytes]]:
    """Each thread's events in a form that may be compared: no times, no positions, no recovery.

    Results of one turn are sorted, since tools end in any order; a request that was in flight when the
    process died has no reply and is left out.
    """
    entries = read_entries(path)
    answered = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
    place = {e.seq: f"{e.thread}:{type(e.event).__name__}" for e in entries}
    threads: dict[str, list[bytes]] = {}
    batch: dict[str, list[bytes]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, RequestSent) and entry.seq not in answered:
            continue
        if isinstance(event, Noticed) and event.topic == "resumed":
            continue
        line = threads.setdefault(entry.thread, [])
        if isinstance(event, ToolReturned):
            batch.setdefault(entry.thread, []).append(_plain(entry, place))
            continue
        line += sorted(batch.pop(entry.thread, []))
        line.append(_plain(entry, place))
    for thread, rest in batch.items():
        threads[thread] += sorted(rest)
    return threads


def _plain(entry: Entry, place: dict[int, str]) -> bytes:
    kind, _, body = encode_event(entry.event)
    data = json.loads(body)
    for name in ("last_event", "config", "request"):
        if isinstance(data.get(name), int):
            data[name] = place.get(data[name], "")
    if isinstance(entry.event, RequestSent):
        data.pop("last_event")
    data.pop("seconds", None)
    return f"{kind} {json.dumps(data, sort_keys=True)}".encode()


@dataclass
class Tally:
    """What all kills together came to."""

    kills: int = 0
    survived: int = 0
    """Aimed at, but the run ended before the kill came."""
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    paid_twice: int = 0
    models_repeated: int = 0
    tools_repeated: int = 0
    failed_resumes: int = 0
    points: Counter[str] = field(default_factory=Counter[str])


def finished(folder: Path) -> set[str]:
    """The model and tool calls whose reply or result the log holds, as the account names them."""
    path = folder / RUN / "events.db"
    if not _has_begun(path):
        return set()
    entries = read_entries(path)
    answered = {e.event.request for e in entries if isinstance(e.event, ReplyReceived)}
    calls = {
        f"model {e.event.sha256}"
        for e in entries
        if isinstance(e.event, RequestSent) and e.seq in answered
    }
    for entry in entries:
        if isinstance(entry.event, ToolReturned) and entry.event.name == "look":
            topic, _, page = entry.event.content[0].text.partition(":")[0].rpartition(" page ")
            calls.add(f"tool {topic}/{page}")
    return calls


def one_kill(
    tally: Tally, reference: dict[str, list[bytes]], plans: list[Any], pause: float
) -> None:
    """One run, struck once for each of `plans`, resumed to its end and compared."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        snapshots: list[tuple[set[str], Counter[str]]] = []
        for plan in plans:
            struck = strike(folder, plan, pause)
            tally.kills += struck
            tally.survived += not struck
            if struck:
                tally.points[plan[0]] += 1
                snapshots.append((finished(folder), Account.read(folder)))
        _, status = os.waitpid(in_child(lambda: drive(folder, 0, "", pause)), 0)
        if status != 0:
            tally.failed_resumes += 1
            return
        compare(tally, reference, threads_of(folder / RUN / "events.db"))
        counts = Account.read(folder)
        for done, before in snapshots:
            again = [name for name in done if counts[name] > before[name]]
            tally.paid_twice += len(again)
        tally.models_repeated += sum(n - 1 for k, n in counts.items() if k.startswith("model"))
        tally.tools_repeated += sum(n - 1 for k, n in counts.items() if k.startswith("tool"))


def strike(folder: Path, plan: Any, pause: float) -> bool:
    """Start or resume the run and kill it; False when it ended before."""
    kind, value = plan
    if kind == "random":
        pid = in_child(lambda: drive(folder, 0, "", pause))
        time.sleep(value)
        os.kill(pid, signal.SIGKILL)
    else:
        pid = in_child(lambda: drive(folder, value, kind, pause))
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status)


def compare(
    tally: Tally, reference: dict[str, list[bytes]], threads: dict[str, list[bytes]]
) -> None:
    """Count what is missing, what is there twice, and threads that differ in any other way."""
    for name in reference.keys() | threads.keys():
        wanted, got = reference.get(name, []), threads.get(name, [])
        if wanted != got:
            lost = (Counter(wanted) - Counter(got)).total()
            more = (Counter(got) - Counter(wanted)).total()
            tally.lost, tally.doubled = tally.lost + lost, tally.doubled + more
            tally.differing += 1
            if tally.differing <= 3:
                print(f"thread {name!r} differs:", file=sys.stderr)
                for line in (Counter(wanted) - Counter(got)).elements():
                    print(f"  - {line[:200]!r}", file=sys.stderr)
                for line in (Counter(got) - Counter(wanted)).elements():
                    print(f"  + {line[:200]!r}", file=sys.stderr)


def plans_of(kills: int, commits: int, seconds: float, dice: random.Random) -> list[list[Any]]:
    """Every commit at each of its three moments, then random instants; a quarter is struck twice."""
    plans = [[(moment, n)] for moment in MOMENTS for n in range(1, commits + 1)]
    if len(plans) > kills // 2:
        plans = dice.sample(plans, kills // 2)
    while sum(map(len, plans)) < kills:
        plans.append([("random", dice.uniform(0, seconds))])
        if dice.random() < 0.25:
            plans[-1].append(("random", dice.uniform(0, seconds)))
    return plans


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
        orchestrator.runs.SqliteEventLog = Full  # type: ignore[misc]
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


def main() -> int:
    """Kill, resume, compare; print one table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=320)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--pause", type=float, default=0.002, help="seconds of a model or tool call"
    )
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(team(folder, Account(folder), 0).run("answer everything", run_id="warm"))
        (folder / "once").mkdir()
        started = time.monotonic()
        assert os.waitpid(in_child(lambda: drive(folder / "once", 0, "", options.pause)), 0)[1] == 0
        seconds = time.monotonic() - started
        commits = int((folder / "once" / "commits").read_text())
        reference = threads_of(folder / "once" / RUN / "events.db")
        tally = Tally()
        for plan in plans_of(options.kills, commits, seconds, random.Random(options.seed)):
            one_kill(tally, reference, plan, options.pause)
        events = sum(map(len, reference.values()))
        print(f"undisturbed: {len(reference)} threads, {events} events, {commits} commits")
        print(f"kills: {tally.kills} ({dict(tally.points)}); came too late: {tally.survived}")
        print(
            f"events lost: {tally.lost}; doubled: {tally.doubled}; threads differing: {tally.differing}"
        )
        print(
            f"finished calls made twice: {tally.paid_twice}; resumes that failed: {tally.failed_resumes}"
        )
        print(
            f"calls in flight made again: {tally.models_repeated} model calls, "
            f"{tally.tools_repeated} tool calls"
        )
        print(f"{time.monotonic() - began:.0f} s")
        for fault, said in disk_faults(folder).items():
            print(f"{fault}: {said}")
    bad = tally.lost + tally.doubled + tally.differing + tally.paid_twice + tally.failed_resumes
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
