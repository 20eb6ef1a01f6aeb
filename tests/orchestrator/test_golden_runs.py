"""Finished runs of released versions stay readable, whole, and replayable."""

import shutil
from pathlib import Path

import pytest
from support.golden_run import RUNS, TASK, team

from agents import Reply
from memory import (
    Entry,
    LaterEvent,
    ReplyReceived,
    ThreadEnded,
    ToolReturned,
    read_entries,
    redact,
    transcript_text,
)
from orchestrator import assert_prefix_stable, read_turn, verify_run

GOLDEN = sorted(path for path in RUNS.iterdir() if (path / "run.json").is_file())


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy in which other processes' locks and logs may be made."""
    return Path(shutil.copytree(request.param, tmp_path / "golden"))


def test_there_is_one() -> None:
    assert GOLDEN


def test_every_event_is_read_and_every_request_rebuilt(golden: Path) -> None:
    found = verify_run(golden)
    assert found.problems == ()
    assert found.log.requests == 9
    entries = read_entries(golden / "events.db")
    assert not any(isinstance(entry.event, LaterEvent) for entry in entries)
    assert_prefix_stable(golden)
    for turn in range(1, 6):
        _, request = read_turn(golden, turn)
        assert request.check().body.startswith(b'{"model":"scripted"')


def test_its_transcripts_are_made_again(golden: Path) -> None:
    entries = read_entries(golden / "events.db")
    for file in (golden / "transcripts").glob("*.txt"):
        own = [e for e in entries if (e.thread or "run") == file.stem]
        assert redact(transcript_text(own)) == file.read_text()


async def test_it_gives_its_result_again_and_takes_a_follow_up(golden: Path) -> None:
    coordinator = team(golden.parent)
    before = read_entries(golden / "events.db")
    again = await coordinator.resume(golden)
    assert again.text == "The ferry costs 12 euro by day and 15 by night."
    assert coordinator.agent.model.requests == []
    assert read_entries(golden / "events.db") == before
    coordinator.agent.model.script = ["And a child goes free."]
    assert (await coordinator.ask(golden, "And a child?")).text == "And a child goes free."


async def test_its_replies_lead_today_to_the_same_results(golden: Path, tmp_path: Path) -> None:
    """Replayed: today's agents, given what the models said then, do what was done then."""
    old = read_entries(golden / "events.db")
    coordinator = team(tmp_path)
    coordinator.agent.model.script = said(old, "main")
    helpers = coordinator.subagents["helper"].models[0]
    one, two = said(old, "main.3-1"), said(old, "main.3-2")

    def helper(body: dict[str, list[dict[str, str]]]) -> Reply:
        task = next(m["content"] for m in body["messages"] if m["role"] == "user")
        return (one if "day" in task else two).pop(0)

    helpers.script = helper
    result = await coordinator.run(TASK)
    assert result.folder
    new = read_entries(result.folder / "events.db")
    for thread in ("main", "main.3-1", "main.3-2"):
        assert results(new, thread) == results(old, thread)
        assert ends(new, thread) == ends(old, thread)
    assert result.text == "The ferry costs 12 euro by day and 15 by night."


def said(entries: list[Entry], thread: str) -> list[Reply]:
    replies = [
        e.event for e in entries if e.thread == thread and isinstance(e.event, ReplyReceived)
    ]
    return [Reply(r.content, r.finish, r.usage, r.model, r.raw) for r in replies]


def results(entries: list[Entry], thread: str) -> list[tuple[str, bool, object]]:
    """What tools of our own said may be worded anew; what these tools said may not."""
    return [
        (e.event.name, e.event.is_error, e.event.content if e.event.name == "fare" else "")
        for e in entries
        if e.thread == thread and isinstance(e.event, ToolReturned) and e.event.kind != "arguments"
    ]


def ends(entries: list[Entry], thread: str) -> list[str]:
    return [
        e.event.status for e in entries if e.thread == thread and isinstance(e.event, ThreadEnded)
    ]
