"""What the providers refuse, as assertions on a request's bytes.

Taken from the API references of chat completions and of Anthropic's messages, and from the refusals that
users reported: a request that passes here is one that a provider takes.
"""

import json
import re
from typing import Any

CHAT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")


def parse(body: bytes) -> dict[str, Any]:
    """The body, which must be one JSON object in valid UTF-8 with `messages` as its last key."""
    request = json.loads(body.decode("utf-8"))
    assert list(request)[-1] == "messages"
    assert request["messages"]
    return request


def check_chat(body: bytes) -> list[dict[str, Any]]:
    """The messages of a valid chat-completions request."""
    messages = parse(body)["messages"]
    waiting: list[str] = []
    for number, message in enumerate(messages):
        role = message["role"]
        assert role in ("system", "user", "assistant", "tool")
        assert role != "system" or number == 0
        if role == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            assert message["content"]
            continue
        assert not waiting, "a call without its result"
        if role == "assistant":
            waiting = _chat_reply(message)
        else:
            assert message["content"]
    assert not waiting
    assert messages[-1]["role"] in ("user", "tool")
    return messages


def _chat_reply(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    assert calls is None or calls
    said = {key: value for key, value in message.items() if key != "role"}
    assert any(said.values()), "an empty reply"
    ids = [call["id"] for call in calls or ()]
    assert len(set(ids)) == len(ids)
    for call in calls or ():
        assert 0 < len(call["id"]) <= 40
        assert call["type"] == "function"
        assert CHAT_NAME.fullmatch(call["function"]["name"])
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    return ids


def check_anthropic(body: bytes) -> list[dict[str, Any]]:
    """The messages of a valid request to Anthropic's messages API."""
    messages = parse(body)["messages"]
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] == "user"
    waiting: set[str] = set()
    last = ""
    for message in messages:
        assert message["role"] in ("user", "assistant")
        assert message["role"] != last, "neighbours of one role must be merged"
        last = message["role"]
        assert message["content"]
        if last == "assistant":
            assert not waiting
            waiting = _anthropic_reply(message["content"])
        else:
            _anthropic_user(message["content"], waiting)
            waiting = set()
    assert sum(json.dumps(m).count('"cache_control"') for m in messages) <= 2
    return messages


def _anthropic_reply(content: list[dict[str, Any]]) -> set[str]:
    assert content[-1]["type"] not in ("thinking", "redacted_thinking")
    ids: list[str] = []
    for block in content:
        assert block["type"] in ("text", "thinking", "redacted_thinking", "tool_use")
        if block["type"] == "text":
            assert block["text"].strip()
        if block["type"] == "thinking":
            assert block["signature"]
        if block["type"] == "tool_use":
            assert ANTHROPIC_ID.fullmatch(block["id"])
            assert CHAT_NAME.fullmatch(block["name"])
            assert isinstance(block["input"], dict)
            ids.append(block["id"])
    assert len(set(ids)) == len(ids)
    return set(ids)


def _anthropic_user(content: list[dict[str, Any]], waiting: set[str]) -> None:
    kinds = [block["type"] for block in content]
    results = [block for block in content if block["type"] == "tool_result"]
    assert {block["tool_use_id"] for block in results} == waiting
    assert len(results) == len(waiting)
    assert "tool_result" not in kinds[len(results) :], "results come first"
    for block in content:
        assert block["type"] in ("text", "image", "tool_result")
        inner = block["content"] if block["type"] == "tool_result" else [block]
        assert inner
        for part in inner:
            assert part["type"] != "text" or part["text"].strip()
