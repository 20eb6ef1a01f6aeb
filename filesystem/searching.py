"""Searching the text of many files: the query, the hits, and the loop over blocks of text."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice

from .blocks import TextBlock, text_blocks
from .errors import BadArgument
from .matchers import LiteralMatcher, Matcher, RegexMatcher, timed_out
from .paths import glob_matches
from .regex_child import AFTER, BEFORE, Found
from .text import border_after, border_before, decode

_BATCH = 1 << 20
"""Characters that are searched at a time."""
MAX_CONTEXT = 20
"""Lines of context at most on each side."""

MAX_TEXT = 1_000
"""Characters of a query at most."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for. Normal forms are always equal: composed and decomposed accents match."""

    text: str
    """The plain text, or the regular expression (Python's syntax)."""
    regex: bool = False
    """Whether `text` is a regular expression; `^` and `$` then stand at line borders."""
    ignore_case: bool = False
    """Whether upper and lower case are equal."""
    glob: str = "**"
    """Which files, as a pattern inside the store."""
    allow: Callable[[str], bool] | None = None
    """Which of those files, asked with the path; None means all."""
    context: int = 0
    """Lines to return before and after each hit, at most 20."""
    limit: int = 1_000
    """Hits to return at most."""
    seconds: float = 10.0
    """Time after which the search is stopped with `SearchTimedOut`."""

    def __post_init__(self) -> None:
        if not self.text:
            raise BadArgument(self.text, "the text to search for is empty")
        if len(self.text) > MAX_TEXT:
            raise BadArgument(self.text, f"the text to search for is over {MAX_TEXT:,} characters")
        if not (0 <= self.context <= MAX_CONTEXT and self.limit > 0 and self.seconds > 0):
            raise BadArgument(
                self.text, f"context must be 0 to {MAX_CONTEXT}, limit and seconds over 0"
            )

    def wants(self, path: str) -> bool:
        """Whether the file `path` is to be searched."""
        return glob_matches(self.glob, path) and (self.allow is None or self.allow(path))


@dataclass(frozen=True, slots=True)
class Hit:
    """One line that matches; in a line over 400 characters, one part of it."""

    path: str
    """Path inside the store."""
    line: int
    """Line number, base 1; only a line feed ends a line."""
    char: int
    """Place of the match, in characters from the start of the file, base 0."""
    column: int
    """Place of the match in its line, in characters, base 0."""
    text: str
    """The line without its end, or the part of a long line around the match."""
    text_column: int
    """Where `text` begins in its line, in characters; 0 when the line is shown whole."""
    is_whole: bool
    """Whether `text` is the whole line."""
    before: tuple[str, ...]
    """Lines before, each cut to 400 characters."""
    after: tuple[str, ...]
    """Lines after, each cut to 400 characters."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found, in the order of paths and lines."""

    hits: tuple[Hit, ...]
    """The hits, at most the query's limit."""
    files: int
    """Files searched."""
    more: bool
    """Whether the limit stopped the search."""


def search_files(files: Iterable[tuple[str, Iterable[bytes]]], query: Query) -> Hits:
    """Search files given as (path, content in blocks), in the order given. Blocking.

    At most about 8 MiB of a file is held. A regular expression cannot match across the border of
    two such blocks. Raises `BadPattern`, `SearchTimedOut`.
    """
    deadline = time.monotonic() + query.seconds
    any_case = query.ignore_case
    with closing(
        RegexMatcher(query.text, ignore_case=any_case, deadline=deadline)
        if query.regex
        else LiteralMatcher(query.text, ignore_case=any_case)
    ) as matcher:
        return _Search(matcher, query, deadline).run(files)


