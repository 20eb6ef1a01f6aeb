"""Bad input and faults: one clear message on standard error, the right exit code, no traceback."""

import errno
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from agents import AgentDefinitionError, ModelUnavailable
from filesystem import FolderMissing, NotARunFolder, StorageFailed
from memory import LogLocked
from orchestrator.cli.app import app
from orchestrator.cli.guard import Interrupted, explain, guarded
from orchestrator.cli.inputs import LONGEST_TASK
from orchestrator.researching import MAX_QUESTION


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Price\n\nThe price is 12 euro.\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "team.py").write_text("nothing = 1\n")
    (tmp_path / "broken.py").write_text("x = 1\nraise ValueError('on purpose')\n")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["research", "", "--docs", "docs"], "question is empty"),
        (["research", " \n", "--docs", "docs"], "question is empty"),
        (["research", "x" * 100_000, "--docs", "docs"], "has 100,000 characters, at most 20,000"),
        (["research", "q"], "--docs PATH"),
        (["research", "q", "--docs", ""], "is empty"),
        (["research", "q", "--docs", "nowhere"], "'nowhere'"),
        (["research", "q", "--docs", "docs", "elsewhere"], "'elsewhere'"),
        (["research", "q", "--docs", "empty"], "nothing to read"),
        (["research", "q", "--docs", "docs", "--model", "nonsense"], "'nonsense'"),
        (["research", "q", "--docs", "docs", "--model", "boss=extractive"], "unknown role 'boss'"),
        (["research", "q", "--docs", "docs", "--base-url", "file:///etc/passwd"], "no base URL"),
        (["research", "q", "--docs", "docs", "--base-url", "http://[::1"], "no base URL"),
        (["research", "q", "--docs", "docs", "--time", "nan"], "above 0"),
        (["research", "q", "--docs", "docs", "--time", "0"], "above 0"),
        (["research", "q", "--docs", "docs", "--parallel", "0"], "--parallel"),
        (["research", "q", "--docs", "docs", "--unknown"], "--unknown"),
        (["run", "team.py", "task"], "FILE.py:OBJECT"),
        (["run", "absent/", "task"], "no folder of agents' Markdown files"),
        (["run", "absent.py:lead", "task"], "'absent.py'"),
        (["run", "team.py:lead", "task"], "has no object 'lead'"),
        (["run", "team.py:nothing", "task"], "holds a int"),
        (["run", "broken.py:lead", "task"], "line 2, fails when imported: ValueError: on purpose"),
        (["run", "team.py:lead", ""], "task is empty"),
        (["ask", "last", "more"], "no run 'last'"),
        (["resume", "last"], "no run 'last'"),
        (["resume", "./docs"], "run.json"),
        (["show", "last"], "no run 'last'"),
        (["runs", "rm", "last"], "no run 'last'"),
        (["verify", "docs/none.md", "--docs", "docs"], "no report"),
        (["doctor", "--base-url", "localhost"], "no base URL"),
    ],
)
def test_bad_input_is_one_message_and_code_2(here: Path, arguments: list[str], said: str) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert not list((here / "runs").glob("*/run.json")), "no run is made for bad input"


@pytest.mark.parametrize(
    ("given", "said"),
    [(b"", "is empty"), (b"\xff\xfe", "is not UTF-8"), (b"x" * 100_000, "100,000 characters")],
)
def test_a_bad_question_on_standard_input(here: Path, given: bytes, said: str) -> None:
    result = CliRunner().invoke(app, ["research", "-", "--docs", "docs"], input=given)
    assert result.exit_code == 2
    assert said in result.stderr


def test_the_limits_of_command_and_graph_are_the_same() -> None:
    assert LONGEST_TASK == MAX_QUESTION


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "runs/x"), 1, "free some space"),
        (PermissionError(errno.EACCES, "Permission denied", "runs"), 1, "check the rights"),
        (StorageFailed("report.md", "the disk is full"), 1, "the disk is full"),
        (LogLocked("written by another process"), 1, "another process"),
        (ModelUnavailable("no answer"), 1, "no answer"),
        (AgentDefinitionError("bad agent"), 2, "bad agent"),
        (FolderMissing(Path("nowhere")), 2, "nowhere"),
        (NotARunFolder("no run"), 2, "no run"),
        (ZeroDivisionError("oops"), 1, "a fault in Undrift"),
    ],
)
def test_each_error_has_its_message_and_code(error: Exception, code: int, said: str) -> None:
    message, given = explain(error)
    assert given == code
    assert said in message


def raising(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interrupted()])
def test_an_interruption_is_code_130(
    error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    error.add_note("go on like this")
    with pytest.raises(typer.Exit) as stop:
        guarded(raising)(error)
    assert stop.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted\ngo on like this\n"


def test_escapes_in_an_error_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        guarded(raising)(ModelUnavailable("\x1b]0;owned\x07\x1b[2Jsaid"))
    assert capsys.readouterr().err == "error: said\n"


def test_the_traceback_is_for_those_who_ask(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDRIFT_DEBUG", "1")
    with pytest.raises(typer.Exit):
        guarded(raising)(ZeroDivisionError("\x1boops"))
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "\x1b" not in told
