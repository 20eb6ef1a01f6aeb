"""The short text that stands for a stored body: both ends, its shape, and how to read on."""

import csv
import json
from collections.abc import Mapping, Sequence
from typing import cast

from .artifacts import ArtifactRef, Ends
from .kinds import CSV, JSON, TSV
from .text import border_after, border_before, count_lines, decode_head, decode_tail, encode

READ_CALL = 'read_file(path="{path}", start_char={start_char})'
"""The call that reads on, as text; `{path}` and `{start_char}` are filled in."""
HEAD_LINES = 10
TAIL_LINES = 5
SIDE = 2_000
"""Characters at most of each end."""
_SHAPE = 600
"""Characters at most of the line that tells a JSON body's keys or a table's columns."""


def preview(ref: ArtifactRef, body: str | bytes | Ends, *, read_call: str = READ_CALL) -> str:
    """Return the text that stands for the stored `body`; the same bytes for the same arguments.

    Shows the first 10 and last 5 lines, at most 2,000 characters a side, cut between whole
    characters and where possible between lines; says size, lines, kind, what is left out and the
    call that reads on. JSON shows its keys and lengths, a table its columns. For a body that is
    not in memory pass `await store.ends(ref)`. `read_call` may contain `{path}` and
    `{start_char}` (characters from the start, base 0).
    """
    head_text, tail_text, whole = _texts(body)
    about = f"[{ref.path}: {ref.size:,} bytes, {_lines(ref.lines)}, {ref.kind}{_shape(ref, body)}]"
    if whole and len(head_text) <= 2 * SIDE and count_lines(head_text) <= HEAD_LINES + TAIL_LINES:
        return f"{about}\n{head_text}"
    head, tail = _head(head_text), _tail(tail_text)
    call = read_call.replace("{path}", ref.path).replace("{start_char}", str(len(head)))
    left = ref.size - len(encode(head)) - len(encode(tail))
    lines = max(ref.lines - head.count("\n") - count_lines(tail), 1)
    cut = f"[... {left:,} bytes, about {_lines(lines)} left out; read on: {call} ...]"
    return f"{about}\n{head}{'' if head.endswith(chr(10)) else chr(10)}{cut}\n{tail}"


def _lines(count: int) -> str:
    return f"{count:,} line" if count == 1 else f"{count:,} lines"


def _texts(body: str | bytes | Ends) -> tuple[str, str, bool]:
    """Return the text to take the head from, the text to take the tail from, and whether all is there."""
    match body:
        case str():
            return body, body, True
        case bytes():
            return (text := decode_head(body)), text, True
        case Ends(head=head, tail=b""):
            return (text := decode_head(head)), text, True
        case Ends(head=head, tail=tail):
            return _without_last(decode_head(head)), _without_first(decode_tail(tail)), False


def _without_last(text: str) -> str:
    """The text without its last whole character: what follows in the body may be a mark of it."""
    return text[: border_before(text, len(text) - 1)] if text else text


def _without_first(text: str) -> str:
    """The text without its first whole character, which may be a mark of what stands before it."""
    return text[border_after(text, 1) :]


def _head(text: str) -> str:
    end = -1
    for _ in range(HEAD_LINES):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    limit = len(text) if end < 0 else end + 1
    if limit <= SIDE:
        return text[:limit]
    at_line = text.rfind("\n", 0, SIDE) + 1
    return text[: at_line if at_line > SIDE // 2 else border_before(text, SIDE)]


def _tail(text: str) -> str:
    start = len(text) - 1 if text.endswith("\n") else len(text)
    for _ in range(TAIL_LINES):
        start = text.rfind("\n", 0, max(start, 0))
        if start < 0:
            break
    if len(text) - (start + 1) <= SIDE:
        return text[start + 1 :]
    earliest = len(text) - SIDE
    at_line = text.find("\n", earliest) + 1
    return text[at_line if 0 < at_line < len(text) - SIDE // 2 else border_after(text, earliest) :]


def _shape(ref: ArtifactRef, body: str | bytes | Ends) -> str:
    match body:
        case str():
            data: str | bytes = body
        case bytes():
            data = body
        case Ends():
            data = body.head
    if ref.kind == JSON and not (isinstance(body, Ends) and body.tail):
        return _json_shape(data)
    if ref.kind in (CSV, TSV):
        return _columns(data, "\t" if ref.kind == TSV else ",")
    return ""


def _json_shape(data: str | bytes) -> str:
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return ", not valid JSON"
    if isinstance(value, dict):
        members = cast(Mapping[str, object], value)
        shown = ", ".join(f"{json.dumps(k)[:60]} ({_length(v)})" for k, v in members.items())
        return f"; {len(members):,} keys: {_clip(shown)}"
    if isinstance(value, list) and value:
        items = cast(Sequence[object], value)
        return f"; {len(items):,} items, the first {_clip(_first(items[0]))}"
    return f"; {_length(value)}"


def _first(value: object) -> str:
    if isinstance(value, dict):
        keys = ", ".join(json.dumps(key)[:60] for key in cast(Mapping[str, object], value))
        return f"an object with {keys}"
    return _length(value)


def _length(value: object) -> str:
    match value:
        case str():
            return f"{len(value):,} characters"
        case list():
            return f"{len(cast(Sequence[object], value)):,} items"
        case dict():
            return f"{len(cast(Mapping[str, object], value)):,} keys"
        case _:
            return json.dumps(value)[:40]


def _columns(data: str | bytes, delimiter: str) -> str:
    text = data[: _SHAPE * 8] if isinstance(data, str) else decode_head(data[: _SHAPE * 8])
    line = text.split("\n", 1)[0].rstrip("\r")
    if delimiter == "," and line.count(";") > line.count(","):
        delimiter = ";"
    try:
        names = next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return ""
    return f"; {len(names)} columns: {_clip(', '.join(names))}"


def _clip(text: str) -> str:
    return text if len(text) <= _SHAPE else f"{text[: border_before(text, _SHAPE)]}..."
