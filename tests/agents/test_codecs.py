"""The bytes of both codecs, part by part."""

import json
from typing import Any

import pytest

from agents import AgentDefinitionError, AnthropicCodec, ChatCodec, codec_for
from memory import (
    Block,
    Codec,
    ConfigSet,
    Event,
    Image,
    Item,
    MessageAdded,
    Reasoning,
    ReplyReceived,
    ResultBlock,
    Text,
    ToolCall,
    ToolReturned,
    Unknown,
    Usage,
)

TOOL = {"name": "f", "description": "Does f.", "parameters": {"type": "object"}}
PICTURE = Image("image/png", "aGk=")


def request(codec: Codec, *events: Event, tail: str = "", **config: Any) -> dict[str, Any]:
    fields = {"system": "S", "tools": (TOOL,), "settings": {"model": "m", "stream": True}} | config
    head = ConfigSet("m", codec.name, codec.version, dict(codec.options), **fields)
    items: list[Any] = [Item(seq, event) for seq, event in enumerate(events, start=2)]
    pieces = [piece for item in items for piece in codec.pieces(item)]
    return json.loads(codec.body(codec.head(head), pieces, tail))


def messages(codec: Codec, *events: Event, tail: str = "") -> list[dict[str, Any]]:
    return request(codec, *events, tail=tail, system="")["messages"]


def user(*content: Block | str) -> MessageAdded:
    return MessageAdded(tuple(Text(c) if isinstance(c, str) else c for c in content))


def reply(*content: Block) -> ReplyReceived:
    return ReplyReceived(content, "stop", Usage(), "m", {})


def result(call: str, *content: ResultBlock, error: bool = False) -> ToolReturned:
    return ToolReturned(call, "f", content, error)


CALL = ToolCall("c1", "f", '{"a": 1}')


def test_chat_settings_come_first_and_messages_last() -> None:
    body = request(ChatCodec(), user("hi"))
    assert list(body) == ["model", "stream", "tools", "messages"]
    assert body["tools"] == [{"type": "function", "function": TOOL}]
    assert body["messages"][0] == {"role": "system", "content": "S"}


def test_chat_without_tools_system_and_history() -> None:
    body = request(ChatCodec(), tools=(), system="", settings={})
    assert body == {"messages": [{"role": "user", "content": "(Go on.)"}]}


def test_chat_turn() -> None:
    assert messages(
        ChatCodec(), user("hi"), reply(Text("I look."), CALL), result("c1", Text("found")), tail="T"
    ) == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
        {"role": "user", "content": "T"},
    ]


def test_chat_key_order_is_fixed() -> None:
    codec = ChatCodec(reasoning="return")
    said = messages(codec, reply(CALL, Reasoning("hm"), Text("x")), result("c1"))[0]
    assert list(said) == ["role", "content", "reasoning_content", "tool_calls"]
    call = said["tool_calls"][0]
    assert list(call) == ["id", "type", "function"]
    assert list(call["function"]) == ["name", "arguments"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  ", {}),
        ('{"a": 1', {"malformed_arguments": '{"a": 1'}),
        ("[1]", {"malformed_arguments": "[1]"}),
        ("null", {"malformed_arguments": "null"}),
        ('{"a": NaN}', {"malformed_arguments": '{"a": NaN}'}),
        ('{"a": "\ud800"}', {"a": "\ufffd"}),
    ],
)
def test_arguments_are_always_an_object(written: str, sent: dict[str, Any]) -> None:
    events = (reply(ToolCall("c1", "f", written)), result("c1"))
    chat = messages(ChatCodec(), *events)[0]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(chat) == sent
    assert messages(AnthropicCodec(), *events)[1]["content"][0]["input"] == sent


def test_chat_reply_of_calls_alone_has_no_content() -> None:
    assert messages(ChatCodec(), reply(CALL), result("c1"))[0]["content"] is None


def test_a_reply_without_anything_to_send_is_left_out() -> None:
    thought = reply(Reasoning("only thinking", {"signature": "s"}))
    for codec in (ChatCodec(), AnthropicCodec()):
        assert "assistant" not in [m["role"] for m in messages(codec, user("hi"), thought)]


