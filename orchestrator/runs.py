"""Runs: opening one with its folder and log, and finding those of the past."""

import asyncio
import secrets
import shutil
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents import Emit, Limits, Meter, PendingCall, Run, RunFiles, ignore
from filesystem import NotARunFolder, RunFolder
from memory import (
    ApprovalGiven,
    EventLog,
    JsonObject,
    MemoryEventLog,
    MessageAdded,
    Noticed,
    RedactingLog,
    RunEnded,
    RunStarted,
    SqliteEventLog,
    Status,
    Text,
    TranscribingLog,
    read_entries,
    redact_blocks,
)

from .errors import RunNotFound
from .result import RunResult
from .run_state import RESUMED, run_end, run_status, spent_meter, started_of
from .telemetry import RunTrace
from .trust import check_ours, mark_as_ours
from .views import save_views

DAMAGED = "damaged"
"""Kind and status of a run whose log cannot be read."""


@dataclass(slots=True)
class LiveRun:
    """A run that this process is working on: what its agents share, and its folder."""

    run: Run
    folder: RunFolder | None
    started: RunStarted
    ended: RunEnded | None = None
    """How it ended or paused, while nobody has asked it to go on."""
    trace: RunTrace | None = None
    """The run's span, while this process works on it."""

    def __post_init__(self) -> None:
        self.begin_trace()

    def begin_trace(self) -> None:
        """Start the run's span, when it has none."""
        if self.trace is None:
            kind = str(self.started.options.get("kind", "coordinator"))
            self.trace = RunTrace(self.run, self.folder, kind)

    @property
    def path(self) -> Path | None:
        """The run folder, `None` for a run kept in memory."""
        return self.folder.path if self.folder else None

    async def end(self, status: Status, reason: str = "") -> None:
        """Record how the run ended, unless the log has it already."""
        if self.ended is None:
            self.ended = RunEnded(status, reason)
            self.run.log.append("", self.ended)
        await self.run.log.commit()

    async def take_up(self, emit: Emit) -> "LiveRun":
        """Make a run in memory ready to be gone on with."""
        self.run.emit = emit
        self.begin_trace()
        self.run.opened_at = (await self.run.log.read())[-1].seq
        return self

    def go_on(self) -> None:
        """Record that a run which stopped or paused is taken up again."""
        self.ended = None
        self.run.log.append("", Noticed(RESUMED, {"events": self.run.opened_at}))

    async def decide(self, decided: Iterable[tuple[PendingCall, ApprovalGiven]]) -> None:
        """Record what a person decided about calls that wait, and that the run goes on."""
        for call, event in decided:
            self.run.log.append(call.thread, event)
        if self.ended is not None:
            self.go_on()
        await self.run.log.commit()

    def ask(self, message: str) -> None:
        """Record a follow-up message; it opens a finished run again."""
        self.ended = None
        self.run.log.append("", MessageAdded((Text(message),)))

    async def close(self) -> None:
        """Write usage and transcripts, and give the log free."""
        log = self.run.log
        if self.trace is not None:
            trace, self.trace = self.trace, None
            await trace.end(self.ended.status if self.ended else None)
        try:
            if self.folder is not None:
                await log.commit()
                await asyncio.to_thread(save_views, self.folder, self.run.meter)
        finally:
            await log.close()

    def result(
        self, status: Status, reason: str = "", text: str = "", output: Any = None
    ) -> RunResult:
        """The result to hand to the caller."""
        usage = self.run.meter.usage
        return RunResult(self.run.id, status, reason, text, output or {}, usage, self.path)


