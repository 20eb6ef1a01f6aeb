"""Secrets planted wherever text comes from appear at no exit; the log keeps the originals (G13)."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agents import Agent, Conclusion, ScriptedModel, ToolError, call, tool
from memory import read_entries
from orchestrator import Coordinator, RunResult
from orchestrator.cli.app import app
from orchestrator.cli.screen import put, say

ENV = "PLANTED-0-value-of-a-variable"
ARGUMENT = "PLANTED-1-in-an-argument"
RESULT = "PLANTED-2-in-a-result"
NESTED = "PLANTED-3-deep-inside"
RAISED = "PLANTED-4-in-an-exception"
HEADER = "PLANTED-5-in-a-header"
TOLD = "PLANTED-6-in-a-tool-error"
TASK = "PLANTED-7-in-the-task"
SHAPE = "sk-proj-PLANTED" + "8a" * 12

HARMLESS = (
    str(uuid.UUID(int=7**40)),
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
)


@tool
def fetch(url: str, api_key: str) -> dict[str, object]:
    """Fetch."""
    inner = json.dumps({"session": {"accessToken": NESTED}})
    return {
        "password": RESULT,
        "body": json.dumps({"config": inner}),
        "harmless": list(HARMLESS),
        "said": f"the key {SHAPE} and {ENV}",
    }


@tool
def raising() -> str:
    """Raise."""
    raise RuntimeError(f"401 for {{'Authorization': 'Bearer {HEADER}'}}: token={RAISED}")


@tool
def telling() -> str:
    """Tell."""
    raise ToolError(f'Send "clientSecret": "{TOLD}" again.')


def team(runs: Path) -> Coordinator:
    """Two agents, each with all tools; a subagent's model fails with a secret in its words."""
    calls = [call("fetch", url="https://x", api_key=ARGUMENT), call("raising"), call("telling")]
    tasks = [{"agent": name, "task": f"use password={TASK}"} for name in ("helper", "failing")]
    lead = ScriptedModel([calls, call("delegate", tasks=tasks), "all done"])
    helper = ScriptedModel([calls, call("conclude", answer="fine")])
    failing = ScriptedModel([RuntimeError(f"x-api-key: {HEADER}, and {SHAPE}")])
    tools = [fetch, raising, telling]
    return Coordinator(
        Agent("lead", "Lead.", lead, tools),
        [
            Agent("helper", "Help.", helper, tools, output_type=Conclusion),
            Agent("failing", "Fail.", failing, output_type=Conclusion),
        ],
        runs=runs,
    )


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", ENV)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")


async def run(runs: Path) -> RunResult:
    result = await team(runs).run(f"The task: use password={TASK} and {SHAPE}.")
    assert result.text == "all done"
    return result


async def test_case_72_no_secret_leaves_by_an_exit(tmp_path: Path) -> None:
    result = await run(tmp_path)
    folder = result.folder
    assert folder
    exits = {
        path.relative_to(folder).as_posix(): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith("events.")
    }
    assert {"spans.jsonl", "usage.json", "transcripts/main.txt", "transcripts/main.2-1.txt"} <= set(
        exits
    )
    shown = CliRunner().invoke(app, ["show", str(folder)])
    exits |= {"show": shown.stdout, "show, errors": shown.stderr}
    for turn in ("1", "2", "3"):
        for words in (["--turn", turn, "--request"], ["--context", turn]):
            got = CliRunner().invoke(app, ["show", str(folder), *words])
            exits |= {f"show {words}": got.stdout + got.stderr}
    for name, text in exits.items():
        assert "PLANTED" not in text, name
    for name in ("show", "transcripts/main.txt", "show ['--turn', '3', '--request']"):
        for text in HARMLESS:
            assert text in exits[name], (name, text)

    raw = CliRunner().invoke(app, ["show", str(folder), "--raw"]).stdout
    log = "".join(repr(entry.event) for entry in read_entries(folder / "events.db"))
    for secret in (ENV, ARGUMENT, RESULT, NESTED, RAISED, HEADER, TOLD, TASK, SHAPE):
        assert secret in raw
        assert secret in log
    request = CliRunner().invoke(app, ["show", str(folder), "--turn", "3", "--request", "--raw"])
    assert RESULT in request.stdout
    assert "hidden" not in request.stderr


async def test_redacted_at_the_source_no_model_and_no_log_holds_them(tmp_path: Path) -> None:
    coordinator = team(tmp_path)
    coordinator.redact_at_source = True
    result = await coordinator.run(f"The task: use password={TASK} and {SHAPE}.")
    assert result.text == "all done"
    assert result.folder
    models = [coordinator.agent.model]
    models += [getattr(child, "models")[0] for child in coordinator.subagents.values()]  # noqa: B009 - children that are agents
    sent = [body.decode() for model in models for body in getattr(model, "requests")]  # noqa: B009 - scripted models
    assert len(sent) == 6
    # What the scripted models say themselves is theirs, and stays; everybody else's secrets do not.
    for text in sent:
        for secret in (ENV, RESULT, NESTED, RAISED, HEADER, TOLD, SHAPE):
            assert secret not in text
    assert TASK not in sent[0]
    for text in HARMLESS:
        assert text in sent[1]
    for entry in read_entries(result.folder / "events.db"):
        kept = repr(entry.event)
        for secret in (ENV, RESULT, NESTED, RAISED, TOLD):
            assert secret not in kept, entry.seq


TEAM = f"""
from undrift import Agent, Coordinator, ScriptedModel

def fail(body):
    raise RuntimeError("refused: api_key={RAISED}, {SHAPE}")

team = Coordinator(Agent("lead", "Lead.", ScriptedModel(fail)))
"""


def test_the_command_line_tells_no_secret(tmp_path: Path) -> None:
    """Progress, the result's reason, and a traceback of what the user's own file raises."""
    (tmp_path / "team.py").write_text(TEAM)
    (tmp_path / "raising.py").write_text(
        f"raise RuntimeError('Authorization: Bearer {HEADER} password={RAISED} {ENV}')\n"
    )
    command = [sys.executable, "-m", "undrift", "run"]
    environment = {**os.environ, "UNDRIFT_DEBUG": "1", "SOME_SERVICE_TOKEN": ENV}
    for words in (
        ["team.py:team", f"use token={TASK} and {SHAPE}"],
        ["team.py:team", f"use token={TASK} and {SHAPE}", "--json"],
        ["raising.py:team", "x"],
    ):
        done = subprocess.run(
            [*command, *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode in (1, 2), done.stderr
        assert "PLANTED" not in done.stdout + done.stderr
        assert "[redacted]" in done.stdout + done.stderr


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"error: token={RAISED}")
    put(f"an answer about the password = hunting, and {ENV}")
    out, told = capsys.readouterr()
    assert told == "error: token=[redacted]\n"
    assert out == "an answer about the password = hunting, and [redacted]\n"
