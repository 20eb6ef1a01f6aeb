"""What was compacted can be listed and brought back in a fork."""

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from agents import Agent, Compaction, ScriptedModel, call
from memory import ContextCompacted, build_context, plain_text, read_entries
from orchestrator import Coordinator
from orchestrator.cli.app import app
from orchestrator.restoring import restore_compaction


async def look(number: int) -> str:
    """Look at something."""
    return f"look {number}: value-{number}\n" + "some output of a tool\n" * 60


def play(body: dict[str, Any]) -> Any:
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    if "Older messages" in str(body["messages"][-1]["content"]):
        return ""
    play.count += 1
    assert turns >= 0
    return call("look", number=play.count) if play.count < 40 else "done"


async def test_a_compaction_is_listed_and_brought_back_in_a_fork(tmp_path: Path) -> None:
    play.count = 0
    settings = Compaction("reset")
    agent = Agent("a", "Work.", tools=[look], compaction=settings)
    model = ScriptedModel(play, window=6_000)
    result = await Coordinator(agent, model=model, runs=tmp_path).run("Look at all.", run_id="r1")
    assert result.status == "done", result.reason
    entries = read_entries(tmp_path / "r1" / "events.db", "main")
    taken = [entry for entry in entries if isinstance(entry.event, ContextCompacted)]
    shown = CliRunner().invoke(app, ["show", "r1", "--compactions", "--out", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert shown.output.count("compaction ") >= len(taken)
    assert "reset (trigger: size)" in shown.output
    forked = restore_compaction(tmp_path / "r1", 1)
    context = build_context(read_entries(forked / "events.db", "main"))
    texts = [plain_text(item.event.content) for item in context.items]
    assert context.revision == 0
    hidden = [e for e in entries if e.seq in taken[0].event.hidden]
    assert hidden
    assert any("value-1\n" in text for text in texts)
