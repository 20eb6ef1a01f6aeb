"""Finding matches in blocks of text; run as a program, the process that may be killed.

Python's regular expressions cannot be interrupted: a pattern that backtracks holds the interpreter
for hours. So patterns that a model wrote run in a process of their own, which the searching
process kills when the time is over. Only the standard library is imported here.
"""

import marshal
import re
import sys
from collections.abc import Callable

TYPE_CHECKING = False  # `typing` would take longer to load than all the rest
if TYPE_CHECKING:
    from typing import Any

BEFORE = 120
"""Characters of a long line that a hit shows before its match."""
AFTER = 280
"""Characters of a long line that a hit shows from its match on."""

Found = tuple[int, int, int]
"""Line of the match in its text (base 0), column in its line and place in its text, in characters."""

_UNLIKE = re.compile(r"\\s|\(\?[a-z]", re.IGNORECASE)
"""What may differ under `re.ASCII` even on ASCII text: white space, and flags inside a pattern."""


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
        found.append((line, start - line_start, start))
        is_long = line_end - line_start > BEFORE + AFTER
        place = max(min(start + AFTER, line_end + 1) if is_long else line_end + 1, end)
    return found


def search_with(pattern: str, flags: int) -> Callable[[str, int], list[Found]]:
    """Return the search for one pattern; unless it names `\r`, `$` also stands before `\r\n`.

    Raises what `re.compile` raises.
    """
    strip = "\r" not in pattern and "\\r" not in pattern
    compiled = plain = re.compile(pattern, flags)
    if not (flags & re.IGNORECASE or _UNLIKE.search(pattern)):
        # On ASCII text it finds the same, in half the time.
        plain = re.compile(pattern, flags | re.ASCII)

    def search(text: str, limit: int) -> list[Found]:
        chosen = plain if text.isascii() else compiled

        def find(text: str, place: int) -> tuple[int, int] | None:
            match = chosen.search(text, place)
            return match.span() if match else None

        return positions(find, text.replace("\r\n", "\n") if strip else text, limit)

    return search


def fixed_texts(pattern: str, flags: int) -> tuple[list[str], bool]:
    """Return texts that all stand in every match of a valid pattern, and whether their case is free.

    Python's own parser says how the pattern is read; where it is not as known here, nothing is fixed.
    """
    try:
        tree = vars(re)["_parser"].parse(pattern, flags)
        texts = [""]
        _collect(tree, texts)
        return texts, bool(tree.state.flags & re.IGNORECASE)
    except (KeyError, AttributeError, TypeError, ValueError):
        return [], False


def _collect(items: "Any", texts: list[str]) -> None:
    """Add the literal characters that follow each other in `items`, a new text after all else."""
    for operation, value in items:
        match str(operation):
            case "LITERAL":
                texts[-1] += chr(value)
            case "SUBPATTERN" if not value[1] & re.IGNORECASE:
                _collect(value[3], texts)
            case "MAX_REPEAT" | "MIN_REPEAT" if value[0] > 0:
                texts.append("")
                _collect(value[2], texts)
                texts.append("")
            case _:
                texts.append("")


def main() -> None:
    """Read (pattern, flags, seconds), then batches (texts, limit); answer each batch.

    The first answer is (what is wrong with the pattern, what `fixed_texts` says of it).
    """
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    pattern, flags, seconds = marshal.load(source)  # noqa: S302 - written by our own process
    _limit_process(seconds)
    search: Callable[[str, int], list[Found]] | None = None
    wrong, fixed = "", ([""], False)
    try:
        search = search_with(pattern, flags)
        fixed = fixed_texts(pattern, flags)
    except (re.error, RecursionError, OverflowError, MemoryError) as error:
        wrong = str(error) or type(error).__name__
    marshal.dump((wrong, *fixed), sink)
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
