"""The codec of OpenAI-compatible chat completions: one message an event.

Two facts shape it. A chat tool message takes text alone, so an image in a result is named there and
shown in a user message after the last result of its turn. And a tool message has no error flag, so an
error is marked in its text.
"""

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, Literal, assert_never

from memory import (
    Block,
    ConfigSet,
    Image,
    Item,
    JsonObject,
    MessageAdded,
    Piece,
    Reasoning,
    ReplyReceived,
    Text,
    ToolCall,
    ToolReturned,
    wire,
)

from .parts import (
    EMPTY_MESSAGE,
    EMPTY_RESULT,
    ERROR_MARK,
    GO_ON,
    arguments_object,
    as_text,
    call_id,
    image_address,
    joined_text,
    object_head,
    sendable_arguments,
    tool_name,
)
from .schema_mode import answer_text, choice_text, instructions, response_format

ReasoningPolicy = Literal["omit", "return", "blocks"]
ToolMode = Literal["native", "schema"]

AFTER_TOOLS = "user_after_tools"
"""Role of a piece that is a user message and must wait for the last tool message of its turn."""

# OpenAI refuses ids over 40 characters; servers' own ids hold dots and colons.
_ID = re.compile(r"[!-~]{1,40}")
_ROLE = attrgetter("role")
_DATA = attrgetter("data")


class ChatCodec:
    """Makes chat-completions bodies; `messages` is the last key, a tail is one more user message.

    `reasoning`: `omit` leaves it out; `return` sends it back in the field it came in; `blocks` sends text
    and provider data as `reasoning_blocks`, which only our own LangChain adapter reads.
    `tools`: `native`, or `schema` for servers without tool calls (see `schema_mode`).
    """

    name = "chat"
    version = 1

    def __init__(self, reasoning: ReasoningPolicy = "omit", tools: ToolMode = "native") -> None:
        self.reasoning: ReasoningPolicy = reasoning
        self.tools: ToolMode = tools

    def __repr__(self) -> str:
        return f"ChatCodec(reasoning={self.reasoning!r}, tools={self.tools!r})"

    @property
    def options(self) -> dict[str, str]:
        """What decides the bytes beside name and version."""
        return {"reasoning": self.reasoning, "tools": self.tools}

    def head(self, config: ConfigSet) -> bytes:
        """Settings, tools, then the open list of messages with the system message in it."""
        head, system = dict(config.settings), config.system
        if config.tools and self.tools == "native":
            head["tools"] = [{"type": "function", "function": tool} for tool in config.tools]
        elif config.tools:
            head["response_format"] = response_format(config.tools)
            system = "\n\n".join(part for part in (system, instructions(config.tools)) if part)
        opening = wire({"role": "system", "content": system}) if system else b""
        return object_head(head) + b'"messages":[' + opening

    def pieces(self, item: Item) -> tuple[Piece, ...]:
        """The messages of one event; none for a reply that holds nothing to send."""
        match item.event:
            case MessageAdded(content=content):
                return (_user(_user_content(content)),)
            case ReplyReceived() as event:
                message = self._assistant(event)
                return (Piece("assistant", wire(message)),) if message else ()
            case ToolReturned() as event:
                return self._result(event)
            case _:
                assert_never(item.event)

    def body(self, head: bytes, pieces: Sequence[Piece], tail: str) -> bytes:
        """Join everything; a request that would end with the assistant's words gets a last word."""
        if AFTER_TOOLS in map(_ROLE, pieces):
            pieces = _after_tools(pieces)
        if not tail and (not pieces or pieces[-1].role == "assistant"):
            tail = GO_ON
        messages = list(map(_DATA, pieces))
        if tail:
            messages.append(_user(tail).data)
        if head.endswith(b"["):
            messages[0] = head + messages[0]
        else:
            messages.insert(0, head)
        messages[-1] += b"]}"
        return b",".join(messages)

    def _assistant(self, event: ReplyReceived) -> JsonObject | None:
        """The reply's message, keys always in this order: role, content, reasoning, tool_calls."""
        calls = [block for block in event.content if isinstance(block, ToolCall)]
        text = "".join(as_text(block) for block in event.content if not isinstance(block, ToolCall))
        thoughts = [block for block in event.content if isinstance(block, Reasoning)]
        message: JsonObject = {"role": "assistant", "content": text}
        if thoughts and self.reasoning != "omit":
            message |= self._thoughts(thoughts)
        if self.tools == "schema":
            message["content"] = _schema_content(text, calls)
        elif calls:
            message["content"] = text or None
            message["tool_calls"] = [_call(call) for call in calls]
        return message if any(value for key, value in message.items() if key != "role") else None

    def _thoughts(self, thoughts: list[Reasoning]) -> JsonObject:
        if self.reasoning == "blocks":
            return {"reasoning_blocks": [{"text": t.text, "data": t.data} for t in thoughts]}
        data = thoughts[0].data or {}
        field = "reasoning" if data.get("field") == "reasoning" else "reasoning_content"
        fields: JsonObject = {field: "".join(t.text for t in thoughts)}
        if "reasoning_details" in data:
            fields["reasoning_details"] = data["reasoning_details"]
        return fields

    def _result(self, event: ToolReturned) -> tuple[Piece, ...]:
        mark = ERROR_MARK if event.is_error else ""
        text = mark + (joined_text(event.content) or EMPTY_RESULT)
        images = [block for block in event.content if isinstance(block, Image)]
        if self.tools == "schema":
            text = f"Result of {event.name}:\n{text}"
            return (_user(_parts((Text(text), *images)) if images else text),)
        answers = call_id(event.call_id, _ID)
        message = {"role": "tool", "tool_call_id": answers, "content": text}
        piece = Piece("tool", wire(message))
        if not images:
            return (piece,)
        shown = _parts((Text(f"Images in the result of {event.name}:"), *images))
        return (piece, Piece(AFTER_TOOLS, wire({"role": "user", "content": shown})))


