"""`undrift run`, `ask` and `resume`: a user's own agents, and going on with a run."""

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import inputs
from .guard import BadInput
from .options import AsJson, Docs, Out, Quiet, RedactAtSource, RunName, Trust

if TYPE_CHECKING:
    from agents import Emit

    from ..coordinator import Coordinator
    from ..result import RunResult


def run(
    where: Annotated[
        str,
        typer.Argument(
            metavar="AGENTS",
            help="FILE.py:OBJECT, a Python file and the Coordinator in it; or an agent's Markdown file, or "
            "a folder of them, of which the one called 'lead' gets the task.",
        ),
    ],
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="What to do; '-' reads standard input.")
    ],
    *,
    docs: Docs = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="For Markdown agents that name none; commas separate fallbacks.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Where run folders are made; else the object's own, else runs.",
        ),
    ] = None,
    redact_at_source: RedactAtSource = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Give a task to agents of your own."""
    asked = inputs.words(task, "task")

    from ..runs import new_run_id
    from .agent_teams import AgentFiles, are_agent_files
    from .objects import load_coordinator
    from .working import Shown, drive

    run_id = new_run_id()

    async def begun(team: "Coordinator", emit: "Emit") -> "RunResult":
        team.redact_at_source = redact_at_source or team.redact_at_source
        return await team.run(asked, run_id=run_id, emit=emit)

    if are_agent_files(where):
        files = AgentFiles.given(where, inputs.documents(docs) if docs else [], model)
        runs = Path(out or "runs")
        drive(
            lambda emit: files.work(runs, lambda team: begun(team, emit)),
            runs / run_id,
            asked,
            Shown(json, quiet),
        )
    if docs or model:
        raise BadInput(f"--docs and --model are for agents from Markdown files, not for {where!r}")
    coordinator = load_coordinator(where)
    coordinator.runs = Path(out) if out else coordinator.runs or Path("runs")
    drive(
        lambda emit: begun(coordinator, emit),
        coordinator.runs / run_id,
        asked,
        Shown(json, quiet),
    )


def ask(
    run: RunName,
    message: Annotated[
        str, typer.Argument(metavar="MESSAGE", help="The follow-up; '-' reads standard input.")
    ],
    *,
    out: Out = "runs",
    trust: Trust = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Send a follow-up message to a run; research answers it from the same documents."""
    asked = inputs.words(message, "message")

    from .working import Shown, drive

    folder, started = _started(out, run, trust)
    shown = Shown(json, quiet)
    if started.get("kind") == "research":
        from ..researching import ask_research

        drive(lambda emit: ask_research(folder, asked, emit=emit, trust=True), folder, asked, shown)
    team = _team_of(started, folder)
    drive(lambda emit: team(lambda it: it.ask(folder, asked, emit=emit)), folder, asked, shown)


def resume(
    run: RunName,
    *,
    approve: Annotated[
        list[str] | None,
        typer.Option("--approve", metavar="CALL", help="Make this waiting call; 'all' for all."),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option("--reject", metavar="CALL", help="Do not make this waiting call."),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option("--edit", metavar="CALL=JSON", help="Make it with these arguments instead."),
    ] = None,
    note: Annotated[
        str, typer.Option("--note", metavar="TEXT", help="Tell the model why a call is rejected.")
    ] = "",
    out: Out = "runs",
    trust: Trust = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a run that was interrupted, or that waits for a decision of yours."""
    decisions = inputs.decisions(approve or (), reject or (), edit or (), note)

    from .working import Shown, drive

    folder, started = _started(out, run, trust)
    if decisions and started.get("kind") == "research":
        raise BadInput(
            f"the run in {str(folder)!r} is research: its calls never wait for a decision"
        )
    title, shown = f"resume {folder.name}", Shown(json, quiet, started.get("kind") == "research")
    if started.get("kind") == "research":
        from ..researching import resume_research

        drive(lambda emit: resume_research(folder, emit=emit, trust=True), folder, title, shown)
    team = _team_of(started, folder)
    drive(
        lambda emit: team(lambda it: it.resume(folder, decisions=decisions, emit=emit)),
        folder,
        title,
        shown,
    )


def _started(out: str, name: str, trust: bool) -> tuple[Path, dict[str, object]]:
    """The run's folder and the options that it was started with, which are the user's own or trusted."""
    from filesystem import RunFolder
    from memory import read_entries

    from ..run_state import started_of
    from ..runs import check_trusted, find_run

    folder = find_run(Path(out), name)
    if not trust:
        check_trusted(folder)
    entries = read_entries(RunFolder.open(folder).events_db, "")
    return folder, started_of(entries, folder).options


def _team_of(
    started: dict[str, object], folder: Path
) -> "Callable[[Callable[[Coordinator], Awaitable[RunResult]]], Coroutine[Any, Any, RunResult]]":
    """What has the coordinator of a run do something: the Python object, or agents from their files."""
    from .agent_teams import AgentFiles, are_agent_files
    from .objects import load_coordinator

    where = _object_of(started, folder)
    if are_agent_files(where):
        files = AgentFiles.stored(started)
        return lambda work: files.work(folder.parent, work)
    coordinator = load_coordinator(where)

    async def worked(work: "Callable[[Coordinator], Awaitable[RunResult]]") -> "RunResult":
        return await work(coordinator)

    return worked


def _object_of(started: dict[str, object], folder: Path) -> str:
    where = started.get("object")
    if not isinstance(where, str):
        raise BadInput(
            f"the run in {str(folder)!r} was started by a program, not by `undrift run`: go on with it "
            "there, with `Coordinator.resume` or `Coordinator.ask`"
        )
    return where
