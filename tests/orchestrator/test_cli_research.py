"""The main job from the command line: the real thing over a small folder, without a model and with one."""

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Say, Script, Status
from typer.testing import CliRunner

from agents import Agent, ScriptedModel
from orchestrator import Coordinator
from orchestrator.cli.app import app

COMMAND = [sys.executable, "-m", "undrift"]
QUESTION = "What does the harbour tariff cost, and who signs the lease?"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tariff.md").write_text(
        "# Tariff\n\nThe harbour tariff costs 412 euro for each berth and month.\n\n"
        "Boats over twenty metres pay the harbour tariff twice.\n"
    )
    (docs / "lease.md").write_text(
        "# Lease\n\nThe lease is signed by the harbour master.\n\n"
        "A lease runs for five years and ends on the last day of March.\n"
    )
    return tmp_path


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "unused")


def test_a_report_from_question_and_folder(here: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "research", QUESTION, "--docs", "docs"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    path, facts = done.stdout.splitlines()
    report = (here / path).read_text()
    assert "412 euro" in report
    assert "signed by the harbour master" in report
    data = json.loads((here / path).with_name("report.json").read_text())
    count = len(data["citations"])
    assert facts.startswith(f"{count} citations, {count} verified; status done; ")
    assert "-- plan" in done.stderr
    assert "\x1b" not in done.stderr

    again = CliRunner().invoke(app, ["resume", "last", "--quiet"])
    assert again.exit_code == 0, again.stderr
    assert again.stdout.splitlines()[0] == path
    assert again.stderr == ""


def test_without_a_model_nothing_is_sent_to_a_tracer(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "unused")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", "http://127.0.0.1:9")  # a refusal would be told
    done = subprocess.run(
        [*COMMAND, "research", QUESTION, "--docs", "docs", "--quiet"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_json_is_one_object_and_nothing_else(here: Path) -> None:
    result = CliRunner().invoke(
        app, ["research", "-", "--docs", "docs", "--json", "--quiet"], input=QUESTION
    )
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["status"] == "done"
    assert data["output"]["question"] == QUESTION
    assert Path(data["report"]).read_text() == data["text"]
    assert result.stderr == ""


def test_what_a_run_left_can_be_listed_shown_asked_verified_and_removed(here: Path) -> None:
    invoke = CliRunner().invoke
    made = invoke(app, ["research", QUESTION, "docs", "--out", "out", "--json"])
    run = json.loads(made.stdout)["run"]

    listed = invoke(app, ["runs", "--out", "out"]).stdout
    assert run in listed
    assert "research    done" in listed

    shown = invoke(app, ["show", run[:15], "--out", "out"])
    assert shown.exit_code == 0
    assert shown.stdout.index("##### plan") < shown.stdout.index("##### q1")
    only = invoke(app, ["show", "last", "--thread", "q1", "--out", "out"]).stdout
    assert "##### q1" in only
    assert "##### plan" not in only
    none = invoke(app, ["show", "last", "--thread", "q99", "--out", "out"])
    assert none.exit_code == 2
    assert "its threads are: plan, q1" in none.stderr

    asked = invoke(app, ["ask", run, "How long does a lease run?", "--out", "out"])
    assert asked.exit_code == 0, asked.stderr
    assert "five years" in asked.stdout

    report = f"out/{run}/report.md"
    checked = invoke(app, ["verify", report, "--docs", "docs"])
    assert checked.exit_code == 0, checked.stdout
    assert checked.stdout.startswith("verified: ")

    removed = invoke(app, ["runs", "rm", run, "--out", "out"])
    assert removed.exit_code == 0
    assert not (here / "out" / run).exists()
    assert "no runs" in invoke(app, ["runs", "--out", "out"]).stderr


def test_a_quote_that_was_changed_does_not_verify(here: Path) -> None:
    invoke = CliRunner().invoke
    run = json.loads(invoke(app, ["research", QUESTION, "docs", "--json"]).stdout)
    report = Path(run["report"])
    text = report.read_text()
    assert "412 euro" in text
    changed = here / "changed.md"
    changed.write_text(text.replace("412 euro", "99 euro"))
    checked = invoke(app, ["verify", "changed.md", "--docs", "docs", "--json"])
    assert checked.exit_code == 1
    found = json.loads(checked.stdout)
    assert not found["ok"]
    assert any("99 euro" in fault["message"] for fault in found["faults"])
    assert sorted(path.name for path in here.iterdir()) == ["changed.md", "docs", "runs"]


def test_control_characters_in_a_document_are_written_out_in_show(here: Path) -> None:
    (here / "docs" / "evil.md").write_text("The harbour tariff\x1b[2J is \x1b]0;owned\x07 cheap.\n")
    invoke = CliRunner().invoke
    assert invoke(app, ["research", QUESTION, "docs", "--quiet"]).exit_code == 0
    shown = invoke(app, ["show", "last"]).stdout
    assert "\x1b" not in shown
    assert "\x07" not in shown


TEAM = """
from undrift import Agent, Coordinator, ScriptedModel

lead = Coordinator(Agent("lead", "Answer.", ScriptedModel(["first \\x1b[2Janswer", "second answer"])))
"""


def test_a_coordinator_of_ones_own(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (here / "team.py").write_text(TEAM)
    invoke = CliRunner().invoke
    first = invoke(app, ["run", "team.py:lead", "hello"])
    assert first.exit_code == 0, first.stderr
    assert first.stdout == "first answer\n"
    assert "status done" in first.stderr
    # The file is read again, so its script begins anew: what counts is that it is the same run.
    asked = invoke(app, ["ask", "last", "and now?", "--json", "--quiet"])
    assert asked.exit_code == 0, asked.stderr
    assert json.loads(asked.stdout)["status"] == "done"
    assert invoke(app, ["resume", "last"]).exit_code == 0
    assert invoke(app, ["runs"]).stdout.count(" coordinator ") == 1
    assert "and now?" in invoke(app, ["show", "last", "--thread", "main"]).stdout


def test_a_run_started_by_a_program_cannot_be_resumed_here(here: Path) -> None:
    lead = Agent("lead", "Answer.", ScriptedModel(["answer"]))
    Coordinator(lead, runs=here / "runs").run_sync("hello")
    result = CliRunner().invoke(app, ["resume", "last"])
    assert result.exit_code == 2
    assert "was started by a program" in result.stderr


@contextmanager
def served(script: Script) -> Iterator[str]:
    """The base URL of a scripted server on a thread of its own: the command has the main one."""
    loop, server = asyncio.new_event_loop(), ChatServer(script)
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server.url
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Researcher:
    """A model that searches, then cites what it found; a question with `trap` in it gets `step`."""

    def __init__(self, trap: str, step: Status) -> None:
        self.trap, self.step = trap, step
        self.trapped = threading.Event()

    def __call__(self, body: dict[str, Any]) -> Say | Status:
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        if self.trap in task:
            self.trapped.set()
            return self.step
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        if not results:
            return Say(calls=[("search", {"query": "harbour tariff lease signed"})])
        passage = json.loads(results[-1])["passages"][0]
        quote = passage["text"].splitlines()[-1]
        finding = {"claim": quote, "citations": [{"evidence": passage["evidence"], "quote": quote}]}
        return Say(calls=[("conclude", {"answer": quote, "findings": [finding]})])


ASK = ["research", QUESTION, "--docs", "docs", "--model", "extractive"]


def test_an_interrupted_run_says_how_to_go_on_and_does(here: Path, key: None) -> None:
    researcher = Researcher("lease", Status(500, delay=300))
    with served(researcher) as url:
        process = subprocess.Popen(
            [*COMMAND, *ASK, "--model", "researcher=openai:m", "--base-url", url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert researcher.trapped.wait(60)
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=60)
        assert process.returncode == 130, told
        assert out == ""
        assert "Traceback" not in told
        *_, interrupted, way_on = told.splitlines()
        assert interrupted == "interrupted"
        words = way_on.partition("undrift ")[2].split()
        assert words[0] == "resume"

        researcher.trap = "nothing any more"
        result = CliRunner().invoke(app, [*words, "--json", "--quiet"])
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert data["run"] == Path(words[1]).name
    assert data["output"]["citations"]
    shown = CliRunner().invoke(app, ["show", words[1]]).stdout
    assert shown.count("thread started: planner") == 1, "what was finished is not done again"


def test_a_partial_report_is_code_3(here: Path, key: None) -> None:
    with served(Researcher("lease", Status(400, "refused"))) as url:
        result = CliRunner().invoke(
            app, [*ASK, "--model", "researcher=openai:m", "--base-url", url, "--json", "--quiet"]
        )
    assert result.exit_code == 3, result.stderr
    data = json.loads(result.stdout)
    assert data["status"] == "partial"
    assert data["output"]["gaps"]
    assert data["output"]["citations"]


def test_a_model_that_refuses_everything_is_code_1(here: Path, key: None) -> None:
    with served(Researcher("", Status(400, "\x1b[2Jrefused"))) as url:
        result = CliRunner().invoke(
            app, ["research", QUESTION, "docs", "--model", "openai:m", "--base-url", url]
        )
    assert result.exit_code == 1, result.stderr
    assert "refused" in result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_folder_that_cannot_be_made_is_code_1(here: Path) -> None:
    (here / "taken").write_text("a file")
    result = CliRunner().invoke(app, ["research", QUESTION, "docs", "--out", "taken", "--quiet"])
    assert result.exit_code == 1
    assert "taken" in result.stderr
    assert result.stderr.startswith("error: ")
