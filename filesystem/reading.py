"""One page of a text file, by line or by character, in one pass and little memory."""

import codecs
import hashlib
from dataclasses import dataclass

from .errors import BadArgument
from .stores import FileStore
from .text import border_before


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a file is wanted."""

    line: int = 1
    """First line, base 1; used when `char` is None."""
    char: int | None = None
    """First character, base 0; negative counts from the end."""
    lines: int | None = None
    """Lines at most; None means as many as `chars` allows."""
    chars: int = 2_000
    """Characters at most."""

    def checked(self, path: str) -> "Window":
        """Return this window. Raises `BadArgument` about `path` when a number is out of range."""
        if self.line < 1 or (self.lines is not None and self.lines < 1) or self.chars < 1:
            raise BadArgument(path, "start_line, lines and chars count from 1")
        if self.char is not None and self.line != 1:
            raise BadArgument(path, "give start_line or start_char, not both")
        return self


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a file, exact unless `is_text` is False."""

    content: str
    """The characters, line ends kept; empty when the file is, or when it begins beyond the end."""
    start_line: int
    """Line in which `content` begins, base 1."""
    start_char: int
    """Characters before `content`."""
    lines: int
    """Lines of the whole file."""
    chars: int
    """Characters of the whole file."""
    size: int
    """Bytes of the whole file."""
    sha256: str
    """Hash of the whole file."""
    is_text: bool
    """False when bytes that are no UTF-8 were replaced by U+FFFD."""

    @property
    def end_char(self) -> int:
        """Characters before what follows `content`."""
        return self.start_char + len(self.content)

    def check_reached(self, path: str, window: Window) -> None:
        """Raise `BadArgument` about `path` when the window begins behind the file's end."""
        if window.char is None and window.line > max(self.lines, 1):
            raise BadArgument(path, f"start_line is {window.line:,}, the last line {self.lines:,}")
        if window.char is not None and 0 < window.char >= self.chars:
            raise BadArgument(
                path, f"start_char is {window.char:,}, the file has {self.chars:,} characters"
            )

    @property
    def next_line(self) -> int | None:
        """The line to go on with; None when the rest of a line comes first, or nothing."""
        if self.end_char >= self.chars or not self.content.endswith("\n"):
            return None
        return self.start_line + self.content.count("\n")


async def read_window(store: FileStore, path: str, window: Window) -> Excerpt:
    """Read the part of `path` that `window` asks for.

    Too much is cut between two characters; when asked by line, after the last line that fits. Reads
    the file once (twice for a negative `char`), in blocks, so a file of any size costs about 4 MiB.
    """
    char = window.char
    if char is not None and char < 0:
        total = (await _scan(store, path, _Scan(0, None, 0))).chars
        char = max(total + char, 0)
    scan = await _scan(store, path, _Scan(window.line, char, window.chars + 1))
    return Excerpt(
        content=_cut(scan.kept, window),
        start_line=scan.start_line,
        start_char=scan.start_char,
        lines=scan.line + (1 if scan.chars and not scan.ends_line else 0),
        chars=scan.chars,
        size=scan.size,
        sha256=scan.digest.hexdigest(),
        is_text=scan.is_text,
    )


def _cut(text: str, window: Window) -> str:
    if window.lines is not None:
        end = -1
        for _ in range(window.lines):
            end = text.find("\n", end + 1)
            if end < 0:
                break
        text = text if end < 0 else text[: end + 1]
    if len(text) <= window.chars:
        return text
    by_line = 0 if window.char is not None else text.rfind("\n", 0, window.chars) + 1
    return text[: by_line or border_before(text, window.chars) or window.chars]


class _Scan:
    """The state of one pass: counts of all, and the characters that are kept."""

    def __init__(self, line: int, char: int | None, room: int, *, lenient: bool = False) -> None:
        self.wanted = (line, char, room)
        self.is_text = not lenient
        self.line = self.chars = self.size = 0
        self.ends_line = False
        self.start_line = self.start_char = 0
        self.kept = ""
        self.digest = hashlib.sha256()
        self._found = False
        errors = "replace" if lenient else "surrogatepass"
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)

    def feed(self, data: bytes, *, final: bool) -> None:
        self.size += len(data)
        self.digest.update(data)
        text = self._decoder.decode(data, final)
        if text or final:
            self._keep(text, final)
            self.line += text.count("\n")
            self.chars += len(text)
            self.ends_line = text.endswith("\n") if text else self.ends_line

    def _keep(self, text: str, final: bool) -> None:
        line, char, room = self.wanted
        if self._found:
            self.kept += text[: max(room - len(self.kept), 0)]
            return
        place = self._place_of_line(text, line) if char is None else char - self.chars
        if place is None or (place >= len(text) and not final):
            return
        self._found = True
        place = min(place, len(text))
        self.start_char = self.chars + place
        self.start_line = self.line + text.count("\n", 0, place) + 1
        self.kept = text[place : place + room]

    def _place_of_line(self, text: str, line: int) -> int | None:
        """Where in `text` the wanted line begins; None when it begins later or not at all."""
        missing = line - 1 - self.line
        if text.count("\n") < missing:
            return None
        return len(text) - len(text.split("\n", missing)[-1])


async def _scan(store: FileStore, path: str, scan: _Scan) -> _Scan:
    try:
        async for block in store.stream(path):
            scan.feed(block, final=False)
        scan.feed(b"", final=True)
    except UnicodeDecodeError:
        line, char, room = scan.wanted
        return await _scan(store, path, _Scan(line, char, room, lenient=True))
    return scan
