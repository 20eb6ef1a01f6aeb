"""An agent's loop over the wire: whatever the server does, the run ends, and the log can make every
request again byte for byte."""

import json
from typing import Any

import pytest
from support.chat_openai import chat_openai
from support.chat_server import ChatServer, Drop, Say, Status, Step

from agents import (
    Agent,
    LangChainModel,
    Limits,
    Meter,
    ModelUnavailable,
    Outcome,
    Retries,
    Run,
    WireModel,
    WireOptions,
    codec_for,
    open_session,
    tool,
)
from memory import Entry, MemoryEventLog, Noticed, rebuild_request, requests_of

FAST = Retries(base=0.001, attempts=3)
OPTIONS = WireOptions(retries=FAST)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


GOOD = Say("I add.", calls=[("add", {"a": 3, "b": 4})], reasoning="three and four")
DONE = "It is 7."


async def run(model: Any) -> tuple[Outcome, list[Entry]]:
    agent = Agent("adder", "Add with the tool.", tools=[add])
    log = MemoryEventLog()
    session = await open_session(
        Run("r", log, Meter(Limits())), agent, "3 + 4?", thread="main", models=[model]
    )
    try:
        outcome = await agent.run(session)
    finally:
        await model.close()
    return outcome, list(await log.read("main"))


def requires(body: dict[str, Any]) -> Step:
    """DeepSeek's way: reasoning of a turn with calls must come back."""
    said = [m for m in body["messages"] if m["role"] == "assistant"]
    if said and "reasoning_content" not in said[0]:
        return Status(400, "The `reasoning_content` in the thinking mode must be passed back.")
    return Say(DONE) if said else GOOD


def forbids(body: dict[str, Any]) -> Step:
    said = [m for m in body["messages"] if m["role"] == "assistant"]
    if "reasoning_content" in json.dumps(body):
        return Status(400, "reasoning_content is not allowed here")
    return Say(DONE) if said else GOOD


def without_tools(body: dict[str, Any]) -> Step:
    if "tools" in body:
        return Status(400, "this model does not support tools")
    if len(body["messages"]) < 3:
        return Say('{"tool": "add", "arguments": {"a": 3, "b": 4}}')
    return Say(json.dumps({"tool": "answer", "arguments": {"text": DONE}}))


TROUBLES = {
    "none": [GOOD, DONE],
    "429": [Status(429, headers={"Retry-After": "0.01"}), GOOD, Status(429), DONE],
    "500": [GOOD, Status(500), DONE],
    "dropped": [Drop(), GOOD, Drop(), DONE],
    "broken stream": [Say("I add, and this stream br", cut=2), GOOD, DONE],
    "broken arguments": [Say(calls=[("add", '{"a": 3, "b"')]), GOOD, DONE],
    "unknown tool": [Say(calls=[("plus", {"a": 3})]), GOOD, DONE],
    "two calls": [Say(calls=[("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})]), DONE],
    "reasoning required": requires,
    "reasoning forbidden": forbids,
    "no tools": without_tools,
}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("script", TROUBLES.values(), ids=TROUBLES)
async def test_the_run_ends_well_and_every_request_can_be_made_again(
    script: Any, stream: bool
) -> None:
    async with ChatServer(script) as server:
        model = WireModel("m", server.url, stream=stream, options=OPTIONS)
        outcome, entries = await run(model)
    assert (outcome.status, outcome.text) == ("done", DONE)
    rebuilt = [rebuild_request(entries, e.seq, codec_for) for e in requests_of(entries)]
    received = [request.raw for request in server.requests]
    # A retry sends the same bytes again; a changed codec is a request of its own in the log.
    assert list(dict.fromkeys(received)) == list(dict.fromkeys(rebuilt))


@pytest.mark.parametrize(
    "script", [[Say("cut", finish="length")], [Say("")], [Say("", reasoning="hm")]]
)
async def test_replies_without_an_end_become_an_honest_outcome(script: Any) -> None:
    async with ChatServer(script) as server:
        outcome, _ = await run(WireModel("m", server.url, options=OPTIONS))
    assert outcome.status != "done"
    assert outcome.reason
    assert len(server.requests) < 10


@pytest.mark.parametrize("step", [Status(401, "bad key"), Status(500, "boom"), Drop()])
async def test_a_server_that_never_answers_is_a_clear_error(step: Step) -> None:
    async with ChatServer([step]) as server:
        with pytest.raises(ModelUnavailable, match="'openai:m' gave no answer"):
            outcome, _ = await run(WireModel("m", server.url, options=OPTIONS))
            raise ModelUnavailable(outcome.reason)


async def test_what_was_found_out_is_in_the_log() -> None:
    async with ChatServer(without_tools) as server:
        _, entries = await run(WireModel("m", server.url, options=OPTIONS))
    assert "tool_mode" in [e.event.topic for e in entries if isinstance(e.event, Noticed)]


@pytest.mark.parametrize("name", ["none", "429", "500", "dropped", "broken arguments", "two calls"])
async def test_the_same_through_chat_openai(name: str) -> None:
    async with ChatServer(TROUBLES[name]) as server, chat_openai(server.url) as chat:
        outcome, _ = await run(LangChainModel(chat, retries=FAST))
    assert (outcome.status, outcome.text) == ("done", DONE)
