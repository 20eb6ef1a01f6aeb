"""`undrift runs` and `undrift show`: looking at the runs of the past."""

import json as json_text
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .guard import BadInput
from .options import AsJson, Out, RunName
from .screen import one_line, put, say, visible

if TYPE_CHECKING:
    from memory import Entry


def runs(context: typer.Context, *, out: Out = "runs", json: AsJson = False) -> None:
    """List runs; `runs rm RUN` removes one."""
    if context.invoked_subcommand is not None:
        return
    from ..runs import list_runs

    found = list_runs(Path(out))
    if json:
        rows = [
            {
                "run": info.run_id,
                "kind": info.kind,
                "status": info.status,
                "started": info.started,
                "task": info.task,
                "folder": str(info.folder),
            }
            for info in found
        ]
        put(json_text.dumps({"runs": rows}))
        return
    if not found:
        say(f"no runs in {out!r}")
    for info in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.started))
        name = one_line(info.run_id, 100)
        put(f"{name}  {when}  {info.kind:<11} {info.status:<10} {one_line(info.task)}")


def remove(run: RunName, *, out: Out = "runs") -> None:
    """Delete a run's folder with everything in it."""
    from ..runs import remove_run

    put(f"removed {one_line(str(remove_run(Path(out), run)), 1000)}")


def show(
    run: RunName,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="T", help="Only this agent's thread.")
    ] = None,
    out: Out = "runs",
) -> None:
    """Show what happened in a run, in order."""
    from filesystem import RunFolder
    from memory import read_entries

    from ..runs import find_run

    folder = RunFolder.open(find_run(Path(out), run))
    entries = read_entries(folder.events_db)
    if thread is not None:
        known = list(dict.fromkeys(entry.thread for entry in entries if entry.thread))
        if thread not in known:
            names = ", ".join(known) or "none"
            raise BadInput(
                f"run {folder.run_id!r} has no thread {thread!r}; its threads are: {names}"
            )
        entries = [entry for entry in entries if entry.thread == thread]
    for text in _told(entries):
        put(visible(text))


def _told(entries: Sequence["Entry"]) -> Iterator[str]:
    """The events as text, with a heading wherever another thread goes on."""
    from memory import transcript_text

    current: str | None = None
    for entry in entries:
        if entry.thread != current:
            current = entry.thread
            yield f"\n##### {current or 'the run'}"
        yield transcript_text([entry])
