"""`undrift fork` and `undrift runs purge`: going another way from a turn, taking a secret out."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from .guard import BadInput
from .options import Out, RunName
from .screen import one_line, put, say


def fork(
    run: RunName,
    turn: Annotated[
        int,
        typer.Option(
            "--turn", metavar="N", help="The last turn to keep, from 1; 0 keeps the task alone."
        ),
    ],
    *,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="T", help="The thread whose turns count; else the main one."
        ),
    ] = None,
    out: Out = "runs",
) -> None:
    """Start a new run that shares a run's events up to the end of a turn."""
    from ..branching import fork_run
    from ..runs import find_run

    folder = fork_run(find_run(Path(out), run), turn, thread)
    put(one_line(str(folder), 1000))
    say(f"go on with: undrift resume {folder.name}, or undrift ask {folder.name} MESSAGE")


def restore(
    run: RunName,
    compaction: Annotated[
        int,
        typer.Option("--compaction", metavar="K", help="As `undrift show --compactions` counts."),
    ],
    *,
    thread: Annotated[
        str | None,
        typer.Option("--thread", metavar="T", help="The thread that was compacted; else the main."),
    ] = None,
    out: Out = "runs",
) -> None:
    """Start a new run in which what a compaction hid is visible again."""
    from ..restoring import restore_compaction
    from ..runs import find_run

    folder = restore_compaction(find_run(Path(out), run), compaction, thread)
    put(one_line(str(folder), 1000))
    say(f"go on with: undrift resume {folder.name}, or undrift ask {folder.name} MESSAGE")


def purge(
    run: RunName,
    *,
    env: Annotated[
        str | None,
        typer.Option("--env", metavar="NAME", help="The secret is this variable's value."),
    ] = None,
    out: Out = "runs",
) -> None:
    """Take a secret out of a run for good; it is read from standard input or a variable."""
    from ..purging import forks_of, purge_run
    from ..runs import find_run

    folder = find_run(Path(out), run)
    done = purge_run(folder, _secret(env))
    if not (done.events or done.files):
        put(f"{one_line(folder.name)} does not hold it; nothing was changed")
    else:
        put(f"taken out of {done.events} events and {done.files} files of {one_line(folder.name)}")
    if done.requests:
        put(f"{len(done.requests)} requests can no longer be rebuilt as they were sent")
    for name in forks_of(folder):
        say(f"run {name} is a fork of this run and may hold it too: purge it as well")


def _secret(env: str | None) -> str:
    """Never an argument: those stand in the shell's history and in the list of processes."""
    if env is not None:
        if not os.environ.get(env):
            raise BadInput(f"the variable {env!r} is not set or empty")
        return os.environ[env]
    if sys.stdin.isatty():
        secret = str(typer.prompt("secret", hide_input=True, err=True))
    else:
        secret = sys.stdin.readline().rstrip("\r\n")
    if not secret:
        raise BadInput("no secret given: write it on standard input, or name a variable with --env")
    return secret
