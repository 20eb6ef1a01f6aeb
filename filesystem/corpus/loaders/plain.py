"""Loaders of files that are text already: Markdown, reStructuredText and plain text, source code."""

import re
from collections.abc import Iterator

from ..extracted import Extracted
from ..sentences import lines_of

_MAX_HEADING = 200  # characters of one heading kept in a path
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_TITLE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.M)
_ADORNMENT = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}[ \t]*$")
_DEFINITION = re.compile(
    r"(?:(?:export|default|public|private|protected|static|final|abstract|async|pub|const)\s+)*"
    r"(?:def|class|function|fn|func|interface|struct|enum|trait|impl|module|namespace|type|sub)\s+"
    r"([A-Za-z_$][\w$.]*)"
)


class Headings:
    """Collects headings with their levels and turns them into paths "A > B"."""

    def __init__(self) -> None:
        self.paths: list[tuple[int, str]] = []
        """(offset, heading path), in the order added."""
        self._open: list[tuple[int, str]] = []

    def add(self, offset: int, level: int, heading: str) -> None:
        """Note a heading that begins at an offset; level 1 is the outermost."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        name = " ".join(heading.split())[:_MAX_HEADING]
        if name:
            self._open.append((level, name))
            self.paths.append((offset, " > ".join(each for _, each in self._open)))

    @property
    def first(self) -> str:
        """The first heading, which serves as a title; "" when there is none."""
        return self.paths[0][1] if self.paths else ""


def load_markdown(text: str) -> Extracted:
    """Read Markdown: headings of both styles, the title of a front matter."""
    headings = markdown_headings(text)
    title = headings.first
    if text.startswith("---\n") and (end := text.find("\n---", 4)) > 0:
        found = _TITLE.search(text, 4, end)
        title = found[1] if found else title
    return Extracted(text, title, headings.paths)


def markdown_headings(text: str) -> Headings:
    """Find Markdown headings outside fenced code; other formats' text may hold them too."""
    headings = Headings()
    fence = ""
    previous, previous_at = "", 0
    for offset, line in _lines(text):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and (atx := _ATX.match(line)):
            headings.add(offset, len(atx[1]), _unmarked(atx[2]))
        elif not fence and (under := _SETEXT.match(line)) and _may_be_title(previous):
            headings.add(previous_at, 1 if under[1][0] == "=" else 2, _unmarked(previous))
        previous, previous_at = line, offset
    return headings


def load_text(text: str) -> Extracted:
    """Read reStructuredText or plain text: a line with an underline of marks is a heading."""
    headings = Headings()
    levels: list[tuple[str, bool]] = []
    before, line, offset, start = "", "", 0, 0
    for at, under in _lines(text):
        if _is_underlined(line, under) and (
            not before.strip() or before.rstrip() == under.rstrip()
        ):
            over = bool(before.strip())
            style = (under[0], over)
            if style not in levels:
                levels.append(style)
            headings.add(start if over else offset, levels.index(style) + 1, line)
        before, start = line, offset
        line, offset = under, at
    if not headings.paths:
        headings = markdown_headings(text)
    return Extracted(text, headings.first, headings.paths)


def _is_underlined(line: str, under: str) -> bool:
    """Tell whether a line is a title over a row of marks about as long as it."""
    marks = _ADORNMENT.match(under)
    return bool(marks and _may_be_title(line) and len(under.rstrip()) >= len(line.rstrip()) * 0.8)


def load_code(text: str) -> Extracted:
    """Read source code: what is defined at the left margin counts as a heading."""
    headings = Headings()
    for offset, line in _lines(text):
        if definition := _DEFINITION.match(line):
            headings.add(offset, 1, definition[1])
    return Extracted(text, "", headings.paths)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((offset, line.removesuffix("\n")) for offset, line in lines_of(text))


def _may_be_title(line: str) -> bool:
    """A title is short, not indented, and neither a rule, a list item nor a table row."""
    return (
        0 < len(line) <= _MAX_HEADING
        and not line[0].isspace()
        and line[0] not in "|+>-*#"
        and any(character.isalnum() for character in line)
    )


def _unmarked(heading: str) -> str:
    """Take emphasis and link targets off a Markdown heading."""
    heading = heading[: 5 * _MAX_HEADING]
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("**", "").replace("`", "")
