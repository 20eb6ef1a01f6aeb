"""Cutting the content of a file into blocks of text that are searched one by one."""

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .text import border_before

_SHOWN = 400
"""Characters of a line of context."""
_LONG = 1 << 20
"""Characters over which lines of context are not carried from block to block."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A part of a file's text: whole lines, or a part of a very long line."""

    path: str
    """The file."""
    text: str
    """The characters."""
    line: int
    """Number of the first line, base 1."""
    char: int
    """Place of `text` in the file, in characters, base 0."""
    first_column: int
    """Where `text` begins in its first line, in characters; 0 at a line's start."""
    margin: int
    """Lines at the end that the next block has again, with what follows them; 0 in the last."""
    is_last: bool
    """Whether the file ends here."""

    def is_margin(self, line: int) -> bool:
        """Whether the line with this index (base 0) is left to the next block."""
        return self.margin > 0 and line >= self.text.count("\n") - self.margin

    def is_cut(self, end: int) -> bool:
        """Whether a line that ends at `end` goes on in the next block."""
        return end == len(self.text) and not self.is_last

    def context(self, start: int, end: int, lines: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return up to `lines` lines before `start` and after `end`, each cut to 400 characters."""
        before: list[str] = []
        after: list[str] = []
        while len(before) < lines and start > 0:
            previous = self.text.rfind("\n", 0, start - 1) + 1
            before.append(_shown(self.text[previous : min(start - 1, previous + _SHOWN + 1)]))
            start = previous
        while len(after) < lines and end < len(self.text) - 1:
            following = self.text.find("\n", end + 1)
            following = len(self.text) if following < 0 else following
            after.append(_shown(self.text[end + 1 : min(following, end + _SHOWN + 2)]))
            end = following
        return tuple(reversed(before)), tuple(after)


def _shown(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= _SHOWN else line[: border_before(line, _SHOWN)] + "..."


def text_blocks(
    path: str, chunks: Iterable[bytes], context: int, overlap: tuple[int, int]
) -> Iterator[TextBlock]:
    """Yield the text of `chunks` in blocks that are about as large as the chunks.

    `overlap` is the greatest (lines, characters) that a match may reach over. Blocks end at line
    ends and share that many lines beside twice `context`; a line without an end within a chunk is
    cut, its parts sharing that many characters.
    """
    held, line, char, column = "", 1, 0, 0
    for text, is_last in _decoded(chunks):
        held += text
        if is_last:
            yield TextBlock(path, held, line, char, column, 0, True)
            return
        cut = held.rfind("\n") + 1
        margin = context
        if cut:
            keep = _lines_back(held, cut, 2 * context + overlap[0])
            if cut - keep > _LONG:
                keep, margin = cut, 0
        elif len(held) >= _LONG:
            cut, margin = len(held), 0
            keep = border_before(held, max(cut - overlap[1], 1))
        else:
            continue
        yield TextBlock(path, held[:cut], line, char, column, margin, False)
        line += held.count("\n", 0, keep)
        column = keep - (held.rfind("\n", 0, keep) + 1) + (0 if "\n" in held[:keep] else column)
        char += keep
        held = held[keep:]


def _lines_back(text: str, end: int, lines: int) -> int:
    for _ in range(lines):
        if end <= 0:
            break
        end = text.rfind("\n", 0, end - 1) + 1
    return end


def _decoded(chunks: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether it is the last); bad bytes are replaced from where they first occur."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
    held: bytes | None = None
    for chunk in chunks:
        if held is not None:
            text, decoder = _step(decoder, held, False)
            yield text, False
        held = chunk
    text, _ = _step(decoder, held or b"", True)
    yield text, True


def _step(
    decoder: codecs.IncrementalDecoder, data: bytes, final: bool
) -> tuple[str, codecs.IncrementalDecoder]:
    pending = decoder.getstate()[0]
    try:
        return decoder.decode(data, final), decoder
    except UnicodeDecodeError:
        lenient = codecs.getincrementaldecoder("utf-8")("replace")
        return lenient.decode(pending + data, final), lenient
