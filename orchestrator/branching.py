"""Forking a run: a new run that shares the events of another one up to the end of a turn."""

import os
import shutil
from pathlib import Path

from filesystem import RunFolder, StorageFailed
from memory import ContextError, RunForked, end_of_turn, fork_log, read_entries

from .errors import TurnNotFound
from .log_reading import thread_entries
from .run_state import started_of
from .runs import new_run_id
from .trust import is_ours, mark_as_ours


def fork_run(
    path: Path, turn: int, thread: str | None = None, *, run_id: str | None = None
) -> Path:
    """Make a run beside the one in `path` that has its events up to the end of a thread's turn.

    `turn` counts the thread's model calls from 1; 0 is before the first. `thread` `None` is the run's
    main thread, or its only one. The new run can be resumed and asked; the old one stays as it is.
    Files that agents wrote come along as they are now, not as they were at that turn. Returns the new
    folder. Raises `TurnNotFound`, `NotARunFolder`, `RunFolderExists`, `StorageFailed`, `LogError`.
    """
    origin = RunFolder.open(path)
    entries = read_entries(origin.events_db)
    own = thread_entries(entries, thread)
    try:
        last = end_of_turn(own, turn)
    except ContextError as error:
        raise TurnNotFound(f"thread {own[0].thread!r}: {error}") from error
    name = run_id or new_run_id()
    folder = RunFolder.create(path.parent, name)
    try:
        _carry_over(origin, folder)
        forked = RunForked(name, origin.run_id, own[0].thread, turn)
        fork_log(origin.events_db, folder.events_db, last, forked)
        started = started_of(entries, path)
        if is_ours(path, started):
            mark_as_ours(folder, started)
    except BaseException:
        shutil.rmtree(folder.path, ignore_errors=True)
        raise
    return folder.path


def _carry_over(origin: RunFolder, folder: RunFolder) -> None:
    """Stored bodies never change, so they are linked where the file system can; files are copied."""
    try:
        if origin.artifacts.is_dir():
            shutil.copytree(
                origin.artifacts, folder.artifacts, copy_function=_link, dirs_exist_ok=True
            )
        if origin.files.is_dir():
            shutil.copytree(origin.files, folder.files, symlinks=True, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise StorageFailed(
            str(folder.path), f"the run's files cannot be copied ({error})"
        ) from error


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
