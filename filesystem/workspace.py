"""The file operations that stand behind a model's file tools."""

from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import replace

from .advice import advise, in_namespace, similar
from .bodies import ABSENT
from .errors import BadArgument, FileError, FileMissing, NameCollision, NotAFolder
from .paths import clean_path, glob_matches
from .reading import Window, read_window
from .results import (
    Change,
    Listing,
    Matches,
    Page,
    call_text,
    clip,
    fit,
    go_on,
    hit_text,
    listing_of,
    page_of,
)
from .searching import Query
from .stores import Entry
from .text import count_lines
from .views import Folders

ALL_TOOLS = frozenset({"ls", "read_file", "write_file", "edit_file", "glob", "grep", "delete"})
"""The names under which models know the operations."""
_FRAME = 2_000
"""Characters of a result kept for the line about it and the call that goes on."""
_HITS = 1_000
"""Hits that one search collects beyond `start`."""
_NOTES = {
    "/files": "your own files, writable",
    "/inputs": "what you were given, read-only",
    "/artifacts": "stored results, read-only",
    "/transcripts": "what was said and done, read-only",
    "/shared": "writable by all agents: read a file before you overwrite it",
}


class Workspace:
    """One agent's files: every operation returns values and a text of at most `cap` characters.

    Paths are "/files/a.md"; a path without the first slash is inside `/files`. Only a line feed
    ends a line, for every operation alike. Every refusal is a `FileError` whose text says what to
    do next and names only `tools`. In `guarded` folders, by default `/shared`, a file is overwritten
    or deleted only as the agent last read it.
    """

    def __init__(
        self,
        folders: Folders,
        *,
        tools: Collection[str] = ALL_TOOLS,
        cap: int = 40_000,
        guarded: Collection[str] = ("shared",),
    ) -> None:
        if cap < 2 * _FRAME:
            raise ValueError(f"cap {cap!r}: a result needs at least {2 * _FRAME} characters")
        self.folders = folders
        """What the agent sees, see `namespaces`."""
        self.cap = cap
        """Characters of a result's text at most."""
        self.tools = frozenset(tools)
        """The tools that the agent has; errors advise no other."""
        self._guarded = frozenset(guarded)
        self._seen: dict[str, str] = {}

    async def ls(self, path: str = "/", *, start: int = 0) -> Listing:
        """List a folder; `start` skips entries. Raises `FileMissing`, `NotAFolder`."""
        with self._told(path):
            _check_start(path, start)
            inner = self._inner(path, root_ok=True)
            try:
                entries = [_outer(entry) for entry in await self.folders.list(inner)]
            except FileMissing as error:
                raise await self._missing(error, inner) from None
        about = f"{clip(path)!r}: {len(entries):,} entries"
        return self._listing(about, call_text("ls", path=path), entries, start)

    async def glob(self, pattern: str, *, start: int = 0) -> Listing:
        """List the files that match, such as "/inputs/**/*.md"; `**` stands for any folders."""
        with self._told(pattern):
            _check_start(pattern, start)
            full = pattern if pattern.startswith("/") else f"files/{pattern}"
            entries = [_outer(entry) for entry in await self.folders.glob(full)]
        about = f"{clip(pattern)!r}: {len(entries):,} files"
        if not entries:
            about += f"; there are the folders {', '.join(f'/{n}' for n in self.folders.stores)}"
        return self._listing(about, call_text("glob", pattern=pattern), entries, start)

    def _listing(self, about: str, call: str, entries: list[Entry], start: int) -> Listing:
        return listing_of(about, call, entries, start, self.cap - _FRAME, _NOTES)

    async def read_file(
        self,
        path: str,
        *,
        start_line: int = 1,
        lines: int | None = None,
        start_char: int | None = None,
        chars: int | None = None,
    ) -> Page:
        """Read from a line (base 1), or from a character (base 0; negative: from the end).

        `lines` and `chars` say how many at most; the cap holds in any case, and the text then ends
        with the call that reads on.
        """
        with self._told(path):
            room = self.cap - _FRAME
            window = Window(start_line, start_char, lines, room if chars is None else chars)
            window = replace(window.checked(path), chars=min(window.chars, room))
            inner = self._inner(path)
            try:
                found = await read_window(self.folders, inner, window)
            except FileMissing as error:
                raise await self._missing(error, inner) from None
            found.check_reached(path, window)
        self._seen[inner] = found.sha256
        return page_of(f"/{inner}", found, by_char=start_char is not None)

    async def write_file(self, path: str, content: str, *, if_hash: str | None = None) -> Change:
        """Create or replace a file. `if_hash` (a hash, or `ABSENT`) makes it conditional."""
        with self._told(path):
            inner = self._inner(path)
            if if_hash is None and self._is_guarded(inner):
                if_hash = self._seen.get(inner, ABSENT)
            stat = await self.folders.write(inner, content, if_hash=if_hash)
        self._seen[inner] = stat.sha256
        size = f"{stat.size:,} bytes, {count_lines(content):,} lines"
        stat = replace(stat, path=f"/{inner}")
        return Change(f"wrote {clip(stat.path)}: {size}", stat.path, stat)

    async def edit_file(self, path: str, old: str, new: str, *, every: bool = False) -> Change:
        """Replace `old`, which must occur once (or use `every`), by `new`; see `replace_exact`."""
        with self._told(path):
            inner = self._inner(path)
            try:
                done = await self.folders.edit(inner, old, new, every=every)
            except FileMissing as error:
                raise await self._missing(error, inner) from None
        places = f"{done.replaced:,} places, the first" if done.replaced > 1 else "one place,"
        stat = replace(done.stat, path=f"/{inner}")
        text = f"edited {clip(stat.path)}: {places} on line {done.line:,}; {stat.size:,} bytes now"
        return Change(text, stat.path, stat)

    async def delete(self, path: str) -> Change:
        """Remove a file."""
        with self._told(path):
            inner = self._inner(path)
            if_hash = self._seen.get(inner, "unread") if self._is_guarded(inner) else None
            try:
                await self.folders.delete(inner, if_hash=if_hash)
            except FileMissing as error:
                raise await self._missing(error, inner) from None
        self._seen.pop(inner, None)
        return Change(f"deleted {clip(f'/{inner}')}", f"/{inner}", None)

    async def grep(self, query: Query, path: str = "/", *, start: int = 0) -> Matches:
        """Search the files below the folder `path`, or the file `path`; `start` skips hits.

        `query.glob` is a pattern inside `path`, `query.limit` is the caller's bound.
        """
        with self._told(path):
            _check_start(path, start)
            inner = self._inner(path, root_ok=True)
            await self._check_place(path, inner)
        with self._told(query.text):
            limit = min(query.limit, start + _HITS)
            found = await self._part(inner).grep(_below(query, inner, limit))
        hits = [replace(hit, path=f"/{hit.path}") for hit in found.hits]
        shown = fit([hit_text(hit) for hit in hits[start:]], self.cap - _FRAME)
        following = start + shown.count
        more = following < len(hits) or found.more
        about = f"{len(hits):,}{'+' if found.more else ''} hits in {found.files:,} files searched"
        text = f"[{about}]\n{shown.text}"
        if more:
            text += go_on("more hits", _grep_call(query, path, following))
        part = tuple(hits[start:following])
        return Matches(text, part, found.files, following if more else None)

    def _part(self, inner: str) -> Folders:
        """Return the folders without those that a search below `inner` need not walk."""
        name = inner.partition("/")[0]
        return Folders({name: self.folders.stores[name]}) if name else self.folders

    async def _check_place(self, path: str, inner: str) -> None:
        try:
            await self.folders.list(inner)
        except NotAFolder:
            await self.folders.read(inner, 0, 0)  # a file is fine, a path through a file is not
        except FileMissing as error:
            raise await self._missing(error, inner) from None

    async def _missing(self, error: FileError, inner: str) -> FileError:
        name = inner.partition("/")[0]
        known = [entry.path for entry in await self.folders.glob(f"{name}/**")]
        hint = similar(inner, known, lambda found: f"/{found}")
        error.problem += f". {hint}".rstrip(". ") if hint else ""
        return error

    def _inner(self, path: str, *, root_ok: bool = False) -> str:
        """Return the path inside `folders`."""
        stripped = path.lstrip("/")
        if stripped == path and path not in ("", "."):
            return clean_path(f"files/{path}")
        return clean_path(stripped, root_ok=root_ok)

    def _is_guarded(self, inner: str) -> bool:
        return inner.partition("/")[0] in self._guarded

    @contextmanager
    def _told(self, path: str) -> Generator[None]:
        try:
            yield
        except NameCollision as error:
            raise in_namespace(error, path) from None
        except FileError as error:
            advise(error, path, self.tools)
            raise


def _outer(entry: Entry) -> Entry:
    return replace(entry, path=f"/{entry.path}")


def _check_start(path: str, start: int) -> None:
    if start < 0:
        raise BadArgument(path, "start is a count, 0 or more")


def _below(query: Query, inner: str, limit: int) -> Query:
    """Return the query for the whole of `Folders`, confined to the folder or file `inner`."""
    prefix = f"{inner}/" if inner else ""

    def allowed(path: str) -> bool:
        if path != inner and not path.startswith(prefix):
            return False
        relative = path if query.glob.startswith("/") else path[len(prefix) :]
        matches = path == inner or glob_matches(query.glob, relative)
        return matches and (query.allow is None or query.allow(path))

    return replace(query, glob="**", allow=allowed, limit=limit)


def _grep_call(query: Query, path: str, start: int) -> str:
    given = {"text": query.text, "path": path, "regex": query.regex, "glob": query.glob}
    given |= {"ignore_case": query.ignore_case, "context": query.context}
    chosen = {name: value for name, value in given.items() if value not in (False, 0, "**")}
    return call_text("grep", **chosen, start=start)
