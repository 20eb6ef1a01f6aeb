"""Results on disk to reports: which file is meant, what is written beside it, what is printed."""

from pathlib import Path

from rich.console import Console

from ..results import Results, read_results, results_path
from ..summary import summarise, write_summary
from .page import render_page
from .table import print_summary


def console() -> Console:
    """Standard output."""
    return Console()


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
    (folder / "report.html").write_text(render_page(found, summary, title), encoding="utf-8")
    print_summary(summary, console())
    for line in found.broken:
        console().print(f"line {line.number} is no record ({line.why}); it is kept as it is")
    console().print(f"written: {folder / 'report.html'}", soft_wrap=True)
