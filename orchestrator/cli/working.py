"""Driving one run from a command: progress, signals, the way back after a fault, the result."""

import shlex
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import typer

from agents import Emit
from memory import MemoryError_, read_entries

from ..result import RunResult
from .interrupts import run_async
from .results import show_result
from .watching import watching


@dataclass(frozen=True, slots=True)
class Shown:
    """How much a command prints."""

    json: bool = False
    """One JSON object on standard output and nothing else there."""
    quiet: bool = False
    """No progress on standard error."""
    report: bool = False
    """The result is the run's report: its path is shown, not its text."""


def drive(
    start: Callable[[Emit], Coroutine[Any, Any, RunResult]],
    folder: Path,
    title: str,
    shown: Shown,
) -> NoReturn:
    """Do the work, show it, print its result and end with the run's exit code.

    `folder` is where the run is or will be; what is raised carries a note on how to go on with it.
    """
    began = time.monotonic()
    try:
        with watching(title, quiet=shown.quiet) as emit:
            result = run_async(start(emit))
    except BaseException as error:
        if _began(folder):
            error.add_note(
                f"the run is kept; go on with: undrift resume {shlex.quote(str(folder))}"
            )
        raise
    code = show_result(result, as_json=shown.json, is_report=shown.report, began=began)
    raise typer.Exit(code)


def _began(folder: Path) -> bool:
    """True when there is a run that can be gone on with: its first event is in the log."""
    try:
        return bool(read_entries(folder / "events.db", ""))
    except MemoryError_:
        return False
