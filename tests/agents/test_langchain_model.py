"""`LangChainModel`, with `ChatOpenAI` against a scripted server and with chat models of the tests' own."""

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core import exceptions
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field
from support.chat_openai import chat_openai
from support.chat_server import ChatServer, Drop, Say, Script, Status
from support.requests import SEARCH, request_body

from agents import Delta, LangChainModel, ModelUnavailable, Retries
from memory import (
    Image,
    MessageAdded,
    Reasoning,
    ReplyReceived,
    Text,
    ToolCall,
    ToolReturned,
    Unknown,
    Usage,
)

FAST = Retries(base=0.001)
FULL = Say("It is 7.", calls=[("search", {"query": "a"}), ("search", "{bad")])


@contextlib.asynccontextmanager
async def openai(script: Script) -> AsyncIterator[tuple[LangChainModel, ChatServer]]:
    async with ChatServer(script) as server, chat_openai(server.url) as chat:
        yield LangChainModel(chat, retries=FAST), server


@pytest.mark.parametrize("stream", [True, False])
async def test_a_whole_reply(stream: bool) -> None:
    heard: list[Delta] = []
    async with openai([FULL]) as (model, server):
        reply = await model.send(request_body(model), heard.append if stream else None)
        await model.close()
    assert reply.content[0] == Text("It is 7.")
    assert [call.name for call in reply.calls] == ["search", "search"]
    assert json.loads(reply.calls[0].arguments) == {"query": "a"}
    assert reply.calls[1].arguments == "{bad"
    assert reply.finish == "tool_calls"
    assert reply.usage == Usage(100, 10, 40)
    assert reply.raw["response_metadata"]["finish_reason"] == "tool_calls"
    assert "".join(d.text for d in heard if d.kind == "text") == ("It is 7." if stream else "")
    assert bool(server.requests[0].body.get("stream")) is stream


async def test_the_server_gets_the_history_that_the_log_has() -> None:
    """JSON-equal in everything that is said, whatever LangChain does to the bytes."""
    events = (
        MessageAdded((Text("see"), Image("image/png", "aGk="))),
        ReplyReceived(
            (Text("I look."), ToolCall("c1", "search", '{"query": "a"}')), "", Usage(), "m", {}
        ),
        ToolReturned("c1", "search", (Text("nothing"),), is_error=True),
    )
    async with openai(["ok"]) as (model, server):
        body = request_body(model, *events)
        await model.send(body)
    sent, meant = server.requests[0].body, json.loads(body)
    assert sent["tools"] == meant["tools"]
    said = [{k: v for k, v in m.items() if k != "tool_calls"} for m in sent["messages"]]
    assert said == [{k: v for k, v in m.items() if k != "tool_calls"} for m in meant["messages"]]
    [call] = sent["messages"][2]["tool_calls"]
    assert (call["id"], call["function"]["name"]) == ("c1", "search")
    assert json.loads(call["function"]["arguments"]) == {"query": "a"}


@pytest.mark.parametrize("step", [Status(429, headers={"Retry-After": "0"}), Status(500), Drop()])
async def test_passing_troubles_are_tried_again(step: Any) -> None:
    async with openai([step, step, "at last"]) as (model, server):
        reply = await model.send(request_body(model))
    assert reply.text == "at last"
    assert len(server.requests) == 3
    assert reply.notices[0][0] == "model_retry"


@pytest.mark.parametrize(
    ("step", "error", "requests"),
    [
        (Status(401), exceptions.ModelAuthenticationError, 1),
        (Status(429, code="rate_limit_exceeded"), exceptions.ModelRateLimitError, 6),
        (
            Status(400, "maximum context length is 9", code="context_length_exceeded"),
            exceptions.ContextOverflowError,
            1,
        ),
    ],
)
async def test_errors_are_the_integrations_own(
    step: Any, error: type[Exception], requests: int
) -> None:
    async with openai([step]) as (model, server):
        with pytest.raises(error):
            await model.send(request_body(model))
    assert len(server.requests) == requests


@pytest.mark.parametrize(("finish", "text"), [("length", "cut"), ("stop", "")])
async def test_ends_that_the_loop_deals_with(finish: str, text: str) -> None:
    async with openai([Say(text, finish=finish)]) as (model, _):
        reply = await model.send(request_body(model))
    assert (reply.finish, reply.text) == (finish, text)


