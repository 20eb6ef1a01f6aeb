"""`undrift doctor`: is everything here that a run needs?"""

import json as json_text
import os
from pathlib import Path
from typing import Annotated

import typer

from . import inputs
from .guard import DONE, FAILED
from .options import AsJson, Out
from .screen import clean, put


def doctor(
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", metavar="URL", help="Server to look for; else OPENAI_BASE_URL."),
    ] = None,
    *,
    out: Out = "runs",
    json: AsJson = False,
) -> None:
    """Say what is installed, what works and what is missing."""
    from . import checks

    address = inputs.server(base_url or os.environ.get("OPENAI_BASE_URL") or None)
    found = [
        checks.python(),
        *checks.packages(),
        checks.own_packages(),
        checks.sqlite(),
        checks.openat2(),
        checks.runs_folder(Path(out)),
        *checks.variables(),
    ]
    if address is not None:
        found.append(checks.endpoint(address))
    if json:
        rows = [{"state": each.state, "name": each.name, "found": each.found} for each in found]
        put(json_text.dumps({"checks": rows}))
    else:
        for each in found:
            put(clean(f"{each.state:<6}  {each.name:<28}  {each.found}"))
    broken = sum(each.state == "broken" for each in found)
    if broken and not json:
        put(f"{broken} broken")
    raise typer.Exit(FAILED if broken else DONE)
