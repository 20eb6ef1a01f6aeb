"""`undrift eval`: the command group that the distribution offers to the command line as a plug-in.

Nothing heavy is imported until a command runs, so that listing the commands stays cheap.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import AnswerOptions, ArmOptions, JudgeOptions, ModelOptions, grouped

if TYPE_CHECKING:
    from .running import Ran

app = typer.Typer(
    help="Measure what survives compaction: replay of recorded runs, paired comparison.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
_Out = Annotated[
    Path, typer.Option("--out", help="Folder for results.jsonl, summary.json and report.html.")
]


@app.command()
@grouped
def replay(
    recorded: Annotated[Path, typer.Argument(help="A file or folder of recorded runs.")],
    out: _Out = Path("evals-replay"),
    policy: Annotated[
        list[str] | None, typer.Option(help="Only this policy; may be repeated.")
    ] = None,
    cut: Annotated[
        list[float] | None, typer.Option(help="Share of a run's messages to cut at, below 1.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Runs of each format, 0 for all.", min=0)] = 0,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            help="Our summary with this prompt (general, research, coding, operations); may be repeated."
        ),
    ] = None,
    *,
    options: AnswerOptions,
) -> None:
    """Cut recorded runs, apply each policy, and ask what is still there: of the text, and of a model."""
    from .replay.suite import run_replay
    from .reports.files import say
    from .rescoring import check_judge

    check_judge(out, options)
    done = run_replay(
        recorded,
        out,
        policies=[*(policy or ()), *(f"summary[{name}]" for name in prompt or ())],
        cuts=tuple(cut or ()),
        limit=limit,
        options=options,
    )
    for line in done.told:
        say(line)
    _finish_judged(out, "Replay of recorded runs", done.ran, options)


@app.command("goal-drift")
@grouped
def goal_drift(
    out: _Out = Path("evals-drift"),
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family; may be repeated.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language: en, vi, zh, ja; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Tasks of each family and language.", min=1)] = 2,
    *,
    arms: ArmOptions,
    options: ModelOptions,
) -> None:
    """Tell rules and goals, have the run compacted, see what still steers; scripted without a model."""
    from .goal_drift.suite import Samples, run_goal_drift
    from .goal_drift.telling import print_all
    from .reports.files import console, finish
    from .results import read_results

    which = Samples(tuple(family or ()), tuple(language or ()), seeds)
    ran = run_goal_drift(out, which, arms, options)
    try:
        finish(out, "Goal drift", ran)
    finally:
        print_all(read_results(out / "results.jsonl").records, console())


@app.command("needle-recovery")
@grouped
def needle_recovery(
    out: _Out = Path("evals-needles"),
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family; may be repeated.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Only this language: en, vi, zh, ja; may be repeated.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Tasks of each family and language.", min=1)] = 5,
    *,
    arms: ArmOptions,
    options: AnswerOptions,
) -> None:
    """Show a value, have the run compacted, ask for it; scripted policies answer without a model."""
    from .needles.suite import Samples, check_controls, run_needles
    from .rescoring import check_judge

    check_judge(out, options)
    which = Samples(tuple(family or ()), tuple(language or ()), seeds)
    ran = run_needles(out, which, arms, options)
    try:
        _finish_judged(out, "Needle recovery", ran, options)
    finally:
        check_controls(out)


@app.command()
@grouped
def rescore(
    results: Annotated[Path, typer.Argument(help="results.jsonl, or the folder that holds it.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the new results, RESULTS/rescored.")
    ] = None,
    *,
    options: JudgeOptions,
) -> None:
    """Score stored answers again, by code and by a judge; no run is made again."""
    from .reports.files import PARTIAL
    from .rescoring import RESCORED

    folder = out or (results if results.is_dir() else results.parent) / RESCORED
    if not _rescored(results, folder, options.model):
        raise typer.Exit(PARTIAL)


@app.command()
@grouped
def goal(
    runs: Annotated[list[str], typer.Argument(help="Run folders, or ids under --runs.")],
    out: _Out = Path("evals-goal"),
    folder: Annotated[
        Path, typer.Option("--runs", help="Folder in which runs are kept, for ids.")
    ] = Path("runs"),
    *,
    options: JudgeOptions,
) -> None:
    """Score finished runs: goal, constraints and plan against what happened, from the log."""
    from orchestrator import find_run

    from .goals.suite import score_goals
    from .reports.files import finish
    from .reports.goals import print_goal

    scores, ran = score_goals([find_run(folder, run) for run in runs], out, options.model)
    for score in scores:
        print_goal(score)
    finish(out, "Goal success of finished runs", ran)


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="Results, or RESULTS#POLICY.")],
    second: Annotated[str, typer.Argument(metavar="B", help="Results, or RESULTS#POLICY.")],
) -> None:
    """Compare two results or two policies, paired by sample; say when they cannot be told apart."""
    from .comparing import compare as compare_results
    from .reports.files import console, read_named
    from .reports.table import print_comparison

    comparisons = compare_results(read_named(first), read_named(second), name=f"{first} {second}")
    print_comparison(comparisons, console())


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="results.jsonl, or the folder that holds it.")],
) -> None:
    """Make summary.json and report.html of existing results again, and print the table."""
    from .reports.files import write_reports

    write_reports(results if results.is_dir() else results.parent, "Eval results", results)


def _finish_judged(out: Path, title: str, ran: "Ran | None", options: AnswerOptions) -> None:
    """As `finish`; where a judge is named, its pass over the suite's answers follows."""
    from .reports.files import PARTIAL, is_whole, say
    from .rescoring import RESCORED, stored_answers

    whole = is_whole(out, title, ran)
    if options.judge:
        if (ran and ran.stopped) or not stored_answers(out):
            whole = False
            say(
                "the judge was not asked: the suite stopped before its end, or has no answer to judge"
            )
        else:
            whole &= _rescored(out, out / RESCORED, options.judging)
    if not whole:
        raise typer.Exit(PARTIAL)


def _rescored(results: Path, folder: Path, options: ModelOptions) -> bool:
    """The second pass with its reports; false when it lacks something."""
    from .reports.files import is_whole, say
    from .rescoring import rescore

    stored, changed, ran = rescore(results, folder, options)
    say(f"{stored} answers scored again by code, {changed} otherwise than before")
    return is_whole(folder, "Stored answers, scored again", ran)
