"""Prefix stability in the tokens of a real model (G7): through its chat template and its vocabulary."""

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from agents import Agent, ChatCodec, Limits, ScriptedModel, call, tool
from memory import loads
from orchestrator import Coordinator

pytestmark = [pytest.mark.model, pytest.mark.slow]

TURNS = 200
ENDS = "<|im_end|>\n"
"""What this model's template puts behind a message; behind the last one stands the cue to answer."""


@tool
def look(n: int) -> str:
    """Look at something."""
    return f"result {n}: naïve café, 日本語, x = {n * 37 % 11}"


def script(body: dict[str, Any]) -> Any:
    turn = sum(message["role"] == "assistant" for message in body["messages"]) + 1
    if turn == 1:
        return call(
            "rewrite_todo", goal="the goal", steps=[{"text": f"step {n}"} for n in range(9)]
        )
    if turn == TURNS:
        return "all done"
    change = {"step": turn % 9 + 1, "state": ("in_progress", "done")[turn % 2], "reopen": True}
    looks = [call("look", n=turn)] if turn % 10 == 0 else []
    return [call("update_todo", changes=[change]), *looks]


@pytest.fixture
async def server(llama_server: str) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session:

        async def ask(place: str, **data: Any) -> Any:
            async with session.post(llama_server.removesuffix("/v1") + place, json=data) as answer:
                assert answer.status == 200, await answer.text()
                return await answer.json()

        yield ask


async def test_200_requests_are_token_prefixes_up_to_their_tails(server: Any) -> None:
    # By schema, as the wire adapter speaks to this server, whose template has no tools.
    model = ScriptedModel(script, codec=ChatCodec(tools="schema"), window=1_000_000)
    lead = Agent("lead", "You lead.", model, [look], limits=Limits(turns=TURNS))
    result = await Coordinator(lead).run("the long task")
    assert (result.text, len(model.requests)) == ("all done", TURNS)

    async def tokens(messages: list[Any]) -> list[int]:
        """Of these messages as the model reads them, without the cue to answer."""
        prompt: str = (await server("/apply-template", messages=messages))["prompt"]
        prompt = prompt[: prompt.rindex(ENDS) + len(ENDS)]
        found = await server("/tokenize", content=prompt, add_special=True, parse_special=True)
        return found["tokens"]

    before: list[int] = []
    tails = 0
    for number, body in enumerate(model.requests):
        messages = loads(body)["messages"]
        has_tail = messages[-1]["content"].startswith("<tail>")
        history = await tokens(messages[:-1] if has_tail else messages)
        assert history[: len(before)] == before
        if number % 20 == 0:
            assert (await tokens(messages))[: len(history)] == history, "the tail adds at the end"
        before, tails = history, tails + has_tail
    assert len(before) > 5_000
    assert tails > TURNS * 0.9, "nearly every request has a tail that changes"
