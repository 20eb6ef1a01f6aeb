"""Requests for a summary are requests: whoever is asked, the log makes the exact bytes again (G1)."""

from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer, Say, Status
from support.provider_rules import check_anthropic, check_chat

from agents import (
    Agent,
    AnthropicCodec,
    Compaction,
    Limits,
    Meter,
    Run,
    ScriptedModel,
    WireModel,
    call,
    codec_for,
    open_session,
)
from memory import (
    Entry,
    ReplyReceived,
    SqliteEventLog,
    SummaryAsked,
    Text,
    dumps,
    rebuild_request,
    verify_log,
)

ASKS = "Older messages of this"


async def look(number: int) -> str:
    """Look at something."""
    return f"look {number}: value-{number}\n" + "some output of a tool\n" * 250


def play(body: dict[str, Any]) -> Any:
    messages = body["messages"]
    if ASKS in str(messages[-1]["content"]):
        return '{"decisions": ["look 3 gave value-3"]}'
    return call("look", number=sum(m["role"] == "tool" for m in messages) + 1)


def anthropic() -> ScriptedModel:
    settings = {"model": "small", "max_tokens": 900}
    return ScriptedModel(
        play, name="small", window=200_000, settings=settings, codec=AnthropicCodec()
    )


def chat() -> ScriptedModel:
    return ScriptedModel(play, name="other", window=64_000, settings={"model": "other", "top_p": 1})


async def run_with(path: Path, summariser: Any) -> tuple[ScriptedModel, list[Entry]]:
    model = ScriptedModel(play, window=16_000)
    settings = Compaction("summary", summariser=summariser)
    limits = Limits(turns=40)
    agent = Agent("a", "You work.", tools=[look], compaction=settings, limits=limits)
    log = SqliteEventLog(path)
    run = Run("r", log, Meter(Limits()))
    session = await open_session(run, agent, "Look at all.", thread="main", models=[model])
    await agent.run(session)
    entries = await log.read("main")
    await log.close()
    return model, list(entries)


@pytest.mark.parametrize(
    ("make", "check"), [(anthropic, check_anthropic), (chat, check_chat)], ids=["anthropic", "chat"]
)
async def test_the_request_to_another_model_is_made_again_from_the_log(
    make: Any, check: Any, tmp_path: Path
) -> None:
    summariser = make()
    _, entries = await run_with(tmp_path / "events.db", summariser)
    asked = [e for e in entries if isinstance(e.event, SummaryAsked)]
    assert len(asked) >= 2
    rebuilt = [rebuild_request(entries, entry.seq, codec_for) for entry in asked]
    assert rebuilt == summariser.requests
    for body in rebuilt:
        check(body)
    for entry in asked:
        assert isinstance(entry.event, SummaryAsked)
        assert entry.event.instead["model"] == entry.event.model == summariser.name
        # Constant size, whatever the history: neither system prompt nor tools are repeated.
        assert len(dumps(entry.event.instead)) < 300


@pytest.mark.parametrize("make", [anthropic, lambda: "model"], ids=["another model", "its own"])
async def test_a_check_of_the_log_covers_requests_for_summaries(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    model, entries = await run_with(path, make())
    asked = sum(isinstance(e.event, SummaryAsked) for e in entries)
    replies = sum(isinstance(e.event, ReplyReceived) for e in entries)
    found = verify_log(path, codec_for)
    assert found.problems == ()
    assert asked >= 2
    assert found.requests == replies + asked
    assert len(model.requests) == (replies if make is anthropic else replies + asked)


async def test_a_summary_asked_for_in_the_middle_of_a_turn_leaves_the_open_calls_out(
    tmp_path: Path,
) -> None:
    model = ScriptedModel(play, window=64_000)
    settings = Compaction("summary", tail=0.01)
    agent = Agent("a", "You work.", tools=[look], compaction=settings)
    log = SqliteEventLog(tmp_path / "events.db")
    run = Run("r", log, Meter(Limits()))
    session = await open_session(run, agent, "Look at all.", thread="main", models=[model])
    for _ in range(5):
        await agent.turn(session)
    reply = await agent.ask(session)
    assert session.thread.context.open_calls
    await session.compact()
    asked = check_chat(model.requests[-1])
    assert ASKS in asked[-1]["content"]
    assert reply.calls
    await agent.act(session, reply)
    session.thread.append(ReplyReceived((Text("done"),), "stop", reply.usage, "m", {}))
    await log.close()
    found = verify_log(tmp_path / "events.db", codec_for)
    assert found.problems == ()
    assert found.requests == len(model.requests)


async def test_a_summariser_whose_server_knows_no_tools_is_asked_again(tmp_path: Path) -> None:
    written = Say('{"decisions": ["look 3 gave value-3"]}')
    async with ChatServer([Status(400, "this model does not support tools"), written]) as server:
        summariser = WireModel("small", server.url, window=200_000)
        model, entries = await run_with(tmp_path / "events.db", summariser)
        await summariser.close()
    asked = [entry for entry in entries if isinstance(entry.event, SummaryAsked)]
    rebuilt = [rebuild_request(entries, entry.seq, codec_for) for entry in asked]
    assert rebuilt == [request.raw for request in server.requests]
    assert any(b"look 3 gave value-3" in body for body in model.requests)
    assert verify_log(tmp_path / "events.db", codec_for).problems == ()