@pytest.mark.parametrize(
    ("block", "fields"),
    [
        (Reasoning("hm"), {"reasoning_content": "hm"}),
        (Reasoning("hm", {"field": "reasoning"}), {"reasoning": "hm"}),
        (
            Reasoning("hm", {"field": "reasoning", "reasoning_details": [{"id": 1}]}),
            {"reasoning": "hm", "reasoning_details": [{"id": 1}]},
        ),
        (Reasoning("hm", {"field": "role"}), {"reasoning_content": "hm"}),
    ],
)
def test_chat_reasoning_goes_back_in_its_own_field(block: Block, fields: dict[str, Any]) -> None:
    events = (reply(block, CALL), result("c1"))
    said = messages(ChatCodec(reasoning="return"), *events)[0]
    assert {key: said[key] for key in fields} == fields
    assert said["role"] == "assistant"
    assert not any("reasoning" in key for key in messages(ChatCodec(), *events)[0])


def test_chat_images_of_a_user() -> None:
    assert messages(ChatCodec(), user("see", PICTURE, Image("image/png", "https://x.org/a.png")))[
        0
    ]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
        {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
    ]


def test_chat_images_in_results_wait_for_the_last_result() -> None:
    calls = reply(CALL, ToolCall("c2", "f", "{}"))
    sent = messages(ChatCodec(), calls, result("c1", PICTURE), result("c2", Text("b")), user("go"))
    assert [m["role"] for m in sent] == ["assistant", "tool", "tool", "user", "user"]
    assert sent[1]["content"] == "[image: image/png]"
    assert sent[3]["content"][1]["image_url"]["url"].endswith("aGk=")
    assert sent[4]["content"] == "go"


def test_errors_are_marked() -> None:
    events = (reply(CALL), result("c1", Text("no such file"), error=True))
    assert messages(ChatCodec(), *events)[1]["content"] == "[error] no such file"
    assert messages(AnthropicCodec(), *events)[2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "c1",
            "content": [{"type": "text", "text": "no such file"}],
            "is_error": True,
            "cache_control": {"type": "ephemeral"},
        }
    ]


def test_empty_results_and_messages_say_so() -> None:
    events = (user(" "), reply(CALL), result("c1"))
    chat = messages(ChatCodec(), *events)
    assert (chat[0]["content"], chat[2]["content"]) == ("(empty message)", "(no output)")
    anthropic = messages(AnthropicCodec(), *events)
    assert anthropic[0]["content"][0]["text"] == "(empty message)"
    assert anthropic[2]["content"][0]["content"][0]["text"] == "(no output)"


@pytest.mark.parametrize("codec", [ChatCodec(), AnthropicCodec()], ids=repr)
def test_names_and_ids_that_no_provider_takes(codec: Codec) -> None:
    call = ToolCall("id of\nseveral words " * 9, "read a file", "{}")
    text = json.dumps(messages(codec, reply(call), result(call.id)))
    assert "read_a_file" in text
    assert "several words" not in text
    assert text.count('"call_') == 2


def test_ids_of_servers_stay_as_they_are() -> None:
    """Kimi's chat template reads the number after the colon."""
    call = ToolCall("functions.search:0", "f", "{}")
    sent = messages(ChatCodec(), reply(call), result(call.id))
    assert sent[0]["tool_calls"][0]["id"] == sent[1]["tool_call_id"] == "functions.search:0"


@pytest.mark.parametrize("codec", [ChatCodec(), AnthropicCodec()], ids=repr)
def test_unknown_parts_surrogates_and_compactions_are_text(codec: Codec) -> None:
    sent = json.dumps(
        messages(
            codec,
            user("a\ud800b", Unknown("audio", {"id": 7})),
            MessageAdded((Text("what went before"),), "framework"),
        ),
        ensure_ascii=False,
    )
    assert "a\ufffdb" in sent
    assert "[audio]" in sent
    assert "what went before" in sent


def test_no_request_ends_with_the_assistant() -> None:
    for codec in (ChatCodec(), ChatCodec(tools="schema"), AnthropicCodec()):
        events = (user("hi"), reply(Text("hello")))
        assert "(Go on.)" in json.dumps(messages(codec, *events)[-1])
        assert "(Go on.)" not in json.dumps(messages(codec, *events, tail="T"))


# Tool choice by schema.


