"""`undrift run` with agents from Markdown files, and going on with such a run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orchestrator.cli.app import app

LEAD = "---\nname: lead\n---\nDelegate, then answer.\n"
READER = """---
name: reader
description: Reads the documents.
tools: [search, read_source]
limits:
  turns: 10
---
Answer from the documents.
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("agents", "docs", "empty"):
        (tmp_path / folder).mkdir()
    (tmp_path / "agents" / "lead.md").write_text(LEAD)
    (tmp_path / "agents" / "reader.md").write_text(READER)
    (tmp_path / "docs" / "harbour.md").write_text(
        "# The harbour\n\nThe harbour opened in 1901. The bridge was built by Anna Berg in 1920.\n"
    )
    return tmp_path


def undrift(*words: str) -> Result:
    return CliRunner().invoke(app, [*words, "--quiet"])


WITH_DOCS = ("--docs", "docs", "--model", "extractive")


def test_a_folder_of_agents_answers_and_its_run_is_gone_on_with(here: Path):
    done = undrift("run", "agents", "When did the harbour open?", *WITH_DOCS)
    assert done.exit_code == 0, done.output
    assert "opened in 1901" in done.output
    (folder,) = (path for path in (here / "runs").iterdir() if not path.name.startswith("."))
    threads = {path.name for path in (folder / "transcripts").glob("*.txt")}
    assert {"main.txt", "main.1-1.txt"} <= threads
    more = undrift("ask", "last", "Who built the bridge?")
    assert more.exit_code == 0, more.output
    assert "Anna Berg" in more.output
    before = json.loads((folder / "usage.json").read_text())
    again = undrift("resume", "last")
    assert (again.exit_code, "Anna Berg" in again.output) == (0, True)
    assert json.loads((folder / "usage.json").read_text())["model_calls"] == before["model_calls"]


def test_one_file_is_one_agent(here: Path):
    done = undrift("run", "agents/reader.md", "When did the harbour open?", *WITH_DOCS)
    assert (done.exit_code, "opened in 1901" in done.output) == (0, True), done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["agents", "x"], "there is no tool 'search'"),
        (["agents", "x", "--docs", "docs"], "agent 'lead' has no model: name one with --model"),
        (["agents", "x", "--docs", "nowhere", "--model", "extractive"], "'nowhere'"),
        (["agents", "x", "--docs", "docs", "--model", "nonsense"], "'nonsense'"),
        (["agents/lead.md", "x"], "agent 'lead' has no model"),
        (["agents/absent.md", "x"], "absent.md' cannot be read"),
        (["empty", "x"], "there is no agent file (*.md)"),
        (["nameless", "x"], "is called 'lead'"),
        (
            ["team.py:lead", "x", "--docs", "docs"],
            "--docs and --model are for agents from Markdown",
        ),
    ],
)
def test_what_cannot_be_used_is_told_before_a_run_begins(here: Path, words: list[str], said: str):
    (here / "nameless").mkdir()
    for name in ("one", "two"):
        (here / "nameless" / f"{name}.md").write_text(f"---\nname: {name}\n---\nWork.\n")
    done = undrift("run", *words)
    assert (done.exit_code, said in done.output) == (2, True), done.output
    assert "Traceback" not in done.output
    made = [path.name for path in here.glob("runs/*") if not path.name.startswith(".")]
    assert made == []
