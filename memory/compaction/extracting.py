"""A summary record made by code alone: from calls, results and words of the events themselves."""

import re
from collections.abc import Iterator, Sequence

from ..blocks import ToolCall, plain_text
from ..codec import Item
from ..constraints import find_constraints
from ..events import MessageAdded, ReplyReceived, ToolReturned
from ..summary import FROM_MODEL, MOST_LINES, Line, Record, Source
from .describing import IDENTIFIER, OUTCOME, call_words, identifiers_in, one_line, outcome_of
from .values import values_in

_DECIDED = re.compile(
    r"\b(?:decid|chose|choose|will use|going with|instead of|because|rather than|settled|agreed|root cause"
    r"|the fix|entschied|weil|porque|parce que)\w*|决定|因为|ので|하기로",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"\b(?:next|then I|remaining|todo|still have to|now I|let me|I will|I'll)\b", re.I
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_PATH_KEYS = re.compile(
    r'"(?:path|file|file_path|filename|file_name|target|paths?)"\s*:\s*"([^"\n]{1,300})"'
)
_PATH = re.compile(
    r"(?<![\w.])/?(?:[\w.@-]+/)+[\w.@-]+\.\w{1,8}\b|\b[\w-]+\.(?:py|js|ts|md|json|toml|yaml|yml|txt|c|h|go|rs|java|rb|cfg|ini|rst|html|css|sql|sh)\b"
)
_CREATES = re.compile(
    r"create|new_file|write|cat\s*<<|cat\s*>|touch|>\s*[\w./-]+\.\w+|open\([^)]*['\"]w", re.I
)
_CHANGES = re.compile(r"edit|replace|insert|patch|sed -i|append|update|delete|rm |mv |apply", re.I)
_CHECKS = re.compile(
    r"\d+ (?:passed|failed|tests?|errors?)|\bOK\b|exit (?:code|status)|returncode", re.I
)
VALUES_ROOM = 200
"""Characters of a structured result's values."""
MOST_FAILED, MOST_DECISIONS, MOST_IDENTIFIERS, MOST_FILES = 12, 14, 40, 40


def extracted(items: Sequence[Item]) -> Record:
    """The record of some items, newest things last. Never raises, whatever the items hold."""
    first = next((item for item in items if _is_user(item)), None)
    return Record(
        intent=(_intent(first),) if first else (),
        constraints=tuple(_constraints(items)),
        decisions=tuple(_said(items, _DECIDED))[-MOST_DECISIONS:],
        artifacts=tuple(_artifacts(items))[-MOST_FILES:],
        identifiers=tuple(_identifiers(items))[-MOST_IDENTIFIERS:],
        verification=tuple(_verification(items)),
        failed=tuple(_failed(items))[-MOST_FAILED:],
        questions=tuple(_said(items, re.compile(r"\?$")))[-4:],
        next_steps=tuple(_said(items[-3:], _NEXT))[-3:],
    )


def borne_out(record: Record, items: Sequence[Item]) -> Record:
    """A model's record with what the items bear out: each line gets the events that hold its words and
    whose words those are; a line with an identifier that no item holds, or with too few words of any,
    is left out."""
    texts = [(item, _words(_text(item)), _text(item)) for item in items]
    made: dict[str, tuple[Line, ...]] = {}
    for name in FROM_MODEL:
        lines = (_supported(line, texts) for line in getattr(record, name)[:MOST_LINES])
        made[name] = tuple(line for line in lines if line)
    return Record(**made)


def _supported(line: Line, texts: Sequence[tuple[Item, set[str], str]]) -> Line | None:
    if any(not any(name in text for _, _, text in texts) for name in IDENTIFIER.findall(line.text)):
        return None
    wanted = _words(line.text)
    if not wanted:
        return None
    best = max(texts, key=lambda each: len(wanted & each[1]), default=None)
    if best is None or len(wanted & best[1]) < max(1, len(wanted) * 0.34):
        return None
    return Line(one_line(line.text, 400), (best[0].seq,), source_of(best[0]))


def source_of(item: Item) -> Source:
    """Whose words an item holds."""
    match item.event:
        case MessageAdded(origin="user"):
            return "user"
        case ToolReturned():
            return "outside"
        case _:
            return "agent"


def _words(text: str) -> set[str]:
    words = set(re.findall(r"\w{4,}", text.lower()))
    return words | set(re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}", text))


def _text(item: Item) -> str:
    if isinstance(item.event, ReplyReceived):
        calls = [b for b in item.event.content if isinstance(b, ToolCall)]
        return "\n".join(
            [plain_text(item.event.content), *(f"{c.name} {c.arguments}" for c in calls)]
        )
    return plain_text(item.event.content)


def _is_user(item: Item) -> bool:
    return isinstance(item.event, MessageAdded) and item.event.origin == "user"


def _intent(item: Item) -> Line:
    return Line(one_line(_text(item), 400), (item.seq,), "user")


def _constraints(items: Sequence[Item]) -> Iterator[Line]:
    for item in items:
        if _is_user(item):
            for rule in find_constraints(_text(item)):
                yield Line(rule, (item.seq,), "user")


def _said(items: Sequence[Item], pattern: re.Pattern[str]) -> Iterator[Line]:
    for item in items:
        if isinstance(item.event, ReplyReceived):
            for sentence in _SENTENCE.split(plain_text(item.event.content)):
                if len(sentence) > 12 and pattern.search(sentence):
                    yield Line(one_line(sentence, 240), (item.seq,), "agent")


def _calls(items: Sequence[Item]) -> Iterator[tuple[Item, ToolCall]]:
    for item in items:
        if isinstance(item.event, ReplyReceived):
            for block in item.event.content:
                if isinstance(block, ToolCall):
                    yield item, block


def _artifacts(items: Sequence[Item]) -> Iterator[Line]:
    """Files by path, with what was done to each and where; the newest touched last."""
    touched: dict[str, dict[str, list[int]]] = {}
    for item, call in _calls(items):
        words = f"{call.name} {call.arguments[:4000]}"
        made = (
            "created" if _CREATES.search(words) else "changed" if _CHANGES.search(words) else "read"
        )
        paths = _PATH_KEYS.findall(call.arguments) or _PATH.findall(call.arguments[:4000])
        for path in dict.fromkeys(paths[:6]):
            ways = touched.pop(path, {})
            ways.setdefault(made, []).append(item.seq)
            touched[path] = ways
    for path, ways in touched.items():
        said = ", ".join(
            f"{way} {len(seqs)}x" if len(seqs) > 1 else way for way, seqs in ways.items()
        )
        events = tuple(sorted(seq for seqs in ways.values() for seq in seqs))
        yield Line(
            f"{one_line(path, 200)}: {said}",
            events[:1] + events[-2:] if len(events) > 3 else events,
        )


def _identifiers(items: Sequence[Item]) -> Iterator[Line]:
    """Of each item the values of a structured result, or its identifiers that no item before it names."""
    seen: set[str] = set()
    for item in items:
        text = _text(item)
        outside = isinstance(item.event, ToolReturned)
        if words := values_in(text, VALUES_ROOM) if outside else "":
            yield Line(words, (item.seq,), "outside")
            continue
        names = [name for name in identifiers_in(text[:20_000], 12) if name not in seen]
        seen.update(names)
        if names:
            words = ", ".join(one_line(name, 200) for name in names)
            yield Line(words, (item.seq,), source_of(item))


def _verification(items: Sequence[Item]) -> Iterator[Line]:
    """The first check, and the newest of each call."""
    calls = {call.id: call for _, call in _calls(items)}
    found: list[Line] = []
    for item in items:
        event = item.event
        text = plain_text(event.content)
        if isinstance(event, ToolReturned) and _CHECKS.search(text) and OUTCOME.search(text):
            call = calls.get(event.call_id)
            name = call_words(call, 100) if call else event.name
            found.append(Line(f"{name} -> {outcome_of(event, text)}", (item.seq,), "outside"))
    yield from found[:1]
    yield from found[1:][-8:]


def _failed(items: Sequence[Item]) -> Iterator[Line]:
    calls = {call.id: call for _, call in _calls(items)}
    for item in items:
        event = item.event
        if isinstance(event, ToolReturned) and event.is_error:
            call = calls.get(event.call_id)
            name = call_words(call, 100) if call else event.name
            words = one_line(plain_text(event.content)[-240:], 160)
            yield Line(f"{name}: {event.kind or 'error'}: {words}", (item.seq,), "outside")
