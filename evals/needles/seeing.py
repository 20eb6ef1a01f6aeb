"""What a scripted policy sees: a parsed request as question, facts and looks back."""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from memory import frame_of, is_tail

LOOKING = frozenset({"history_search", "history_read", "grep", "read_file"})
"""Tools that look back."""
_QUOTED = re.compile(r'"([^"\n]{2,80})"|「([^」\n]{2,80})」')
_HITS = re.compile(r"^event (\d+): (.*)$", re.MULTILINE)
_GREP = re.compile(r"^(/\S+?):\d+(?: \(start_char=(\d+)\))?: (.*)$")
_EVENT = re.compile(r"^=== (\d+) [^\n]*\n", re.MULTILINE)
_READ = re.compile(r"history_read\(first=(\d+)\)")
_HIDDEN = re.compile(r"\[result hidden: ")


@dataclass(frozen=True, slots=True)
class Look:
    """One look back, and what it gave."""

    tool: str
    arguments: str
    """JSON with sorted keys."""
    result: str

    @property
    def hidden(self) -> bool:
        """True when a compaction has put a line in the result's place."""
        return bool(_HIDDEN.match(self.result))

    @property
    def hits(self) -> list[tuple[int, str]]:
        """Events that a search of the history listed, with their excerpts."""
        return [(int(number), text) for number, text in _HITS.findall(self.result)]

    @property
    def cut_hits(self) -> list[tuple[str, int]]:
        """Path and character of each hit in a line too long to be shown whole."""
        found = (_GREP.match(line) for line in self.result.splitlines())
        return [(m[1], int(m[2])) for m in found if m and m[2]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A line that says what something is."""

    event: int
    """Position of the event that is known to say it, 0 where that is not shown."""
    head: str
    """What stands before the colon."""
    value: str

    def __str__(self) -> str:
        """The line with its event, as a policy writes it down to find it again."""
        return f"=== {self.event} noted\n{self.head}: {self.value}"


def quoted(text: str) -> list[str]:
    """What a text quotes, composed."""
    return [unicodedata.normalize("NFC", one or other) for one, other in _QUOTED.findall(text)]


def text_of(message: dict[str, Any]) -> str:
    """The text of a message."""
    content = message.get("content")
    if isinstance(content, list):
        parts = cast(list[dict[str, Any]], content)
        return "\n".join(str(part.get("text", "")) for part in parts)
    return str(content or "")


class Seen:
    """A request, read once."""

    def __init__(self, body: dict[str, Any]) -> None:
        messages = cast(list[dict[str, Any]], body["messages"])
        self.messages = [m for m in messages if not is_tail(text_of(m))]
        """Without the tail."""
        tools = cast(list[dict[str, Any]], body.get("tools") or [])
        self.tools = {str(tool["function"]["name"]) for tool in tools}

    @cached_property
    def asked_at(self) -> int:
        """Place of the newest message of the user that quotes something, -1 for none."""
        places = (
            n for n, m in enumerate(self.messages) if m["role"] == "user" and _asks(text_of(m))
        )
        return max(places, default=-1)

    @property
    def question(self) -> str:
        """The newest question, `""` for none."""
        return text_of(self.messages[self.asked_at]) if self.asked_at >= 0 else ""

    @cached_property
    def calls(self) -> list[tuple[int, str, str, str]]:
        """Place, id, tool and arguments of every call."""
        return [
            (place, str(c["id"]), str(c["function"]["name"]), str(c["function"]["arguments"]))
            for place, message in enumerate(self.messages)
            for c in cast(list[dict[str, Any]], message.get("tool_calls") or [])
        ]

    @cached_property
    def results(self) -> dict[str, str]:
        """The result of each call, by its id."""
        return {str(m["tool_call_id"]): text_of(m) for m in self.messages if m["role"] == "tool"}

    @cached_property
    def looks(self) -> list[Look]:
        """The looks back since the question."""
        return [
            Look(tool, _sorted(arguments), self.results.get(name, ""))
            for place, name, tool, arguments in self.calls
            if place > self.asked_at and tool in LOOKING
        ]

    @cached_property
    def read_before(self) -> set[str]:
        """The events that were read since the question, by what stands for hidden calls."""
        texts = (text_of(m) for m in self.messages[self.asked_at + 1 :])
        return {event for text in texts if frame_of(text) for event in _READ.findall(text)}

    @cached_property
    def newest(self) -> list[str]:
        """The results of the newest reply that called something."""
        if not self.calls:
            return []
        last = self.calls[-1][0]
        return [self.results.get(name, "") for place, name, _, _ in self.calls if place == last]

    @cached_property
    def facts(self) -> list[Fact]:
        """Every line with a colon that is shown whole, oldest first."""
        found: dict[Fact, None] = {}
        for message in self.messages:
            if message["role"] != "system":
                for text in (text_of(message), *_arguments(message)):
                    found |= dict.fromkeys(_facts(text))
        return sorted(found, key=lambda fact: fact.event)


def _asks(text: str) -> bool:
    return bool(quoted(text)) and not frame_of(text)


def _facts(text: str) -> Iterator[Fact]:
    if _HITS.match(text):
        return  # excerpts are cut off, and so may be the values in them
    parts = _EVENT.split(text)
    for event, part in ((0, parts[0]), *zip(map(int, parts[1::2]), parts[2::2], strict=True)):
        for line in _lines(part):
            head, colon, value = line.replace("：", ": ", 1).partition(": ")
            if colon and value.strip():
                yield Fact(event, head, value.strip())


def _lines(text: str) -> Iterator[str]:
    """The lines that are shown whole; those inside the arguments of a call, which are JSON, as well."""
    lines = unicodedata.normalize("NFC", text).splitlines()
    goes_on = bool(lines) and lines[-1].startswith("[goes on: ")
    shown = [part for line in lines[: len(lines) - goes_on] for part in _parts(line)]
    yield from shown[:-1] if goes_on else shown


def _parts(line: str) -> list[str]:
    hit = _GREP.match(line)
    if hit and hit[2]:
        return hit[3].split("\\n")[1:-1]  # around a match in a long line: both ends may be cut
    if hit:
        return [hit[3]]
    whole = _loaded(line.partition("] ")[2]) if line.startswith("[call ") else {}
    if whole:
        return [part for value in whole.values() for part in str(value).splitlines()]
    return line.split("\\n")


def _arguments(message: dict[str, Any]) -> Iterator[str]:
    """The texts in the arguments of a message's calls, but for those that look back."""
    for made in cast(list[dict[str, Any]], message.get("tool_calls") or []):
        if made["function"]["name"] not in LOOKING:
            data = _loaded(str(made["function"]["arguments"]))
            yield from (str(value) for value in data.values())


def _loaded(arguments: str) -> dict[str, Any]:
    try:
        data: Any = json.loads(arguments)
    except ValueError:
        return {}
    return cast(dict[str, Any], data) if isinstance(data, dict) else {}


def _sorted(arguments: str) -> str:
    return json.dumps(_loaded(arguments), sort_keys=True, ensure_ascii=False)
