"""One research run against a real llama.cpp server with a very small model: shape, never meaning."""

import pytest
from support.llama import WINDOW

from agents import WireModel
from memory import ReplyReceived, RequestSent, RunEnded, read_entries
from orchestrator import Models, ResearchOptions, research

pytestmark = [pytest.mark.model, pytest.mark.slow]


async def test_a_run_ends_with_a_status_and_an_intact_folder(llama_server, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "valve.md").write_text("# Valve\n\nThe red valve opens at 11 degrees.\n")
    settings = {"max_tokens": 48, "temperature": 0}
    model = WireModel("m", llama_server, settings=settings, window=WINDOW)
    options = ResearchOptions(
        models=Models(lead="extractive", researcher=model),
        runs=tmp_path / "runs",
        rounds=1,
        seconds=600,  # a busy machine is slow; nothing here waits for the limit
    )
    result = await research("When does the red valve open?", [docs], options)
    entries = read_entries(result.folder / "events.db")
    replies = [e.event for e in entries if isinstance(e.event, ReplyReceived) and e.thread == "q1"]
    assert replies, "the server answered at least once"
    assert all(reply.usage.input_tokens > 0 for reply in replies if reply.content)
    assert any(isinstance(e.event, RequestSent) and e.thread == "q1" for e in entries)
    assert [e.event.status for e in entries if isinstance(e.event, RunEnded)] == [result.status]
    assert result.status in ("done", "partial", "failed")
    assert result.status == "done" or result.reason
    assert (result.folder / "report.md").read_text() == result.text
