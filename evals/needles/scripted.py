"""Scripted policies: pure functions of the serialised request, which know nothing of the sample.

They are ceilings and floors of the plumbing: a reader answers from what it sees, a searcher looks back up
to k times before it gives up.
"""

import re
import unicodedata
from collections.abc import Callable
from typing import Any, cast

from agents import call
from memory import is_tail

from .wording import NOT_FOUND

Script = Callable[[dict[str, Any]], Any]
_QUOTED = re.compile(r'"([^"\n]{2,80})"|「([^」\n]{2,80})」')
_NEXT = re.compile(r"\[next: page (\d+)\]")
_EVENT = re.compile(r"^event (\d+): (.*)$", re.MULTILINE)
_LOOKING = frozenset({"history_search", "history_read"})


def reader(body: dict[str, Any]) -> Any:
    """Reads every page, and answers from what the request shows, or that nothing was found."""
    return searcher(0)(body)


def searcher(looks: int) -> Script:
    """A reader that, before it gives up, looks back in at most `looks` calls: one search, then it reads the
    hits, newest first, until one says what was asked."""

    def script(body: dict[str, Any]) -> Any:
        messages = [m for m in body["messages"] if not is_tail(_text(m))]
        last = messages[-1]
        if last["role"] == "tool":
            done = _after_result(messages)
            if done is not None:
                return done
        question = next((m for m in reversed(messages) if m["role"] == "user"), last)
        wanted = _wanted(_text(question))
        if not wanted:
            return call("read_page", number=1)
        asked_at = messages.index(question)
        return _answer(messages, wanted, asked_at, looks)

    return script


def _after_result(messages: list[dict[str, Any]]) -> Any:
    """What follows a page or a recorded answer; `None` when the last result is of a look back."""
    text = _text(messages[-1])
    if _last_called(messages) in _LOOKING:
        return None
    if found := _NEXT.search(text):
        return call("read_page", number=int(found.group(1)))
    if "[last page]" in text:
        return "ready"
    return "done" if text.startswith("recorded") else None


def _answer(messages: list[dict[str, Any]], wanted: list[str], asked_at: int, looks: int) -> Any:
    after = messages[asked_at:]
    looked = _looked(after)
    found = _value([m for m in messages if not _is_list_of_hits(m)], wanted)
    if found is None and not looked and looks:
        return call("history_search", query=" ".join(wanted))
    if found is None and 0 < len(looked) < looks:
        listed = next((_text(m) for m in after if m["role"] == "tool"), "")
        # The first reading takes the newest hit; each further one the next older.
        unread = _hits(listed, wanted)[::-1][len(looked) - 1 :]
        if unread:
            return call("history_read", first=int(unread[0]))
    return call("answer", value=NOT_FOUND if found is None else found)


def _is_list_of_hits(message: dict[str, Any]) -> bool:
    """Excerpts are cut off, and so may be the values in them."""
    return message["role"] == "tool" and bool(_EVENT.match(_text(message)))


def _value(messages: list[dict[str, Any]], wanted: list[str]) -> str | None:
    """What follows the colon on the newest line that holds all that is wanted."""
    found = None
    for message in messages:
        if message["role"] == "system" or "tool_calls" in message:
            continue
        for line in unicodedata.normalize("NFC", _text(message)).splitlines():
            head, colon, value = line.replace("：", ": ", 1).partition(": ")
            if colon and all(word in head for word in wanted):
                found = value.strip()
    return found


def _hits(text: str, wanted: list[str]) -> list[str]:
    """Numbers of the events that a search found, without the question itself, which quotes its words."""
    quoted = [form.format(word) for word in wanted for form in ('"{}"', "「{}」")]
    return [n for n, line in _EVENT.findall(text) if not any(words in line for words in quoted)]


def _last_called(messages: list[dict[str, Any]]) -> str:
    """Name of the newest call."""
    calls = [c for m in messages for c in cast(list[dict[str, Any]], m.get("tool_calls") or [])]
    return str(calls[-1]["function"]["name"]) if calls else ""


def _wanted(question: str) -> list[str]:
    return [unicodedata.normalize("NFC", one or other) for one, other in _QUOTED.findall(question)]


def _looked(messages: list[dict[str, Any]]) -> list[str]:
    calls = [c for m in messages for c in cast(list[dict[str, Any]], m.get("tool_calls") or [])]
    return [name for c in calls if (name := c["function"]["name"]) in _LOOKING]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = cast(list[dict[str, Any]], content)
        return "\n".join(str(part.get("text", "")) for part in parts)
    return str(content or "")
