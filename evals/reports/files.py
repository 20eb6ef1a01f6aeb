"""Results on disk to reports: which file is meant, what is written beside it, what is printed."""

from pathlib import Path

import typer
from rich.console import Console

from ..results import Results, read_results, results_path
from ..running import Ran
from ..summary import summarise, write_summary
from .page import render_page
from .table import print_summary

PARTIAL = 3
"""Exit code of an eval that lacks some of its results."""


def console() -> Console:
    """Standard output."""
    return Console()


def say(line: str) -> None:
    """One line as it is, however long; control characters of a model's words are shown, not obeyed."""
    plain = "".join(char if char.isprintable() else repr(char)[1:-1] for char in line)
    console().print(plain, markup=False, highlight=False, soft_wrap=True)


def finish(folder: Path, title: str, ran: Ran | None) -> None:
    """Reports of an eval that ran, and what it lacks; ends the command with 3 when it lacks something."""
    if not is_whole(folder, title, ran):
        raise typer.Exit(PARTIAL)


def is_whole(folder: Path, title: str, ran: Ran | None) -> bool:
    """Reports of an eval that ran, and what it lacks; false when it lacks something."""
    write_reports(folder, title)
    if ran is None:
        return True
    if ran.dropped:
        say(ran.dropped)
    say(
        f"{ran.done} samples run, {ran.skipped} had their results, {ran.missing} records are missing"
    )
    if ran.stopped:
        say(f"stopped: {ran.stopped}; --resume goes on with the rest")
    return not ran.missing and not ran.stopped


def read_named(named: str) -> Results:
    """Results by `PATH` or `PATH#POLICY`. Raises `ResultsDamaged`."""
    path, _, policy = named.rpartition("#") if "#" in named else (named, "", "")
    results = read_results(results_path(Path(path)))
    return results.of_policy(policy) if policy else results


def write_reports(folder: Path, title: str, results: Path | None = None) -> None:
    """Write `summary.json` and `report.html` into a folder and print the table.

    Raises `ResultsDamaged` when the folder's results hold nothing readable.
    """
    found = read_results(results_path(results or folder))
    summary = summarise(found)
    write_summary(folder / "summary.json", summary)
    home = results_path(results or folder).parent
    page = render_page(found, summary, title, home)
    (folder / "report.html").write_text(page, encoding="utf-8")
    print_summary(summary, console())
    for line in found.broken:
        console().print(f"line {line.number} is no record ({line.why}); it is kept as it is")
    console().print(f"written: {folder / 'report.html'}", soft_wrap=True)
