"""The command `undrift`: which commands there are. Each imports what it needs when it is called."""

from collections.abc import Callable

import typer

from .doctor import doctor
from .fork_command import fork, purge, restore
from .guard import EXIT_CODES, guarded
from .plugins import WithPlugins
from .research_command import research
from .run_commands import ask, resume, run
from .runs_commands import remove, runs
from .show_command import show
from .verify_command import verify

_SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    cls=WithPlugins,
    help="Runs long agent tasks without losing the goal, and can prove it.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_SETTINGS,
)


def _add(command: Callable[..., None]) -> None:
    app.command(epilog=EXIT_CODES)(guarded(command))


_add(research)
_add(run)
_add(ask)
_add(resume)
_add(show)
_add(fork)
_add(restore)
_add(verify)
_add(doctor)
runs_app = typer.Typer(rich_markup_mode=None)
runs_app.callback(invoke_without_command=True)(guarded(runs))
runs_app.command("rm")(guarded(remove))
runs_app.command("purge")(guarded(purge))
app.add_typer(runs_app, name="runs")