class _Search:
    def __init__(self, matcher: Matcher, query: Query, deadline: float) -> None:
        self._matcher = matcher
        self._query = query
        self._deadline = deadline
        self._hits: list[Hit] = []
        self._files = 0
        self._seen = ("", 0, 0)
        # A match cut by a block's end must lie whole in the next one.
        self._overlap = (query.text.count("\n"), max(4_096, 4 * len(query.text)))
        self._twice = 2 * query.context + self._overlap[0] + self._overlap[1] // AFTER + 2

    def run(self, files: Iterable[tuple[str, Iterable[bytes]]]) -> Hits:
        limit = self._query.limit
        for batch in self._batches(files):
            folded = [self._matcher.fold(block.text) for block in batch]
            # Blocks overlap: some of what is found in one was found in the block before.
            found = self._matcher.find(folded, limit + 1 - len(self._hits) + self._twice)
            for block, fold, places in zip(batch, folded, found, strict=True):
                if places:
                    self._take(block, fold, places)
            if len(self._hits) > limit:
                break
        return Hits(tuple(self._hits[:limit]), self._files, len(self._hits) > limit)

    def _batches(self, files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[list[TextBlock]]:
        batch: list[TextBlock] = []
        size = 0
        for block in self._blocks(files):
            batch.append(block)
            size += len(block.text)
            if size >= _BATCH:
                yield batch
                self._check_time()
                batch, size = [], 0
        if batch:
            yield batch

    def _blocks(self, files: Iterable[tuple[str, Iterable[bytes]]]) -> Iterator[TextBlock]:
        """Yield the blocks of all files but those that certainly hold no match."""
        may_be_in = self._matcher.needle.may_be_in
        for path, chunks in files:
            self._files += 1
            self._check_time()
            ahead, rest = deque[bytes](), iter(chunks)
            ahead.extend(islice(rest, 2))
            if len(ahead) > 1:
                whole = _in_turn(ahead, rest)
                yield from text_blocks(path, whole, self._query.context, self._overlap)
            elif may_be_in(data := ahead.pop() if ahead else b""):
                yield TextBlock(path, decode(data), 1, 0, 0, 0, True)

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise timed_out(self._query.text)

    def _take(self, block: TextBlock, folded: str, places: list[Found]) -> None:
        text, start, line = block.text, 0, 0
        is_same = folded is text and "\r" not in text
        for index, folded_column, place in places:
            if is_same:
                start, line = place - folded_column, index
            while line < index:
                start = text.find("\n", start) + 1
                line += 1
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            column = folded_column
            if folded is not text:
                column = self._unfold(text[start:end], folded_column)
            if block.is_margin(line) or not self._is_new(block, line, start + column):
                continue
            self._hits.append(self._hit(block, (start, end), line, column))

    def _unfold(self, line: str, column: int) -> int:
        """Return the place in `line` whose folded form reaches `column`."""
        if len(self._matcher.fold(line)) == len(line):
            return column
        low, high = 0, len(line)
        while low < high:
            middle = (low + high) // 2
            if len(self._matcher.fold(line[: middle + 1])) > column:
                high = middle
            else:
                low = middle + 1
        return low

    def _is_new(self, block: TextBlock, line: int, place: int) -> bool:
        """Whether no earlier block has shown this place: blocks of one file overlap."""
        at = (block.path, block.line + line, block.char + place)
        if self._seen[0] == block.path and at[1] <= self._seen[1] and at[2] < self._seen[2]:
            return False
        self._seen = (block.path, at[1], at[2] + AFTER)
        return True

    def _hit(self, block: TextBlock, span: tuple[int, int], line: int, column: int) -> Hit:
        start, end = span
        text = block.text[start:end].removesuffix("\r")
        offset = block.first_column if line == 0 else 0
        is_whole = len(text) <= BEFORE + AFTER and not (offset or block.is_cut(end))
        shown, begin = (text, 0) if is_whole else _around(text, column)
        before, after = block.context(start, end, self._query.context)
        return Hit(
            path=block.path,
            line=block.line + line,
            char=block.char + start + column,
            column=offset + column,
            text=shown,
            text_column=offset + begin,
            is_whole=is_whole,
            before=before,
            after=after,
        )


def _in_turn(ahead: deque[bytes], rest: Iterator[bytes]) -> Iterator[bytes]:
    """Yield what was read ahead and then the rest, holding none of it."""
    while ahead:
        yield ahead.popleft()
    yield from rest


def _around(line: str, column: int) -> tuple[str, int]:
    begin = border_before(line, max(0, column - BEFORE))
    end = border_after(line, min(len(line), column + AFTER))
    return line[begin:end], begin
