"""`LangChainModel`: any LangChain chat model behind the same `Model` protocol.

The request bytes are made as for any other model, then parsed and converted by langchain-core; the log's
request is JSON-equal to what the chat model was given. Import this module's class freely: LangChain
itself is imported with the first request.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import orjson

from memory import Block, Codec, JsonObject, Reasoning, Text, ToolCall, Unknown, Usage

from ..errors import ModelUnavailable
from .base import Delta, Reply, Sink
from .chat_codec import ChatCodec
from .endpoint import Endpoint, Retries, endpoint_for, retried
from .failures import Failure, Kind, is_overflow, retry_after
from .pace import BYTES_A_TOKEN, Rate

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
# Parts of a message's content that LangChain repeats in `tool_calls`.
_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "input_json_delta"})


_ADDRESS = ("api_base", "api_url", "base_url", "endpoint")
"""How the fields are named by which integrations know their server."""


class LangChainModel:
    """Talks to a LangChain chat model; its own client should not retry (`max_retries=0`), this does.

    `name` defaults to the model's own; `window` to its profile's `max_input_tokens`. `rate` says how fast
    its endpoint may be asked, by this model and by all others of the same address and key together.
    """

    def __init__(
        self,
        chat_model: "BaseChatModel",
        *,
        name: str = "",
        window: int | None = None,
        retries: Retries | None = None,
        rate: Rate | None = None,
    ) -> None:
        found: Any = getattr(chat_model, "model_name", None) or getattr(chat_model, "model", None)
        self.name = name or f"langchain:{found or type(chat_model).__name__}"
        profile = cast(JsonObject, getattr(chat_model, "profile", None) or {})
        self.window: int | None = window or profile.get("max_input_tokens")
        self.codec: Codec = ChatCodec(reasoning="blocks")
        self.settings: JsonObject = {"model": str(found or type(chat_model).__name__)}
        self._chat = chat_model
        self._retries = retries or Retries()
        self._endpoint = _endpoint(chat_model)
        self._endpoint.rate &= rate or Rate()
        self._bound: tuple[bytes, Any] = (b"", chat_model)

    def __repr__(self) -> str:
        return f"LangChainModel({type(self._chat).__name__}, name={self.name!r})"

    async def send(self, body: bytes, sink: Sink | None = None) -> Reply:
        """Send one request, streamed when `sink` is given.

        Raises langchain-core's model errors as the integration raised them, after the retries; whatever
        else it raises becomes `ModelUnavailable`.
        """
        request: JsonObject = orjson.loads(body)
        messages = _messages(request["messages"])
        chat = self._with_tools(request.get("tools", []))
        gate, tokens = self._endpoint.gate(), len(body) // BYTES_A_TOKEN

        async def once() -> Reply:
            async with gate.passing(tokens):
                reply = await self._once(chat, messages, sink)
            gate.correct(reply.usage.total - tokens)
            return reply

        failures: list[str] = []
        try:
            reply = await retried(once, gate, self._retries, failures)
        except Failure as failure:
            raise self._error(failure) from failure.__cause__
        if failures:
            return replace(reply, notices=(("model_retry", {"failures": failures}),))
        return reply

    async def close(self) -> None:
        """Nothing to release: the chat model belongs to whoever made it."""

    def _with_tools(self, tools: list[JsonObject]) -> Any:
        """The chat model with these tools bound; bound again only when they change."""
        if not tools:
            return self._chat
        key = orjson.dumps(tools)
        if self._bound[0] != key:
            self._bound = (key, self._chat.bind_tools(tools))
        return self._bound[1]

    async def _once(self, chat: Any, messages: "list[BaseMessage]", sink: Sink | None) -> Reply:
        try:
            if sink is None:
                message = await chat.ainvoke(messages)
            else:
                message = await _streamed(chat, messages, sink)
        except Exception as error:
            raise _failure(error) from error
        return _reply(message)

    def _error(self, failure: Failure) -> BaseException:
        from langchain_core.exceptions import ContextOverflowError, ModelError

        cause = failure.__cause__
        if failure.kind == "overflow" and not isinstance(cause, ContextOverflowError):
            return failure.as_error(self.name, "")
        if isinstance(cause, ModelError):
            return cause
        return ModelUnavailable(f"model {self.name!r} gave no answer: {failure.message}")


def _endpoint(chat: "BaseChatModel") -> Endpoint:
    """The endpoint of a chat model, shared with all of its address and key; one that names neither is
    alone."""
    fields = type(chat).model_fields
    values: list[Any] = [(name, getattr(chat, name, None)) for name in fields]
    addresses = [value for name, value in values if name.endswith(_ADDRESS) and value]
    keys = [value for name, value in values if name.endswith("api_key") and value]
    if not addresses and not keys:
        return Endpoint("")
    secret: Any = getattr(keys[0], "get_secret_value", None) if keys else None
    address = str(addresses[0]) if addresses else f"langchain:{type(chat).__name__}"
    return endpoint_for(address.rstrip("/"), str(secret()) if callable(secret) else "")


async def _streamed(chat: Any, messages: "list[BaseMessage]", sink: Sink) -> "AIMessage":
    chunks: list[AIMessageChunk] = []
    async for chunk in chat.astream(messages):
        chunks.append(chunk)
        if text := str(chunk.text):
            sink(Delta("text", text))
        for call in chunk.tool_call_chunks:
            sink(Delta("tool_call", call["args"] or ""))
    if not chunks:
        raise Failure("server", "the stream ended without a word")
    # Added all at once: one by one copies what there is so far each time.
    return chunks[0] + chunks[1:] if len(chunks) > 1 else chunks[0]


def _failure(error: Exception) -> Failure:
    from langchain_core.exceptions import ModelError, ModelRateLimitError

    if isinstance(error, Failure):
        return error
    headers: Any = getattr(getattr(error, "response", None), "headers", None)
    retryable = isinstance(error, ModelError) and error.is_retryable
    kind: Kind = "rate_limit" if isinstance(error, ModelRateLimitError) else "server"
    return Failure(
        # Integrations know the codes of their own provider alone, not of every compatible server.
        kind if retryable or not is_overflow(str(error)) else "overflow",
        f"{type(error).__name__}: {error}",
        retry_after=retry_after(headers) if headers else None,
        retryable=retryable,
    )


def _messages(messages: list[JsonObject]) -> "list[BaseMessage]":
    """The messages as LangChain has them, with reasoning back in the form in which it came."""
    from langchain_core.messages import convert_to_messages

    converted = convert_to_messages(messages)
    for message in converted:
        thoughts = message.additional_kwargs.pop("reasoning_blocks", None)
        if thoughts:
            _put_back(message, thoughts)
    return converted


def _put_back(message: "BaseMessage", thoughts: list[JsonObject]) -> None:
    parts: list[JsonObject] = []
    for thought in thoughts:
        data: JsonObject | None = thought["data"]
        if data is None:
            message.additional_kwargs["reasoning_content"] = thought["text"]
        elif "signature" in data:
            parts.append({"type": "thinking", "thinking": thought["text"]} | data)
        elif "type" in data:
            parts.append(data)
    if parts:
        text = [{"type": "text", "text": message.content}] if message.content else []
        message.content = cast(Any, parts + text)


def _reply(message: "AIMessage") -> Reply:
    metadata = message.response_metadata
    calls = _calls(message)
    finish = str(metadata.get("finish_reason") or metadata.get("stop_reason") or "stop").lower()
    finish = _FINISH.get(finish, finish)
    return Reply(
        content=(*_blocks(message), *calls),
        finish="tool_calls" if calls and finish == "stop" else finish,
        usage=_usage(cast(JsonObject, message.usage_metadata or {})),
        model=str(metadata.get("model_name") or metadata.get("model") or ""),
        raw=message.model_dump(mode="json", exclude_none=True),
    )


def _blocks(message: "AIMessage") -> list[Block]:
    blocks: list[Block] = []
    if thought := message.additional_kwargs.get("reasoning_content"):
        blocks.append(Reasoning(str(thought)))
    content: Any = message.content
    for part in [content] if isinstance(content, str) else cast(list[Any], content):
        block = _block(part)
        if block is not None:
            blocks.append(block)
    return blocks


def _block(part: Any) -> Block | None:
    """One part of a message's content; `None` for empty text and for calls, which are read elsewhere."""
    if isinstance(part, str):
        return Text(part) if part else None
    fields = {key: value for key, value in part.items() if key != "index"}
    match fields.get("type"):
        case "text":
            return Text(fields["text"]) if fields.get("text") else None
        case "thinking" if "signature" in fields:
            return Reasoning(str(fields.get("thinking", "")), {"signature": fields["signature"]})
        case "thinking" | "reasoning" | "redacted_thinking":
            return Reasoning(_thought(fields), fields)
        case kind if kind in _CALL_PARTS:
            return None
        case kind:
            return Unknown(str(kind), fields)


def _thought(fields: JsonObject) -> str:
    summary: Sequence[JsonObject] = fields.get("summary") or ()
    said = "".join(str(part.get("text", "")) for part in summary)
    return str(fields.get("thinking") or fields.get("reasoning") or said)


def _calls(message: "AIMessage") -> list[ToolCall]:
    """The calls; from a stream with the arguments as the model wrote them, malformed ones included."""
    streamed: Any = getattr(message, "tool_call_chunks", None)
    if streamed:
        return [ToolCall(c["id"] or "", c["name"] or "", c["args"] or "") for c in streamed]
    calls = [
        ToolCall(call["id"] or "", call["name"], orjson.dumps(call["args"]).decode())
        for call in message.tool_calls
    ]
    return calls + [
        ToolCall(call["id"] or "", call["name"] or "", call["args"] or "")
        for call in message.invalid_tool_calls
    ]


def _usage(usage: JsonObject) -> Usage:
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    given = (usage.get("input_tokens", 0), usage.get("output_tokens", 0), cached)
    return Usage(*(max(0, number) for number in given))