def _user(content: str | list[JsonObject]) -> Piece:
    return Piece("user", wire({"role": "user", "content": content}))


def _user_content(content: tuple[Block, ...]) -> str | list[JsonObject]:
    """A plain string wherever it can be one: not every server takes a list of parts."""
    if any(isinstance(block, Image) for block in content):
        return _parts(content)
    text = joined_text(content)
    return text if text.strip() else EMPTY_MESSAGE


def _parts(content: tuple[Block, ...]) -> list[JsonObject]:
    parts: list[JsonObject] = []
    for block in content:
        if isinstance(block, Image):
            url = image_address(block) or f"data:{block.media_type};base64,{block.data}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
        elif text := as_text(block):
            parts.append({"type": "text", "text": text})
    return parts


def _call(call: ToolCall) -> JsonObject:
    arguments = call.arguments
    if not arguments.strip() or arguments_object(arguments) is None:
        arguments = wire(sendable_arguments(arguments)).decode()
    function: dict[str, Any] = {"name": tool_name(call.name), "arguments": arguments}
    return {"id": call_id(call.id, _ID), "type": "function", "function": function}


def _schema_content(text: str, calls: list[ToolCall]) -> str:
    if not calls:
        return answer_text(text) if text else ""
    return "\n".join(([text] if text else []) + [choice_text(call) for call in calls])


def _after_tools(pieces: Sequence[Piece]) -> list[Piece]:
    """Move what waits for its turn's last tool message behind it."""
    ordered: list[Piece] = []
    waiting: list[Piece] = []
    for piece in pieces:
        if piece.role == AFTER_TOOLS:
            waiting.append(piece)
            continue
        if waiting and piece.role != "tool":
            ordered += waiting
            waiting = []
        ordered.append(piece)
    return ordered + waiting
