"""The command line: reads what the user typed, starts the work, shows how it goes and what came of it.

The one idea: a command only translates. What it starts is a function that programs can call as well, and
whatever that function raises becomes one clear message at one boundary. Start reading at `app.py`.
"""


def main() -> None:
    """Run `undrift` with this process's arguments; ends the process with a documented exit code."""
    from .app import app
    from .screen import tolerate

    tolerate()
    app(prog_name="undrift")
