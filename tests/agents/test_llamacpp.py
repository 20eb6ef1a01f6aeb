"""The wire adapter and a whole agent turn against a real llama.cpp server with a small model."""

import asyncio
import json
import os
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from support.llama import VARIABLE, WINDOW
from support.requests import SEARCH, ask, request_body

from agents import Delta, WireModel
from memory import MessageAdded, Text

pytestmark = pytest.mark.model

SHORT: dict[str, Any] = {"max_tokens": 48, "temperature": 0, "seed": 1}


@pytest.mark.parametrize("stream", [True, False])
async def test_text_and_usage(llama_server: str, stream: bool) -> None:
    heard: list[Delta] = []
    model = WireModel("smollm2", llama_server, stream=stream, settings=SHORT)
    reply = await model.send(request_body(model, tools=()), heard.append)
    await model.close()
    assert reply.text
    assert reply.finish in ("stop", "length")
    assert reply.usage.input_tokens > 10
    assert 0 < reply.usage.output_tokens <= 48
    assert "".join(delta.text for delta in heard) == reply.text
    assert len(heard) > 1 or not stream


async def test_a_second_request_reads_the_cache(llama_server: str) -> None:
    model = WireModel("smollm2", llama_server, settings=SHORT)
    body = request_body(model, tools=(), system="You are terse. " * 20)
    await model.send(body)
    reply = await model.send(body)
    await model.close()
    assert reply.usage.cached_tokens > reply.usage.input_tokens // 2


async def test_schema_mode_is_found_out_and_gives_calls(llama_server: str) -> None:
    """The model's template has no tools: the server would pass over them without a word."""
    if os.environ.get(VARIABLE):
        pytest.skip(f"a model that {VARIABLE} names may well know tools")
    notices: list[Any] = []
    model = WireModel("smollm2-tools", llama_server, settings=SHORT)
    asked = MessageAdded((Text("Search the documents for the word tide."),))
    reply = await ask(model, asked, notices=notices)
    await model.close()
    assert [(topic, data["mode"]) for topic, data in notices] == [("tool_mode", "schema")]
    assert model.codec.options["tools"] == "schema"
    if reply.finish != "length":
        assert reply.calls or reply.text
        for call in reply.calls:
            assert call.name == SEARCH["name"]
            assert isinstance(json.loads(call.arguments)["query"], str)


async def test_overflow_is_told(llama_server: str) -> None:
    model = WireModel("smollm2", llama_server, settings=SHORT)
    with pytest.raises(ContextOverflowError, match="context size"):
        await model.send(request_body(model, tools=(), system="word " * 2 * WINDOW))
    await model.close()


async def test_cancelling_mid_stream_leaves_the_server_usable(llama_server: str) -> None:
    model = WireModel("smollm2", llama_server, settings={"max_tokens": 1500, "ignore_eos": True})
    started = asyncio.Event()
    body = request_body(model, tools=())
    task = asyncio.create_task(model.send(body, lambda _: started.set()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    brief = WireModel("smollm2", llama_server, settings=SHORT)
    assert (await brief.send(request_body(brief, tools=()))).text
    await model.close()
    await brief.close()
