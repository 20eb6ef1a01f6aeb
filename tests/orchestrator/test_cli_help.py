"""What every command says of itself, and what saying it costs in imports."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from orchestrator.cli.app import app

HEAVY = ("langgraph", "langchain_core", "pydantic", "aiohttp", "rich", "sqlite3", "pypdfium2")


def test_help_names_the_commands_and_the_exit_codes() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    for command in ("research", "run", "ask", "resume", "runs", "show", "verify", "doctor"):
        assert f"  {command} " in shown
    for code in ("  0    done", "  2    bad input", "  3    partial", "  130  interrupted"):
        assert code in shown


@pytest.mark.parametrize(
    "command", ["research", "run", "ask", "resume", "runs", "show", "verify", "doctor"]
)
def test_every_command_has_help(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"{command} [OPTIONS]" in result.output


def test_without_arguments_the_help_is_shown() -> None:
    result = CliRunner().invoke(app, [])
    assert "Commands:" in result.output


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from orchestrator.cli import main\n"
        "sys.argv = ['undrift', '--help']\n"
        "try:\n    main()\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.split())
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_python_dash_m_is_the_same_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "undrift", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0
    inside = CliRunner().invoke(app, ["--help"], prog_name="undrift").output
    # The runner forces a width of its own, so lines are cut at other places towards their ends.
    assert [line[:60] for line in done.stdout.splitlines()] == [
        line[:60] for line in inside.splitlines()
    ]
