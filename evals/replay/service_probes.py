"""Probes of service runs: entities, payments, dates, amounts, and what was written."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from memory import ToolCall, dumps, loads

from .trajectory import Message, values_of

_READING = re.compile(
    r"^(get|list|search|find|calculate|think|check|view|read|open|run|bash|shell)", re.I
)
_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}")
_AMOUNT = re.compile(r"amount|price|total|cost|balance", re.I)
_EDITORS = frozenset(
    {
        "str_replace_editor",
        "execute_bash",
        "edit",
        "submit",
        "finish",
        "create",
        "insert",
        "scroll_down",
        "scroll_up",
        "goto",
        "transfer_to_human_agents",
    }
)
_P = TypeVar("_P")
Make = Callable[[str, str, tuple[str, ...]], _P]


def service_probes(messages: Sequence[Message], make: "Make[_P]") -> Iterable[_P]:
    """Probes about the JSON objects that tools returned and about the writing calls.

    Runs whose tools return no JSON object give none.
    """
    objects = list(_objects(messages))
    if not objects:
        return
    for tool, key, value in objects:
        kind = _kind(key, value)
        if kind:
            question = f"What is the first {_words(key)} that {_words(tool)} returned?"
            yield make(kind, question, (_text(value),))
    yield from _writes(messages, make)


def _writes(messages: Sequence[Message], make: "Make[_P]") -> Iterable[_P]:
    writes = [call for m in messages for call in m.calls if _writing(call)]
    if not writes:
        return
    for key, value in _leaves("", values_of(writes[-1])):
        yield make(
            "argument of the last write",
            f"What {_words(key)} did the last call that changes data, {_words(writes[-1].name)}, have?",
            (_text(value),),
        )
    names = tuple(dict.fromkeys(call.name for call in writes))
    yield make("list of writes", "Which calls that change data were made?", names)


def _writing(call: ToolCall) -> bool:
    return not _READING.match(call.name) and call.name not in _EDITORS


def _objects(messages: Sequence[Message]) -> Iterable[tuple[str, str, Any]]:
    for message in messages:
        for result in message.results:
            try:
                data = loads(message.text)
            except ValueError:
                continue
            if isinstance(data, dict | list):
                for key, value in _leaves("", data):
                    yield result.name, key, value


def _leaves(key: str, value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(str(name), part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(key, part)
    elif value is not None and not isinstance(value, bool):
        yield key, value


def _kind(key: str, value: Any) -> str:
    text = _text(value)
    if "payment" in key.lower():
        return "payment id" if isinstance(value, str) and any(c.isdigit() for c in text) else ""
    if _DATE.match(text):
        return "date"
    if _AMOUNT.search(key) and isinstance(value, int | float):
        return "amount"
    named = key.lower().endswith(("_id", "number")) or key.lower() == "id"
    return "entity id" if named and isinstance(value, str) else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value).decode()


def _words(name: str) -> str:
    return name.replace("_", " ")
