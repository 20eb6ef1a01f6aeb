"""Options that several commands share."""

from typing import Annotated

import typer

RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="Id of a run, its beginning, its folder, or 'last'.")
]
Out = Annotated[
    str, typer.Option("--out", metavar="FOLDER", help="Where run folders are.", show_default=True)
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object on standard output, nothing else there."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no progress.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Go on although you did not make this run here: its log names what is read, run and asked.",
    ),
]
RedactAtSource = Annotated[
    bool,
    typer.Option("--redact-at-source", help="Hide secrets from the models and the log as well."),
]
Docs = Annotated[
    list[str] | None,
    typer.Option("--docs", metavar="PATH", help="Folder or file to read; more may follow."),
]
MoreDocs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATH]...", help="More documents.", show_default=False),
]
