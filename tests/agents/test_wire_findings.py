"""What `WireModel` finds out about an endpoint, and how the loop and the log hear of it."""

import json
from typing import Any

import pytest
from langchain_core import exceptions
from support.chat_server import ChatServer, Say, Status, Step
from support.requests import ask, request_body

from agents import ChatCodec, Delta, Retries, WireModel, WireOptions
from agents.errors import CodecChanged
from memory import MessageAdded, Reasoning, ReplyReceived, Text, ToolCall, ToolReturned, Usage

FAST = WireOptions(retries=Retries(base=0.001))
CALL = json.dumps({"tool": "search", "arguments": {"query": "a"}})
THINKING = (
    MessageAdded((Text("go"),)),
    ReplyReceived((Reasoning("hm"), ToolCall("c", "search", "{}")), "tool_calls", Usage(), "m", {}),
    ToolReturned("c", "search", (Text("found"),)),
)


async def test_reasoning_that_a_server_requires_is_sent_back() -> None:
    words = "The `reasoning_content` in the thinking mode must be passed back to the API."

    def script(body: dict[str, Any]) -> Step:
        sent = "reasoning_content" in json.dumps(body)
        return Say("ok") if sent else Status(400, words)

    notices: list[Any] = []
    async with ChatServer(script) as server:
        model, other = (WireModel("m", server.url, options=FAST) for _ in range(2))
        assert (await ask(model, *THINKING, notices=notices)).text == "ok"
        assert (await ask(other, *THINKING, notices=notices)).text == "ok"
        await model.close()
        await other.close()
    assert notices == [("reasoning_policy", {"policy": "return", "because": words})]
    assert len(server.requests) == 3
    assert model.codec.options["reasoning"] == "return"


async def test_reasoning_that_a_server_comes_to_forbid_is_left_out_again() -> None:
    """Required for one model of a proxy, refused by the one behind it later."""
    sent: list[bool] = []

    def script(body: dict[str, Any]) -> Step:
        sent.append("reasoning_content" in json.dumps(body))
        if len(sent) == 1:
            return Status(400, "Missing `reasoning_content` field in the assistant message")
        return Status(400, "reasoning_content must not be in the input") if sent[-1] else Say("ok")

    notices: list[Any] = []
    async with ChatServer(script) as server:
        model = WireModel("m", server.url, options=FAST)
        assert (await ask(model, *THINKING, notices=notices)).text == "ok"
        await model.close()
    assert sent == [False, True, False]
    assert [data["policy"] for _, data in notices] == ["return", "omit"]


async def test_a_refusal_that_nothing_cures_is_an_error_soon() -> None:
    def script(body: dict[str, Any]) -> Step:
        sent = "reasoning_content" in json.dumps(body)
        words = "must not be sent" if sent else "must be passed back"
        return Status(400, f"reasoning_content {words}")

    async with ChatServer(script) as server:
        model = WireModel("m", server.url, options=FAST)
        with pytest.raises(exceptions.ModelInvalidRequestError):
            await ask(model, *THINKING)
        await model.close()
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    "refusal",
    [
        Status(400, "registry.ollama.ai/library/gemma:latest does not support tools"),
        Status(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'),
        Status(404, "No endpoints found that support tool use."),
        Status(500, "tools param is not supported without --jinja"),
        Status(422, "extra fields not permitted: tools"),
    ],
)
async def test_tools_that_a_server_refuses_are_offered_by_schema(refusal: Status) -> None:
    notices: list[Any] = []

    def script(body: dict[str, Any]) -> Step:
        return refusal if "tools" in body else Say(CALL)

    async with ChatServer(script) as server:
        model = WireModel("m", server.url, options=FAST)
        reply = await ask(model, notices=notices)
        await model.close()
    [call] = reply.calls
    assert (call.name, json.loads(call.arguments)) == ("search", {"query": "a"})
    assert reply.finish == "tool_calls"
    assert notices == [("tool_mode", {"mode": "schema", "because": refusal.message})]
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>',
        'Sure: ```json\n{"name": "search", "parameters": {"query": "a"}}\n```',
        "[TOOL_CALLS][{}]",
        "<function=search><parameter=query>a</parameter></function>",
    ],
)
async def test_calls_written_as_text_lead_to_schema(text: str) -> None:
    def script(body: dict[str, Any]) -> Step:
        return Say(text) if "tools" in body else Say(CALL)

    notices: list[Any] = []
    async with ChatServer(script) as server:
        model = WireModel("m", server.url, options=FAST)
        assert (await ask(model, notices=notices)).calls
        await model.close()
    assert [topic for topic, _ in notices] == ["tool_mode"]