class Chat(BaseChatModel):
    """A chat model that gives what it is told to, and keeps what it was given."""

    messages: list[Any]
    seen: list[list[BaseMessage]] = Field(default_factory=list)
    bound: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "chat-of-the-tests"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        self.bound.append(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.seen.append(messages)
        given = self.messages[0]
        if isinstance(given, Exception):
            raise given
        return ChatResult(generations=[ChatGeneration(message=given)])

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **__: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append(messages)
        for chunk in self.messages:
            yield ChatGenerationChunk(message=chunk)


SIGNED = {"type": "thinking", "thinking": "hm", "signature": "s1"}
HIDDEN = {"type": "redacted_thinking", "data": "x"}
ENCRYPTED = {"type": "reasoning", "id": "r1", "summary": [{"text": "hm"}], "encrypted_content": "e"}


@pytest.mark.parametrize("parts", [[SIGNED, HIDDEN], [ENCRYPTED]])
async def test_reasoning_goes_back_as_it_came(parts: list[dict[str, Any]]) -> None:
    content: Any = [*parts, {"type": "text", "text": "so"}]
    message = AIMessage(
        content, tool_calls=[{"name": "search", "args": {"query": "a"}, "id": "c1"}]
    )
    chat = Chat(messages=[message])
    model = LangChainModel(chat)
    reply = await model.send(request_body(model))
    assert all(isinstance(block, Reasoning) for block in reply.content[: len(parts)])
    answered = ReplyReceived(reply.content, reply.finish, reply.usage, "m", {})
    await model.send(
        request_body(
            model, MessageAdded((Text("go"),)), answered, ToolReturned("c1", "search", (Text("f"),))
        )
    )
    sent = chat.seen[1][2]
    assert isinstance(sent, AIMessage)
    assert sent.content == content
    assert sent.tool_calls[0]["args"] == {"query": "a"}
    assert "reasoning_blocks" not in sent.additional_kwargs


async def test_reasoning_content_of_an_integration_goes_back_where_it_came_from() -> None:
    chat = Chat(messages=[AIMessage("so", additional_kwargs={"reasoning_content": "hm"})])
    model = LangChainModel(chat)
    reply = await model.send(request_body(model))
    assert reply.content == (Reasoning("hm"), Text("so"))
    answered = ReplyReceived(reply.content, "stop", Usage(), "m", {})
    await model.send(request_body(model, answered, MessageAdded((Text("go on"),))))
    assert chat.seen[1][1].additional_kwargs == {"reasoning_content": "hm"}


async def test_what_anthropic_models_report() -> None:
    message = AIMessage(
        [
            {"type": "text", "text": "so"},
            {"type": "tool_use", "id": "c"},
            {"type": "audio", "n": 1},
        ],
        tool_calls=[{"name": "search", "args": {}, "id": "c"}],
        response_metadata={"stop_reason": "tool_use", "model_name": "claude-x"},
        usage_metadata={
            "input_tokens": 50,
            "output_tokens": 5,
            "total_tokens": 55,
            "input_token_details": {"cache_read": 30},
        },
    )
    model = LangChainModel(Chat(messages=[message]))
    reply = await model.send(request_body(model))
    assert reply.content == (
        Text("so"),
        Unknown("audio", {"type": "audio", "n": 1}),
        ToolCall("c", "search", "{}"),
    )
    assert (reply.finish, reply.model, reply.usage) == ("tool_calls", "claude-x", Usage(50, 5, 30))


async def test_a_streamed_call_keeps_the_words_of_its_arguments() -> None:
    chunks = [
        AIMessageChunk("a", tool_call_chunks=[tool_call_chunk(name="f", args="", id="c", index=0)]),
        AIMessageChunk("b", tool_call_chunks=[tool_call_chunk(args='{"x":  1', index=0)]),
        AIMessageChunk("", response_metadata={"finish_reason": "tool_calls"}),
    ]
    model = LangChainModel(Chat(messages=chunks))
    reply = await model.send(request_body(model), lambda _: None)
    assert reply.content == (Text("ab"), ToolCall("c", "f", '{"x":  1'))


async def test_tools_are_bound_once() -> None:
    chat = Chat(messages=[AIMessage("ok")])
    model = LangChainModel(chat)
    for _ in range(3):
        await model.send(request_body(model))
    await model.send(request_body(model, tools=()))
    assert chat.bound == [[{"type": "function", "function": SEARCH}]]


async def test_any_other_error_is_a_model_that_gave_no_answer() -> None:
    model = LangChainModel(Chat(messages=[RuntimeError("odd")]), name="x:y")
    with pytest.raises(
        ModelUnavailable, match=r"'x:y' gave no answer: RuntimeError: odd"
    ) as caught:
        await model.send(request_body(model))
    assert isinstance(caught.value.__cause__, RuntimeError)


async def test_the_window_is_the_profiles() -> None:
    chat = Chat(messages=[], profile={"max_input_tokens": 1234})
    assert LangChainModel(chat).window == 1234
    assert LangChainModel(chat, window=99).window == 99
    assert LangChainModel(Chat(messages=[])).window is None
