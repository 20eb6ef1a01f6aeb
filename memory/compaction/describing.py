"""One line for what is hidden, made by code: which call, pass or fail, counts, identifiers, where it is."""

import re
from collections.abc import Iterator
from typing import Any, cast

from ..blocks import ToolCall, plain_text
from ..encoding import loads
from ..events import ReplyReceived, ToolReturned
from ..frames import escaped
from .values import values_in
from .view import Group, results_of

OUTCOME = re.compile(
    r"\b(?:\d+ (?:tests? )?(?:passed|failed|errors?|skipped|warnings?)|Ran \d+ tests?|passed|failed|FAILED|OK"
    r"|exit (?:code|status)[: ]+-?\d+|return ?code[: ]+-?\d+|[Tt]raceback|[A-Z]\w*(?:Error|Exception))\b"
    r"[^\n]{0,80}"
)
IDENTIFIER = re.compile(
    r"https?://[^\s\"'<>)\]]{4,200}"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
    r"|\b[0-9a-f]{40}\b|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"
    r"|(?<![\w.])(?:[\w.-]+/)+[\w.-]+\.\w{1,8}\b|\b[A-Z]{2,8}-\d{2,10}(?:[-_][A-Za-z0-9]+)*\b"
    r"|\b[A-Z0-9]{4,}(?:[-_][A-Z0-9]{2,}){2,}\b",
)
_FAILED = re.compile(
    r"\b(?:FAILED|failed|[Tt]raceback|[A-Z]\w*Error|exit (?:code|status)[: ]+[1-9])"
)


def one_line(text: str, most: int) -> str:
    """Text from elsewhere as one line of at most `most` characters, whole words at the end."""
    words = escaped(" ".join(text.split()))
    if len(words) <= most:
        return words
    return words[:most].rsplit(" ", 1)[0] + " ..."


def outcome_of(event: ToolReturned, text: str) -> str:
    """Pass or fail, with the counts that the text gives."""
    state = f"error {event.kind}".rstrip() if event.is_error else "ok"
    found = list(dict.fromkeys(match.group().strip() for match in OUTCOME.finditer(text)))
    if not event.is_error and found and _FAILED.search(text):
        state = "reports a failure"
    told = [found[0], *found[-2:]] if len(found) > 3 else found
    return "; ".join([state, *(one_line(each, 100) for each in told)])


def identifiers_in(text: str, most: int) -> list[str]:
    """Identifiers of a text verbatim, each once: addresses, hashes, UUIDs, paths, ticket numbers."""
    return list(dict.fromkeys(match.group() for match in IDENTIFIER.finditer(text)))[:most]


def result_line(event: ToolReturned, seq: int, identifiers: int = 6, room: int = 0) -> str:
    """What stands for a tool result; `room`: characters for the values of a structured one."""
    text = plain_text(event.content)
    size = f"{len(text):,} characters, {text.count(chr(10)) + 1:,} lines"
    parts = [f"result hidden: {outcome_of(event, text)}", size]
    if values := values_in(text, room) if room else "":
        parts.append(f"has {values}")
    elif names := identifiers_in(text, identifiers):
        parts.append("names " + ", ".join(one_line(name, 120) for name in names))
    if event.is_error:
        parts.append("ends: " + one_line(text[-200:], 200))
    return f"[{'; '.join(parts)}; whole in event {seq}]"


def call_words(call: ToolCall, most: int = 160) -> str:
    """A call as `name(key=value, ...)`, long values cut."""
    try:
        data: Any = loads(call.arguments or "{}")
    except ValueError:
        return f"{one_line(call.name, 60)}({one_line(call.arguments, most)})"
    if not isinstance(data, dict):
        return f"{one_line(call.name, 60)}({one_line(call.arguments, most)})"
    values = {key: str(value) for key, value in cast(dict[str, Any], data).items()}
    each = _fair_share([len(value) for value in values.values()], most)
    shown = ", ".join(
        f"{one_line(key, 40)}={one_line(value, each)}" for key, value in values.items()
    )
    return f"{one_line(call.name, 60)}({shown})"


def _fair_share(sizes: list[int], room: int) -> int:
    """The most that one may have, so that all fit into `room` together: short ones leave theirs to the
    long ones, 30 at least."""
    share = room
    for place, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - place)
        if size > share:
            break
        room -= size
    return max(30, share)


def calls_of(group: Group) -> list[ToolCall]:
    """The calls of a step's reply."""
    event = group.items[0].event
    if not isinstance(event, ReplyReceived):
        return []
    return [block for block in event.content if isinstance(block, ToolCall)]


def step_lines(group: Group, call: int = 160, said: int = 200, room: int = 0) -> Iterator[str]:
    """A step as lines: what was called, what came of it, what was said.

    `call`, `said` and `room` are the most characters of arguments, of words, and of the values of a
    structured result; with `said` 0 the words beside a call are left out.
    """
    seq = group.items[0].seq
    event = group.items[0].event
    results = {event.call_id: (item.seq, event) for item, event in results_of(group)}
    calls, words = calls_of(group), plain_text(event.content)
    for each in calls:
        where, result = results.get(each.id, (seq, None))
        came = _came(result, room) if result else "no result"
        yield f"- event {where}: {call_words(each, call)} -> {came}"
    if isinstance(event, ReplyReceived) and words.strip() and (said or not calls):
        yield f"- event {seq}: said: {one_line(words, said or 80)}"
    elif not calls:
        yield f"- event {seq}: {one_line(words, 160)}"


def _came(result: ToolReturned, room: int) -> str:
    text = plain_text(result.content)
    values = values_in(text, room) if room else ""
    return outcome_of(result, text) + (f"; has {values}" if values else "")


def spans_of(groups: list[Group], all_groups: tuple[Group, ...]) -> list[list[Group]]:
    """Groups in runs of neighbours: what is kept between two runs keeps its place."""
    wanted = {id(group) for group in groups}
    runs: list[list[Group]] = []
    before = False
    for group in all_groups:
        if id(group) in wanted:
            if not before:
                runs.append([])
            runs[-1].append(group)
        before = id(group) in wanted
    return runs


def seqs_of(groups: list[Group]) -> tuple[int, ...]:
    """Positions of all events of some groups, ascending."""
    return tuple(sorted({seq for group in groups for seq in group.seqs}))
