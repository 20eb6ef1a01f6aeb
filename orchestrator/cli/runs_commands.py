"""`undrift runs`: the runs of the past."""

import json as json_text
import time
from pathlib import Path

import typer

from .options import AsJson, Out, RunName
from .screen import one_line, put, say


def runs(context: typer.Context, *, out: Out = "runs", json: AsJson = False) -> None:
    """List runs; see also `runs rm` and `runs purge`."""
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
