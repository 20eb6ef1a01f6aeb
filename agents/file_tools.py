"""The file tools of an agent: thin, typed functions over its `Workspace`.

Results are at most 10,000 tokens (fewer in a small window) and end with the call that goes on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from filesystem import FileError, Query, Workspace
from memory import Counter

from .errors import ToolError
from .tools import Tool, tool

RESULT_TOKENS = 10_000
"""Most tokens of one result."""
LEAST_CHARS, MOST_CHARS = 4_000, 40_000
"""Bounds of a result in characters."""
READING = ("read_file", "grep")
"""Names of the tools by which an agent reads what was stored in place of a result."""


class Paging:
    """Keeps results of a workspace within a number of tokens: a result that has more is made again."""

    def __init__(
        self, workspace: Callable[[], Workspace], counter: Counter, room: Callable[[], int]
    ) -> None:
        self._workspace, self._counter, self._room = workspace, counter, room
        self._alone = asyncio.Lock()

    async def __call__(self, operation: Callable[[Workspace], Awaitable[Any]]) -> str:
        """The text of an operation's result. Raises `ToolError` with the words of a `FileError`."""
        most, workspace = min(RESULT_TOKENS, self._room()), self._workspace()
        async with self._alone:  # the cap is the workspace's
            workspace.cap = MOST_CHARS
            while True:
                try:
                    text: str = (await operation(workspace)).text
                except FileError as error:
                    raise ToolError(str(error)) from error
                cap = min(workspace.cap, len(text))
                if len(text) <= LEAST_CHARS or (tokens := self._counter.count(text)) <= most:
                    return text
                if workspace.cap == LEAST_CHARS:
                    return text
                workspace.cap = max(LEAST_CHARS, int(cap * most / tokens * 0.95))


def file_tools(
    workspace: Callable[[], Workspace],
    counter: Counter,
    room: Callable[[], int],
    *,
    reading: bool = False,
) -> tuple[Tool, ...]:
    """`ls`, `read_file`, `write_file`, `edit_file`, `glob`, `grep` and `delete` over a workspace.

    The workspace is asked for when a tool is called: most of a thousand agents never do. `room` says how
    many tokens a result may have at the moment, if fewer than 10,000. `reading` makes those in `READING`
    alone.
    """
    paged = Paging(workspace, counter, room)
    if reading:
        return _reading(paged)
    return (*_reading(paged), *_looking(paged), *_writing(paged))


def _reading(paged: Paging) -> tuple[Tool, ...]:
    async def read_file(
        path: str,
        start_line: int = 1,
        lines: int | None = None,
        start_char: int | None = None,
        chars: int | None = None,
    ) -> str:
        """Read a file from a line (from 1), or from a character (from 0; negative: from the end).

        Long files come in parts; each part ends with the call that reads on.
        """
        return await paged(
            lambda files: files.read_file(
                path, start_line=start_line, lines=lines, start_char=start_char, chars=chars
            )
        )

    async def grep(
        text: str,
        path: str = "/",
        glob: str = "**",
        regex: bool = False,
        ignore_case: bool = False,
        context: int = 0,
        start: int = 0,
    ) -> str:
        """Find text (or a regular expression) in the files below `path`, or in the file `path`.

        `glob` names files below it; `context` is lines around each hit; `start` skips hits.
        """

        async def search(files: Workspace) -> Any:
            query = Query(text, regex=regex, ignore_case=ignore_case, glob=glob, context=context)
            return await files.grep(query, path, start=start)

        return await paged(search)

    return tuple(tool(f, repeatable=True, exempt=True) for f in (read_file, grep))


def _looking(paged: Paging) -> tuple[Tool, ...]:
    async def ls(path: str = "/", start: int = 0) -> str:
        """List a folder; "/" shows which folders there are. `start` skips entries."""
        return await paged(lambda files: files.ls(path, start=start))

    async def glob(pattern: str, start: int = 0) -> str:
        """List the files that match a pattern such as "/files/**/*.md"; ** stands for any folders."""
        return await paged(lambda files: files.glob(pattern, start=start))

    return tuple(tool(f, repeatable=True, exempt=True) for f in (ls, glob))


def _writing(paged: Paging) -> tuple[Tool, ...]:
    async def write_file(path: str, content: str) -> str:
        """Create or replace a file, such as "/files/notes.md"."""
        return await paged(lambda files: files.write_file(path, content))

    async def edit_file(path: str, old: str, new: str, every: bool = False) -> str:
        """Replace `old`, which must occur exactly once (or use every=true), by `new`."""
        return await paged(lambda files: files.edit_file(path, old, new, every=every))

    async def delete(path: str) -> str:
        """Remove a file."""
        return await paged(lambda files: files.delete(path))

    return (
        tool(write_file, repeatable=True, exempt=True),
        tool(edit_file, exempt=True),
        tool(delete, exempt=True),
    )
