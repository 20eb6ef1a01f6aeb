"""Looking back: a thread's whole log as windows, hits and text, whether or not a compaction hid it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

from .blocks import ToolCall
from .events import ContextCompacted, Entry, MessageAdded, ReplyReceived, ToolReturned
from .tokens import Counter
from .transcripts import transcript_text

Told = MessageAdded | ReplyReceived | ToolReturned | ContextCompacted
"""The kinds that say something; the others are bookkeeping."""


@dataclass(frozen=True, slots=True)
class Window:
    """What happened between two compactions."""

    first: int
    """Position of its first event in the log."""
    last: int
    turns: int
    """Replies of the model in it."""
    hidden: int
    """How many of its events that say something are hidden from the model now."""


@dataclass(frozen=True, slots=True)
class Found:
    """An event that holds what was looked for."""

    seq: int
    text: str
    """The words around the first place, on one line."""


def windows_of(entries: Sequence[Entry]) -> list[Window]:
    """The windows of one thread, oldest first; the last one is still open."""
    hidden = {
        seq for e in entries if isinstance(e.event, ContextCompacted) for seq in e.event.hidden
    }
    groups: list[list[Entry]] = [[]]
    for entry in entries:
        if isinstance(entry.event, ContextCompacted) and groups[-1]:
            groups.append([])
        groups[-1].append(entry)
    return [
        Window(
            group[0].seq,
            group[-1].seq,
            sum(isinstance(entry.event, ReplyReceived) for entry in group),
            sum(entry.seq in hidden for entry in group),
        )
        for group in groups
        if group
    ]


def search_events(
    entries: Sequence[Entry],
    query: str,
    *,
    without: frozenset[str] = frozenset(),
    around: int = 160,
) -> Iterator[Found]:
    """Events whose text holds `query` literally (without regard to case), oldest first.

    When there is none: those that hold all of its words. What only repeats older events is passed over: the
    texts of compactions, and calls and results of the tools named in `without`. `around` is in characters,
    each side.
    """
    # Composed and decomposed letters look alike to whoever asks.
    query = normalize("NFC", query)
    texts = [(entry.seq, normalize("NFC", _said(entry, without))) for entry in entries]
    found = list(_holding(texts, [query], around)) if query.strip() else []
    return iter(found or _holding(texts, query.split(), around))


def read_events(entries: Sequence[Entry], first: int, last: int) -> str:
    """The transcript of the events from position `first` to `last`, `""` when there is none."""
    chosen = (e for e in entries if first <= e.seq <= last and isinstance(e.event, Told))
    return transcript_text(chosen)


def cut_to_tokens(text: str, start: int, limit: int, counter: Counter) -> int:
    """Where a part of `text` from `start` has to end to be at most `limit` tokens; at least one further."""
    end = min(len(text), start + 6 * limit)
    while end > start + 1:
        tokens = counter.count(text[start:end])
        if tokens <= limit:
            break
        end = start + max(1, int((end - start) * limit / tokens * 0.95))
    return end


def _said(entry: Entry, without: frozenset[str]) -> str:
    event = entry.event
    if not isinstance(event, Told) or isinstance(event, ContextCompacted):
        return ""
    if isinstance(event, ToolReturned) and event.name in without:
        return ""
    if isinstance(event, ReplyReceived):
        kept = [b for b in event.content if not (isinstance(b, ToolCall) and b.name in without)]
        entry = replace(entry, event=replace(event, content=tuple(kept)))
    return transcript_text([entry]).partition("\n")[2]


def _holding(
    texts: Sequence[tuple[int, str]], words: Sequence[str], around: int
) -> Iterator[Found]:
    patterns = [re.compile(re.escape(word), re.IGNORECASE) for word in words]
    for seq, text in texts:
        places = [pattern.search(text) for pattern in patterns]
        first = places[0] if places else None
        if first is not None and all(places):
            start, end = max(0, first.start() - around), first.end() + around
            yield Found(seq, " ".join(text[start:end].split()))
