"""Tool calls for servers that have none: the model fills in a JSON object that names tool and arguments.

The request asks for `{"tool": NAME, "arguments": {...}}` by `response_format`, with one branch a tool and
one for the answer; what comes back is read into calls by `read_choice`.
"""

import re
from typing import Any, cast

import orjson

from memory import JsonObject, ToolCall, wire

from .parts import arguments_object, sendable_arguments, tool_name

ANSWER = "answer"
INSTRUCTIONS = """Answer with one JSON object and nothing else.
To use a tool: {"tool": "NAME", "arguments": {...}}. Its result comes in the next message.
To answer: {"tool": "answer", "arguments": {"text": "..."}}.

Tools, one a line, with the JSON schema of their arguments:
"""

# What a grammar made from a schema can hold; other keywords make some servers refuse the request.
_KEPT = ("type", "description", "enum", "const", "required", "additionalProperties")
_DEPTH = 8
_FENCED = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.DOTALL)


def instructions(tools: tuple[JsonObject, ...]) -> str:
    """The tools in words for the system prompt, `""` when there are none."""
    if not tools:
        return ""
    return INSTRUCTIONS + "\n".join(wire(tool).decode() for tool in tools)


def response_format(tools: tuple[JsonObject, ...]) -> JsonObject:
    """The `response_format` value: one branch a tool, and one for the answer."""
    branches = [
        _branch(str(tool["name"]), _plain_schema(schema, schema, _DEPTH))
        for tool in tools
        for schema in (cast(JsonObject, tool.get("parameters") or {"type": "object"}),)
    ]
    text: JsonObject = {"type": "object", "properties": {"text": {"type": "string"}}}
    branches.append(_branch(ANSWER, text | {"required": ["text"]}))
    schema = {"name": "tool_choice", "schema": {"anyOf": branches}}
    return {"type": "json_schema", "json_schema": schema}


def choice_text(call: ToolCall) -> str:
    """A call as the model would have written it in this mode."""
    choice = {"tool": tool_name(call.name), "arguments": sendable_arguments(call.arguments)}
    return wire(choice).decode()


def answer_text(text: str) -> str:
    """An answer as the model would have written it in this mode."""
    return wire({"tool": ANSWER, "arguments": {"text": text}}).decode()


def read_choice(text: str, made_up_id: str) -> ToolCall | str | None:
    """The call or the answer that a reply's text holds, `None` when it is no such object.

    A tool of the user's that is named `answer` and takes one `text` reads as the answer.
    """
    fenced = _FENCED.fullmatch(text)
    choice = arguments_object(fenced[1] if fenced else text)
    if not choice or not isinstance(choice.get("tool"), str):
        return None
    arguments: Any = choice.get("arguments", {})
    if choice["tool"] == ANSWER and isinstance(arguments, dict):
        answer: Any = cast(JsonObject, arguments).get("text")
        if isinstance(answer, str):
            return answer
    return ToolCall(made_up_id, choice["tool"], orjson.dumps(arguments).decode())


def _branch(name: str, arguments: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": {"tool": {"const": name}, "arguments": arguments},
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


def _plain_schema(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    """The schema with references put in place (a grammar has no root to refer to), few keywords kept."""
    if depth == 0:
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        found: Any = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        return _plain_schema(found, root, depth - 1)
    plain = {key: schema[key] for key in _KEPT if key in schema}
    if isinstance(plain.get("additionalProperties"), dict):
        plain["additionalProperties"] = True
    if "properties" in schema:
        plain["properties"] = {
            name: _plain_schema(part, root, depth - 1)
            for name, part in schema["properties"].items()
        }
    if isinstance(schema.get("items"), dict):
        plain["items"] = _plain_schema(schema["items"], root, depth - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            plain["anyOf"] = [_plain_schema(part, root, depth - 1) for part in schema[key]]
    return plain
