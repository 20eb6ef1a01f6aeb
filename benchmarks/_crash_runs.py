"""The runs that `crash.py` kills: a coordinator with five subagents, its model, and a log that dies."""

import asyncio
import hashlib
import os
import shutil
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import orchestrator.runs
from agents import Agent, Conclusion, ScriptedModel, call, tool
from memory import SqliteEventLog, read_entries
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
    orchestrator.runs.SqliteEventLog = DyingLog
    DyingLog.die_at, DyingLog.moment, DyingLog.commits = die_at, moment, 0
    coordinator = team(folder, Account(folder), pause)
    log = folder / RUN / "events.db"

    async def run() -> str:
        if log.exists() and has_begun(log):
            result = await coordinator.resume(folder / RUN)
        else:
            shutil.rmtree(folder / RUN, ignore_errors=True)
            result = await coordinator.run("answer everything", run_id=RUN)
        return result.status

    status = asyncio.run(run())
    (folder / "commits").write_text(str(DyingLog.commits))
    return 0 if status == "done" else 4


def has_begun(log: Path) -> bool:
    try:
        return bool(read_entries(log))
    except Exception:  # a run killed before its first event is no run yet
        return False
