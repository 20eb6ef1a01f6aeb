"""Commands that other packages add: entry points of the group `undrift.commands`, loaded when needed.

An entry point's name is the command's, its object a Typer app. Ours stand before theirs, so that none can
take the place of a command of this package. Typer brings its command classes with it and does not export
them, hence `Any`.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperGroup

from .guard import EXIT_CODES, guarded

GROUP = "undrift.commands"


class WithPlugins(TyperGroup):
    """The command group: its own commands, then those of installed packages."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names for the help page."""
        own = super().list_commands(ctx)
        return [*own, *(name for name in sorted(_installed()) if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command by name; packages are asked only for a name that is none of ours."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        found = _installed().get(cmd_name)
        return _loaded(found) if found else None


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Any:
    """The app behind an entry point, each of its commands at the root boundary."""
    app: typer.Typer = point.load()
    for command in app.registered_commands:
        if command.callback is not None and not hasattr(command.callback, "__wrapped__"):
            command.callback = guarded(command.callback)
            command.epilog = EXIT_CODES
    found = typer.main.get_command(app)
    found.name = point.name
    return found
