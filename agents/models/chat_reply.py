"""Collects one chat-completions answer, streamed or whole, into a `Reply`.

Servers differ: calls without index or id, ids repeated in every fragment or for every call, a whole call
in one fragment, arguments as an object. What comes out is the same for all of them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import orjson

from memory import Block, JsonObject, Reasoning, Text, ToolCall, Unknown, Usage

from .base import Delta, Reply, Sink


@dataclass(slots=True)
class _Call:
    index: Any
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


class ChatReply:
    """Takes the parsed chunks of a stream by `add`, or a whole answer by `whole`; gives a `reply`.

    All three raise `TypeError`, `AttributeError`, `ValueError` or `LookupError` for what is no answer.
    """

    def __init__(self, sink: Sink | None = None) -> None:
        self._sink = sink
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._thought_data: JsonObject = {}
        self._unknown: list[Unknown] = []
        self._calls: list[_Call] = []
        self._refused = ""
        self._usage: JsonObject = {}
        self._received: JsonObject = {}
        self._id = self._model = ""
        self.finish = ""
        """The provider's reason, `""` while there is none."""

    def add(self, chunk: JsonObject) -> None:
        """Take in one chunk of a stream."""
        for choice in chunk.get("choices") or ():
            if choice.get("index"):
                continue
            if delta := choice.get("delta"):
                self._message(delta)
            if reason := choice.get("finish_reason"):
                self.finish = str(reason)
        if usage := chunk.get("usage"):
            self._usage = usage
        if not self._model and (name := chunk.get("model")):
            self._model, self._id = str(name), str(chunk.get("id") or "")

    def whole(self, answer: JsonObject) -> None:
        """Take in a whole answer."""
        choice = answer["choices"][0]
        self._received = choice["message"]
        self.add(answer | {"choices": [choice | {"delta": choice["message"]}]})
        self.finish = self.finish or "stop"

    def reply(self, seed: Callable[[], str]) -> Reply:
        """The reply; calls that came without an id get one made of `seed()`, unique inside it."""
        text = "".join(self._text) or self._refused
        blocks: list[Block] = []
        if self._thoughts or "reasoning_details" in self._thought_data:
            blocks.append(Reasoning("".join(self._thoughts), self._thought_data or None))
        if text:
            blocks.append(Text(text))
        calls = self._tool_calls(seed)
        return Reply(
            content=(*blocks, *self._unknown, *calls),
            finish=self._finish(bool(calls)),
            usage=usage_from(self._usage),
            model=self._model,
            raw=self._raw(text, calls),
        )

    def _message(self, part: JsonObject) -> None:
        content = part.get("content")
        if content:
            self._content(content)
        for name in ("reasoning_content", "reasoning"):
            if thought := part.get(name):
                self._thought(name, str(thought))
                break
        if details := part.get("reasoning_details"):
            self._thought_data.setdefault("reasoning_details", []).extend(details)
        for call in part.get("tool_calls") or ():
            self._call(call)
        if refusal := part.get("refusal"):
            self._refused += str(refusal)

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            self._text.append(content)
            self._emit("text", content)
            return
        for part in cast(list[JsonObject], content):
            if part.get("type") == "text":
                self._content(str(part["text"]))
            else:
                self._unknown.append(Unknown(str(part.get("type")), part))

    def _thought(self, name: str, text: str) -> None:
        if name == "reasoning":
            self._thought_data["field"] = name
        self._thoughts.append(text)
        self._emit("reasoning", text)

    def _call(self, part: JsonObject) -> None:
        function: JsonObject = part.get("function") or {}
        call = self._slot(part, bool(function.get("name")))
        call.id = call.id or str(part.get("id") or "")
        call.name = call.name or str(function.get("name") or "")
        arguments = function.get("arguments")
        if arguments is None:
            return
        text = arguments if isinstance(arguments, str) else orjson.dumps(arguments).decode()
        call.arguments.append(text)
        self._emit("tool_call", text)

    def _slot(self, part: JsonObject, named: bool) -> _Call:
        """The call that a fragment belongs to."""
        index, name = part.get("index"), part.get("id")
        if index is None and not named and not name and self._calls:
            return self._calls[-1]
        for call in reversed(self._calls):
            same_id = not name or not call.id or name == call.id
            # A name in a fragment begins a call, unless the server repeats it with the call's id.
            if index is not None and call.index == index and same_id and (name or not named):
                return call
            if index is None and name and call.id == name and not (named and call.arguments):
                return call
        self._calls.append(_Call(index))
        return self._calls[-1]

    def _tool_calls(self, seed: Callable[[], str]) -> list[ToolCall]:
        taken: set[str] = set()
        calls: list[ToolCall] = []
        for number, call in enumerate(self._calls, 1):
            name = call.id or f"call_{seed()}_{number}"
            while name in taken:
                name = f"{name}_{number}"
            taken.add(name)
            calls.append(ToolCall(name, call.name, "".join(call.arguments)))
        return calls

    def _finish(self, calls: bool) -> str:
        if self._refused and not self._text:
            return "content_filter"
        if calls and self.finish in ("", "stop", "function_call"):
            return "tool_calls"
        return self.finish or "stop"

    def _raw(self, text: str, calls: list[ToolCall]) -> JsonObject:
        """The message as it came, a stream's pieces put together."""
        message: JsonObject = dict(self._received)
        if not message:
            message |= {"role": "assistant", "content": text}
            if self._thoughts:
                message[self._thought_data.get("field", "reasoning_content")] = "".join(
                    self._thoughts
                )
            if calls:
                message["tool_calls"] = [
                    {"id": c.id, "function": {"name": c.name, "arguments": c.arguments}}
                    for c in calls
                ]
        raw = {"id": self._id, "message": message, "finish_reason": self.finish}
        return raw | {"usage": self._usage}

    def _emit(self, kind: Any, text: str) -> None:
        if self._sink is not None:
            self._sink(Delta(kind, text))


def usage_from(usage: JsonObject) -> Usage:
    """Token counts of a chat-completions answer; cached tokens as OpenAI or DeepSeek report them. A count
    below 0 would give tokens back to a limit: it is 0."""
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or 0
    return Usage(
        max(0, int(usage.get("prompt_tokens") or 0)),
        max(0, int(usage.get("completion_tokens") or 0)),
        max(0, int(cached)),
    )