def new_run_id() -> str:
    """A new id: local time, so that ids sort, and six random hex digits."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


async def start_run(
    root: Path | None,
    task: str,
    options: JsonObject,
    *,
    run_id: str | None = None,
    limits: Limits,
    emit: Emit = ignore,
    deps: Any = None,
) -> LiveRun:
    """Make a new run: a folder under `root`, or in memory when `root` is `None`.

    Raises `RunFolderExists`, `StorageFailed` or `LogError` when it cannot be made.
    """
    name = run_id or new_run_id()
    folder = RunFolder.create(root, name) if root is not None else None
    log: EventLog = _log_in(folder) if folder else MemoryEventLog()
    run = Run(name, log, Meter(limits), emit, deps)
    run.files = RunFiles(folder)
    run.files.shared = bool(options.get("shared_files"))
    _hide_secrets(run, options)
    started = run.log.append("", RunStarted(name, task, options)).event
    assert isinstance(started, RunStarted)
    await log.commit()
    if folder is not None:
        mark_as_ours(folder, started)
    return LiveRun(run, folder, started)


async def open_run(path: Path, *, limits: Limits, emit: Emit = ignore, deps: Any = None) -> LiveRun:
    """Open a run of the past to go on with it.

    Raises `NotARunFolder`, `LogLocked` while another process works on it, `LogError` when damaged.
    """
    folder = RunFolder.open(path)
    log = _log_in(folder)
    try:
        entries = await log.read()
        started = started_of(entries, path)
        await log.complete(entries)
    except BaseException:
        await log.close()
        raise
    run = Run(folder.run_id, log, spent_meter(limits, entries), emit, deps)
    run.files = RunFiles(folder)
    run.files.shared = bool(started.options.get("shared_files"))
    _hide_secrets(run, started.options)
    run.opened_at = entries[-1].seq
    live = LiveRun(run, folder, started, run_end(entries))
    if live.ended is None:
        live.go_on()
    return live


def _log_in(folder: RunFolder) -> TranscribingLog:
    """The log of a run folder, with transcripts beside it."""
    return TranscribingLog(SqliteEventLog(folder.events_db), folder.transcripts)


def _hide_secrets(run: Run, options: JsonObject) -> None:
    """Redact at the source, in front of log and models, when the run is to do so."""
    if options.get("redact_at_source"):
        run.log, run.hide = RedactingLog(run.log), redact_blocks


def check_trusted(path: Path) -> None:
    """Raise `RunNotTrusted` when this user did not make the run in `path` here."""
    entries = read_entries(RunFolder.open(path).events_db, "")
    check_ours(path, started_of(entries, path))


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One line of the list of runs."""

    run_id: str
    kind: str
    """`research`, `coordinator`, or `damaged` when its log cannot be read."""
    task: str
    status: str
    """The final status, `unfinished` when there is none yet."""
    started: float
    """Seconds since the epoch."""
    folder: Path


def list_runs(root: Path) -> list[RunInfo]:
    """The runs under `root`, oldest first; folders that are no runs are passed over."""
    if not root.is_dir():
        return []
    found: list[RunInfo] = []
    for path in sorted(root.iterdir()):
        try:
            folder = RunFolder.open(path)
        except NotARunFolder:
            continue
        found.append(_info(folder))
    return found


def _info(folder: RunFolder) -> RunInfo:
    name, when = folder.path.name, folder.path.stat().st_mtime
    try:
        entries = read_entries(folder.events_db, "")
        started = started_of(entries, folder.path)
    except Exception as error:  # noqa: BLE001 - the boundary: one damaged run must not hide the others
        return RunInfo(name, DAMAGED, str(error), DAMAGED, when, folder.path)
    kind = str(started.options.get("kind", "coordinator"))
    status = run_status(entries)
    return RunInfo(name, kind, started.task, status, entries[0].time, folder.path)


def find_run(root: Path, name: str) -> Path:
    """The folder of a run by path, id, unique beginning of an id, or `last`.

    Raises `RunNotFound`, which lists what there is.
    """
    if "/" in name or (Path(name) / "run.json").is_file():
        return RunFolder.open(Path(name)).path
    runs = list_runs(root)
    if name == "last" and runs:
        return max(runs, key=lambda info: (info.started, info.run_id)).folder
    matches = [info for info in runs if info.run_id == name] or [
        info for info in runs if name and info.run_id.startswith(name)
    ]
    if len(matches) == 1:
        return matches[0].folder
    known = ", ".join(info.run_id for info in (matches or runs)[-5:]) or "none"
    what = "more than one run begins with" if matches else "there is no run"
    raise RunNotFound(f"{what} {name!r} in {str(root)!r}; the newest are: {known}")


def remove_run(root: Path, name: str) -> Path:
    """Delete a run's folder with everything in it and return its path.

    Raises `RunNotFound`, or `LogLocked` while a process works on it.
    """
    path = find_run(root, name)
    SqliteEventLog.check_unlocked(path / "events.db")
    shutil.rmtree(path)
    return path
