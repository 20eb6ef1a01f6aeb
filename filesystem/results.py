"""What the operations of a `Workspace` return: a text for the model, and the same as values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from .reading import Excerpt
from .searching import Hit
from .stores import Entry, FileStat
from .text import count_lines


@dataclass(frozen=True, slots=True)
class Listing:
    """Files and folders, from `ls` or `glob`."""

    text: str
    """What the model reads, within the cap."""
    entries: tuple[Entry, ...]
    """The entries shown, with paths such as "/files/a.md"."""
    total: int
    """Entries there are in all."""
    next_start: int | None
    """The `start` that shows the following entries; None at the end."""


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a file, from `read_file`."""

    text: str
    """What the model reads, within the cap: a line about the part, the part, how to read on."""
    content: str
    """The characters themselves, exact unless `is_text` is False."""
    path: str
    """The file, such as "/files/a.md"."""
    start_line: int
    """Line in which `content` begins, base 1."""
    start_char: int
    """Characters of the file before `content`."""
    lines: int
    """Lines of the whole file."""
    chars: int
    """Characters of the whole file."""
    sha256: str
    """Hash of the whole file, for `if_hash`."""
    is_text: bool
    """False when bytes that are no UTF-8 are shown as U+FFFD."""
    next_call: str | None
    """The call that reads on; None at the end."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file that was written, edited or deleted."""

    text: str
    """What the model reads."""
    path: str
    """The file, such as "/files/a.md"."""
    stat: FileStat | None
    """Its new state; None when it was deleted."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Lines found by `grep`."""

    text: str
    """What the model reads, within the cap."""
    hits: tuple[Hit, ...]
    """The hits shown, with paths such as "/files/a.md"."""
    files: int
    """Files searched."""
    next_start: int | None
    """The `start` that shows the following hits; None at the end."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Items that fit on one page."""

    text: str
    """The items, one after another, each with a line feed."""
    count: int
    """How many items `text` holds."""


def fit(items: list[str], room: int) -> Shown:
    """Join as many of `items` as fit into `room` characters; the first one is cut to fit."""
    kept: list[str] = []
    for item in items:
        if len(item) + 1 > room:
            if not kept:
                mark = " ... (cut)"
                kept.append(item[: max(room - len(mark) - 1, 0)] + mark + "\n")
            break
        kept.append(item + "\n")
        room -= len(item) + 1
    return Shown("".join(kept), len(kept))


def call_text(tool: str, **arguments: object) -> str:
    """Return a call as text that a model can copy: `read_file(path="/files/a.md", start_line=3)`."""
    shown = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items()
    )
    return f"{tool}({shown})"


def hit_text(hit: Hit) -> str:
    """Return a hit with its context, in the form that grep made common."""
    path = hit.path
    first = hit.line - len(hit.before)
    lines = [f"{path}-{first + n}- {line}" for n, line in enumerate(hit.before)]
    if hit.is_whole:
        lines.append(f"{path}:{hit.line}: {hit.text}")
    else:
        lines.append(f"{path}:{hit.line} (start_char={hit.char}): ...{hit.text}...")
    lines += [f"{path}-{hit.line + 1 + n}- {line}" for n, line in enumerate(hit.after)]
    return "\n".join(lines) + ("\n--" if hit.before or hit.after else "")


def go_on(what: str, call: str) -> str:
    """Return the line that tells how to go on; a call too long to repeat is only described."""
    shown = call if len(call) <= 1_500 else f"the same call with{call[call.rfind(',') + 1 : -1]}"
    return f"[{what}: {shown}]\n"


def clip(text: str) -> str:
    """Return `text`, its middle left out when it is over 200 characters."""
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"


def listing_of(
    about: str, call: str, entries: list[Entry], start: int, room: int, notes: Mapping[str, str]
) -> Listing:
    """Render the entries from `start` on; `call` is the call that made the listing."""
    shown = fit([_entry_text(entry, notes) for entry in entries[start:]], room)
    following = start + shown.count
    more = following < len(entries)
    text = f"[{about}]\n{shown.text}"
    if more:
        text += go_on(f"{len(entries) - following:,} more", f"{call[:-1]}, start={following})")
    return Listing(text, tuple(entries[start:following]), len(entries), following if more else None)


def _entry_text(entry: Entry, notes: Mapping[str, str]) -> str:
    size = "/" if entry.size is None else f"  {entry.size:,} bytes"
    note = notes.get(entry.path)
    return f"{entry.path}{size}{f'  ({note})' if note else ''}"


def page_of(path: str, found: Excerpt, *, by_char: bool) -> Page:
    """Render an excerpt of `path`."""
    call = None
    if found.end_char < found.chars:
        line = None if by_char else found.next_line
        where = {"start_char": found.end_char} if line is None else {"start_line": line}
        call = call_text("read_file", path=path, **where)
    last = found.start_line + max(count_lines(found.content) - 1, 0)
    about = (
        f"[{clip(path)}: lines {found.start_line}-{last} of {found.lines:,}, characters "
        f"{found.start_char}-{found.end_char} of {found.chars:,}]\n"
    )
    if not found.chars:
        about = f"[{clip(path)}: empty]\n"
    if not found.is_text:
        about += "[not UTF-8 text: bad bytes are shown as \ufffd]\n"
    text = about + found.content
    if call:
        text += ("" if text.endswith("\n") else "\n") + go_on("goes on", call)
    return Page(
        text=text,
        content=found.content,
        path=path,
        start_line=found.start_line,
        start_char=found.start_char,
        lines=found.lines,
        chars=found.chars,
        sha256=found.sha256,
        is_text=found.is_text,
        next_call=call,
    )
