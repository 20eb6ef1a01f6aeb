"""`undrift research`: from a question and a folder to a cited report."""

from pathlib import Path
from typing import Annotated

import typer

from . import inputs
from .options import AsJson, Docs, MoreDocs, Out, Quiet, RedactAtSource


def research(
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION", help="What you want to know; '-' reads it from standard input."
        ),
    ],
    more: MoreDocs = None,
    *,
    docs: Docs = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="[ROLE=]NAME",
            help="extractive (default), openai:MODEL or PROVIDER:MODEL; commas separate fallbacks. "
            "Roles: lead, researcher, summariser, writer. May be given several times.",
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url", metavar="URL", help="OpenAI-compatible server; else OPENAI_BASE_URL."
        ),
    ] = None,
    out: Out = "runs",
    parallel: Annotated[int, typer.Option(min=1, help="Researchers at the same time.")] = 5,
    rounds: Annotated[
        int, typer.Option(min=1, help="Rounds of research at most, the first included.")
    ] = 2,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Limit for the whole run, all agents together.")
    ] = None,
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Limit of wall time for the whole run.")
    ] = None,
    file_tools: Annotated[
        bool,
        typer.Option(
            "--file-tools", help="Researchers also list, read and grep the documents as files."
        ),
    ] = False,
    redact_at_source: RedactAtSource = False,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Answer a question from documents with a cited report."""
    asked = inputs.words(question, "question")
    paths = inputs.documents([*(docs or []), *(more or [])])
    address, limit = inputs.server(base_url), inputs.seconds(time)

    from ..models import Models
    from ..researching import ResearchOptions
    from ..researching import research as start
    from ..runs import new_run_id
    from .working import Shown, drive

    options = ResearchOptions(
        models=Models.parse(model or ["extractive"]),
        runs=Path(out),
        parallel=parallel,
        rounds=rounds,
        max_tokens=max_tokens,
        seconds=limit,
        base_url=address,
        redact_at_source=redact_at_source,
        file_tools=file_tools,
    )
    run_id = new_run_id()
    drive(
        lambda emit: start(asked, paths, options, emit=emit, run_id=run_id),
        options.runs / run_id,
        asked,
        Shown(json, quiet, report=True),
    )