def test_schema_mode_offers_tools_in_words_and_as_a_format() -> None:
    parameters = {
        "type": "object",
        "properties": {
            "q": {"type": "string", "pattern": "^a(?=b)"},
            "place": {"$ref": "#/$defs/Place"},
        },
        "required": ["q"],
        "$defs": {"Place": {"type": "object", "properties": {"city": {"type": "string"}}}},
    }
    tool = {"name": "find", "description": "Finds.", "parameters": parameters}
    body = request(ChatCodec(tools="schema"), user("hi"), tools=(tool,))
    assert "tools" not in body
    assert "find" in body["messages"][0]["content"]
    assert body["messages"][0]["content"].startswith("S\n\n")
    branches = body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [branch["properties"]["tool"]["const"] for branch in branches] == ["find", "answer"]
    assert branches[0]["properties"]["arguments"]["properties"] == {
        "q": {"type": "string"},
        "place": {"type": "object", "properties": {"city": {"type": "string"}}},
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {"$ref": "#/$defs/T", "$defs": {"T": {"properties": {"next": {"$ref": "#/$defs/T"}}}}}
    tool = {"name": "f", "description": "", "parameters": tree}
    assert "response_format" in request(ChatCodec(tools="schema"), user("hi"), tools=(tool,))


def test_schema_mode_writes_history_as_the_model_would() -> None:
    sent = messages(
        ChatCodec(tools="schema"),
        reply(CALL),
        result("c1", Text("found"), PICTURE, error=True),
        reply(Text("It is 7.")),
        user("why?"),
    )
    assert [m["role"] for m in sent] == ["system", "assistant", "user", "assistant", "user"]
    assert json.loads(sent[1]["content"]) == {"tool": "f", "arguments": {"a": 1}}
    assert sent[2]["content"][0]["text"].startswith("Result of f:\n[error] found")
    assert sent[2]["content"][1]["type"] == "image_url"
    assert json.loads(sent[3]["content"]) == {"tool": "answer", "arguments": {"text": "It is 7."}}


# Anthropic.


def test_anthropic_head() -> None:
    body = request(AnthropicCodec(cache="off"), user("hi"))
    assert list(body) == ["model", "stream", "tools", "system", "messages"]
    assert body["tools"] == [
        {"name": "f", "description": "Does f.", "input_schema": {"type": "object"}}
    ]
    assert body["system"] == [{"type": "text", "text": "S"}]


def test_anthropic_merges_results_and_the_tail_into_one_message() -> None:
    sent = messages(
        AnthropicCodec(cache="off"),
        user("go"),
        reply(CALL, ToolCall("c2", "f", "{}")),
        result("c1", Text("one")),
        result("c2", Text("two")),
        tail="T",
    )
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert [b["type"] for b in sent[2]["content"]] == ["tool_result", "tool_result", "text"]
    assert [b["tool_use_id"] for b in sent[2]["content"][:2]] == ["c1", "c2"]


def test_anthropic_thinking_goes_back_signed_or_not_at_all() -> None:
    signed = Reasoning("hm", {"signature": "s1"})
    hidden = Reasoning("", {"type": "redacted_thinking", "data": "x"})
    sent = messages(AnthropicCodec(), reply(signed, hidden, Reasoning("bare"), CALL), result("c1"))
    assert sent[1]["content"][:2] == [
        {"type": "thinking", "thinking": "hm", "signature": "s1"},
        {"type": "redacted_thinking", "data": "x"},
    ]
    assert [b["type"] for b in sent[1]["content"][2:]] == ["tool_use"]


def test_anthropic_cache_mark_stands_before_the_tail() -> None:
    body = request(AnthropicCodec(), user("one"), user("two"), tail="T")
    marks = [("cache_control" in block) for block in body["messages"][0]["content"]]
    assert marks == [False, True, False]
    assert "cache_control" in body["system"][0]
    assert "cache_control" not in json.dumps(request(AnthropicCodec("off"), user("one"), tail="T"))


def test_anthropic_images() -> None:
    sent = messages(
        AnthropicCodec(cache="off"), user(PICTURE, Image("image/png", "https://x.org/a"))
    )
    assert sent[0]["content"] == [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
        },
        {"type": "image", "source": {"type": "url", "url": "https://x.org/a"}},
    ]


# Codecs by name.


@pytest.mark.parametrize(
    "codec",
    [ChatCodec(), ChatCodec("return", "schema"), ChatCodec("blocks"), AnthropicCodec("off")],
    ids=repr,
)
def test_a_codec_is_made_again_from_what_the_log_says(codec: Codec) -> None:
    again = codec_for(codec.name, codec.version, dict(codec.options))
    assert type(again) is type(codec)
    assert again.options == codec.options


def test_an_unknown_codec_is_a_clear_error() -> None:
    with pytest.raises(AgentDefinitionError, match=r"'chat' version 99.*known: chat 1"):
        codec_for("chat", 99, {})