async def test_a_server_that_called_a_tool_once_may_quote_calls() -> None:
    quoted = Say('Write {"name": "search", "arguments": {}} to search.')
    async with ChatServer([Say(calls=[("search", {})]), quoted]) as server:
        model = WireModel("m", server.url, options=FAST)
        assert (await ask(model)).calls
        assert (await ask(model)).text == quoted.text
        await model.close()


async def test_plain_answers_are_no_reason() -> None:
    async with ChatServer(["Paris, of course."]) as server:
        model = WireModel("m", server.url, options=FAST)
        for _ in range(3):
            assert (await ask(model)).text == "Paris, of course."
        await model.close()
    assert len(server.requests) == 3


@pytest.mark.parametrize(("caps", "mode"), [(False, "schema"), (True, "native")])
async def test_llama_cpp_is_asked_whether_its_template_has_tools(caps: bool, mode: str) -> None:
    async with ChatServer(lambda b: Say("Hm." if "tools" in b else CALL)) as server:
        server.server_name = "llama.cpp"
        server.props = {"chat_template_caps": {"supports_tool_calls": caps}}
        model = WireModel("m", server.url, options=FAST)
        await ask(model)
        await ask(model)
        await model.close()
    assert model.codec.options["tools"] == mode


async def test_a_server_that_takes_neither_form_is_an_error_soon() -> None:
    def script(body: dict[str, Any]) -> Step:
        words = "tools are not supported" if "tools" in body else "response_format is unknown"
        return Status(400, words)

    async with ChatServer(script) as server:
        model = WireModel("m", server.url, options=FAST)
        with pytest.raises(exceptions.ModelInvalidRequestError, match="tools are not supported"):
            await ask(model)
        await model.close()
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"tool": "answer", "arguments": {"text": "It is 7."}}', "It is 7."),
        ('```json\n{"tool": "answer", "arguments": {"text": "It is 7."}}\n```', "It is 7."),
        ("It is 7.", "It is 7."),
        ('{"tool": "answer", "argum', '{"tool": "answer", "argum'),
    ],
)
async def test_an_answer_in_schema_mode(said: str, text: str) -> None:
    heard: list[Delta] = []
    async with ChatServer([Say(said, reasoning="hm")]) as server:
        model = WireModel("m", server.url, options=WireOptions(tools="schema"))
        reply = await model.send(request_body(model), heard.append)
        await model.close()
    assert reply.content == (Reasoning("hm"), Text(text))
    assert [d.text for d in heard if d.kind == "text"] == [text]


@pytest.mark.parametrize(
    ("words", "before", "after"),
    [
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            {"max_tokens": 9},
            {"max_completion_tokens": 9},
        ),
        (
            "Unsupported value: 'temperature' does not support 0 with this model.",
            {"temperature": 0},
            {},
        ),
        ("unknown field: stream_options", {}, {}),
    ],
)
async def test_settings_that_a_server_refuses(
    words: str, before: dict[str, Any], after: dict[str, Any]
) -> None:
    async with ChatServer([Status(400, words), "ok"]) as server:
        model = WireModel("m", server.url, settings=before, options=FAST)
        notices: list[Any] = []
        assert (await ask(model, notices=notices)).text == "ok"
        await model.close()
    assert [topic for topic, _ in notices] == ["setting_refused"]
    fixed = {"model", "stream", "messages", "tools"}
    if "stream_options" not in words:
        fixed.add("stream_options")
    assert server.requests[1].body.keys() - fixed == after.keys()


async def test_another_codec_means_another_object() -> None:
    """The loop configures its thread again when the codec is not the one it knows."""
    async with ChatServer([Status(400, "unknown field: stream_options"), "ok"]) as server:
        model = WireModel("m", server.url, options=FAST)
        before, settings = model.codec, model.settings
        assert (model.codec, model.settings) == (before, settings)
        with pytest.raises(CodecChanged):
            await model.send(request_body(model))
        assert model.codec is not before
        assert model.settings != settings
        await model.close()


async def test_a_fixed_codec_stays() -> None:
    codec = ChatCodec()
    async with ChatServer([Status(400, "tools are not supported")]) as server:
        model = WireModel("m", server.url, options=WireOptions(codec=codec))
        with pytest.raises(exceptions.ModelInvalidRequestError):
            await ask(model)
        await model.close()
    assert model.codec is codec
