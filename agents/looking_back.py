"""Tools to keep notes and to look back at what a compaction hid.

Notes are events and survive every window. The history tools read the agent's own thread in the log, all of
it, and nothing else. Results are at most 10,000 tokens, say how to read on, and are never offloaded.
"""

from collections.abc import Sequence
from typing import Literal

from memory import (
    Entry,
    EventLog,
    NoteWritten,
    Thread,
    cut_to_tokens,
    one_line,
    read_events,
    search_events,
    windows_of,
)

from .errors import ToolError
from .tools import Tool, tool

RESULT_TOKENS = 10_000
"""Most tokens of one result, its last line included."""
_LAST_LINE = 100
MAX_NOTES = 100
MAX_NOTE = 40_000
"""Characters of one note."""
LOOKBACK = frozenset({"note", "history_windows", "history_search", "history_read"})
"""Names of these tools."""


def lookback_tools(thread: Thread) -> tuple[Tool, ...]:
    """`note`, `history_windows`, `history_search` and `history_read` for the agent of this thread."""
    return (note_tool(thread), *history_tools(thread))


def note_tool(thread: Thread) -> Tool:
    """The tool `note`."""

    async def note(
        action: Literal["append", "overwrite", "list", "read", "search"],
        name: str = "",
        text: str = "",
        start: int = 0,
    ) -> str:
        """Keep what must survive when older messages are hidden: decisions, exact values, what failed.

        append and overwrite take a name and a text; read takes a name; search takes a text.
        """
        name = one_line(name)
        match action:
            case "append":
                before = thread.notes.get(name, "")
                return _write(thread, name, f"{before}\n{text}" if before else text)
            case "overwrite":
                return _write(thread, name, text)
            case "list":
                return _listed(thread.notes)
            case "read":
                if name not in thread.notes:
                    raise ToolError(f"There is no note {name!r}. {_listed(thread.notes)}")
                call = f"note(action='read', name={name!r}"
                return _part(thread, thread.notes[name], start, call)
            case "search":
                return _part(
                    thread,
                    _search_notes(thread.notes, text),
                    start,
                    f"note(action='search', text={text!r}",
                )

    return tool(note, repeatable=False, exempt=True)


def history_tools(thread: Thread) -> tuple[Tool, ...]:
    """The tools `history_windows`, `history_search` and `history_read`."""

    async def history_windows() -> str:
        """List the parts of this conversation, from one compaction to the next, hidden ones included."""
        windows = windows_of(await _entries(thread.log, thread.name))
        lines = (
            f"window {number}: events {w.first}-{w.last}, {w.turns} replies, {w.hidden} events hidden"
            for number, w in enumerate(windows, 1)
        )
        return "\n".join(lines)

    async def history_search(query: str, start: int = 0) -> str:
        """Find events of this conversation by their words, hidden ones included. The words are taken
        literally; when nothing holds them together, events that hold all of them are listed."""
        if not query.strip():
            raise ToolError("Give the words to look for in `query`.")
        entries = await _entries(thread.log, thread.name)
        lines = [
            f"event {f.seq}: {f.text}" for f in search_events(entries, query, without=LOOKBACK)
        ]
        if not lines:
            return f"No event holds {query!r}. Try one rare word, a name or a number."
        return _part(thread, "\n".join(lines), start, f"history_search(query={query!r}")

    async def history_read(first: int, last: int | None = None, start: int = 0) -> str:
        """Read events of this conversation whole, by number, as history_search and history_windows give
        them. `start` is a position in characters, to read on."""
        last = first if last is None else last
        entries = await _entries(thread.log, thread.name)
        text = read_events(entries, first, last)
        if not text:
            there = f"events {entries[0].seq} to {entries[-1].seq}"
            raise ToolError(f"Nothing was said in events {first} to {last}; there are {there}.")
        return _part(thread, text, start, f"history_read(first={first}, last={last}")

    functions = (history_windows, history_search, history_read)
    return tuple(tool(function, repeatable=True, exempt=True) for function in functions)


async def _entries(log: EventLog, thread: str) -> Sequence[Entry]:
    return await log.read(thread)


def _write(thread: Thread, name: str, text: str) -> str:
    if not name or len(name) > 100:
        raise ToolError("A note needs a name of at most 100 characters.")
    if len(text) > MAX_NOTE:
        raise ToolError(
            f"The note {name!r} would have {len(text):,} characters; at most {MAX_NOTE:,} fit. Overwrite it "
            "with what matters, or begin another."
        )
    if text and name not in thread.notes and len(thread.notes) >= MAX_NOTES:
        raise ToolError(f"There are {MAX_NOTES} notes; overwrite one, or empty one to remove it.")
    thread.append(NoteWritten(name, text))
    return f"Noted: {name!r}, {len(text):,} characters." if text else f"Removed the note {name!r}."


def _listed(notes: dict[str, str]) -> str:
    if not notes:
        return "There are no notes yet."
    return "Notes:\n" + "\n".join(
        f"- {name}: {len(text):,} characters" for name, text in notes.items()
    )


def _search_notes(notes: dict[str, str], text: str) -> str:
    if not text.strip():
        raise ToolError("Give the words to look for in `text`.")
    wanted = text.casefold()
    lines = [
        f"{name}, line {number}: {line}"
        for name, body in notes.items()
        for number, line in enumerate(body.splitlines(), 1)
        if wanted in line.casefold()
    ]
    return "\n".join(lines) or f"No note holds {text!r}."


def _part(thread: Thread, text: str, start: int, call: str) -> str:
    """At most 10,000 tokens of a text from `start`, and the call that reads on."""
    if not 0 <= start < max(1, len(text)):
        raise ToolError(f"`start` must be from 0 to {len(text) - 1:,}, the text's last character.")
    end = cut_to_tokens(text, start, RESULT_TOKENS - _LAST_LINE, thread.counter)
    if end == len(text):
        return text[start:]
    where = f"characters {start:,} to {end:,} of {len(text):,}"
    return f"{text[start:end]}\n[{where}; go on: {call}, start={end})]"
