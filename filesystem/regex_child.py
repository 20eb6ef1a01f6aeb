"""Finding matches in blocks of text; run as a program, the process that may be killed.

Python's regular expressions cannot be interrupted: a pattern that backtracks holds the interpreter
for hours. So patterns that a model wrote run in a process of their own, which the searching
process kills when the time is over. Only the standard library is imported here.
"""

import marshal
import re
import sys
from collections.abc import Callable

BEFORE = 120
"""Characters of a long line that a hit shows before its match."""
AFTER = 280
"""Characters of a long line that a hit shows from its match on."""

Found = tuple[int, int, int]
"""Line of the match in its text (base 0), column in characters (base 0), length of the match."""


def positions(
    find: Callable[[str, int], tuple[int, int] | None], text: str, limit: int
) -> list[Found]:
    """Return up to `limit` matches: one a line, and in long lines one for each part that is shown."""
    found: list[Found] = []
    place = line = counted = 0
    while len(found) < limit and place <= len(text) and (match := find(text, place)):
        start, end = match
        line += text.count("\n", counted, start)
        counted = start
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        if start == line_start == len(text):
            break  # behind the last line feed there is no line
        found.append((line, start - line_start, end - start))
        is_long = line_end - line_start > BEFORE + AFTER
        place = max(min(start + AFTER, line_end + 1) if is_long else line_end + 1, end)
    return found


def search_with(pattern: "re.Pattern[str]", strip: bool) -> Callable[[str, int], list[Found]]:
    """Return the search for one compiled pattern; with `strip`, `$` also stands before `\\r\\n`."""

    def find(text: str, place: int) -> tuple[int, int] | None:
        match = pattern.search(text, place)
        return match.span() if match else None

    def search(text: str, limit: int) -> list[Found]:
        return positions(find, text.replace("\r\n", "\n") if strip else text, limit)

    return search


def main() -> None:
    """Read (pattern, flags, seconds), then batches (texts, limit); answer each batch."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    pattern, flags, seconds = marshal.load(source)  # noqa: S302 - written by our own process
    _limit_process(seconds)
    search: Callable[[str, int], list[Found]] | None = None
    answer = ""
    try:
        strip = "\r" not in pattern and "\\r" not in pattern
        search = search_with(re.compile(pattern, flags), strip)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        answer = str(error) or type(error).__name__
    marshal.dump(answer, sink)  # empty when the pattern can be read
    sink.flush()
    while search and (batch := marshal.load(source)) is not None:  # noqa: S302 - the other end is our own process
        texts, limit = batch
        marshal.dump([search(text, limit) for text in texts], sink)
        sink.flush()


def _limit_process(seconds: int) -> None:
    """End this process when its parent no longer can: by processor time and by memory."""
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds + 1, seconds + 1))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


if __name__ == "__main__":
    main()
