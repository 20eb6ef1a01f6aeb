"""HTML: the words a reader sees, line by line."""

import re
from dataclasses import dataclass, field

from ..extracted import Extracted
from .plain import Headings
from .tags import tokens

_CODE = frozenset(["script", "style", "noscript", "template"])
_DROPPED = _CODE | frozenset(
    ["svg", "math", "iframe", "object", "nav", "select", "button", "datalist"]
)
_PARAGRAPH = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "aside",
        "ul",
        "ol",
        "dl",
        "table",
        "figure",
        "figcaption",
        "blockquote",
        "form",
        "fieldset",
        "address",
        "details",
        "summary",
        "hr",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "pre",
        "body",
        "caption",
        "thead",
        "tbody",
    ]
)
_LINE = frozenset(["br", "li", "tr", "dt", "dd", "option"])
_STRUCTURE = frozenset(["table", "ul", "ol", "dl", "pre", "h1", "h2", "h3", "h4", "h5", "h6"])
_VOID = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
_HEADING = re.compile(r"h[1-6]")
_NAVIGATION = re.compile(r"\brole\s*=\s*[\"']?navigation\b", re.I)
_PERMALINKS = frozenset({"¶", "#", "§"})


def load_webpage(text: str) -> Extracted:
    """Read an HTML page. Scripts, styles and navigation go; a table row is a line, cells between "|"."""
    page = _Page(_DROPPED)
    page.read(text)
    if page.is_inside_dropped:  # a tag that never closes would hide the rest of the page
        page = _Page(_CODE)
        page.read(text)
    return page.extracted()


@dataclass(slots=True)
class _OpenHeading:
    level: int
    offset: int = -1  # where its first word stands
    words: list[str] = field(default_factory=list[str])


class _Page:
    def __init__(self, dropped: frozenset[str]) -> None:
        self._to_drop = dropped
        self._inside = ""  # the tag whose content is being dropped
        self._depth = 0
        self._lines_out = _Lines()
        self._headings = Headings()
        self._heading: _OpenHeading | None = None
        self._title: list[str] = []
        self._in_title = False
        self._pre = 0
        self._in_cell = False

    @property
    def is_inside_dropped(self) -> bool:
        """True when a dropped element is still open."""
        return bool(self._inside)

    def extracted(self) -> Extracted:
        title = " ".join("".join(self._title).split()) or self._headings.first
        out = self._lines_out
        return Extracted("".join(out.pieces), title, self._headings.paths, lines=out.numbers)

    def read(self, text: str) -> None:
        """Read the tags and the text of a page."""
        for name, content, line in tokens(text):
            if not name:
                self._text(content, line)
            elif name[0] == "/":
                self._end(name[1:])
            else:
                self._start(name, content)

    def _start(self, tag: str, attributes: str) -> None:
        if self._inside:
            self._depth += tag == self._inside
            return
        is_navigation = tag not in _VOID and bool(_NAVIGATION.search(attributes))
        if (tag in self._to_drop or is_navigation) and not attributes.endswith("/"):
            self._inside, self._depth = tag, 1
            return
        self._in_title = tag == "title"
        if tag in ("td", "th"):
            self._in_cell = True
            self._lines_out.cell()
            return
        self._break(tag)
        self._pre += tag == "pre"
        if _HEADING.fullmatch(tag):
            self._heading = _OpenHeading(int(tag[1]))
        elif tag == "li":
            self._lines_out.mark = "- "

    def _end(self, tag: str) -> None:
        if self._inside:
            self._depth -= tag == self._inside
            if self._depth == 0:
                self._inside = ""
            return
        self._in_title = self._in_title and tag != "title"
        self._pre -= tag == "pre" and self._pre > 0
        if self._heading and _HEADING.fullmatch(tag):
            if self._heading.offset >= 0:
                words = " ".join(self._heading.words)
                self._headings.add(self._heading.offset, self._heading.level, words)
            self._heading = None
        self._break(tag)

    def _text(self, text: str, line: int) -> None:
        if self._in_title:
            self._title.append(text)
        elif not self._inside and text not in _PERMALINKS:
            for number, part in enumerate(text.split("\n")):
                if number:
                    self._wrap()
                self._part(part, line + number)

    def _part(self, part: str, line: int) -> None:
        words = part.rstrip() if self._pre else " ".join(part.split())
        out = self._lines_out
        out.space = out.space or part[:1].isspace()
        if not words:
            return
        offset = out.put(words, line)
        if self._heading:
            self._heading.words.append(words)
            if self._heading.offset < 0:
                self._heading.offset = offset
        out.space = part[-1:].isspace()

    def _wrap(self) -> None:
        """A line break in the file's own text: kept, so that places are those of the file."""
        out = self._lines_out
        if self._pre:
            out.gap = min(out.gap + 1, 3)
        elif self._in_cell:
            out.space = True
        else:
            out.gap = max(out.gap, 1)

    def _break(self, tag: str) -> None:
        """Begin a new line or paragraph around a block, but not inside a simple table cell."""
        out = self._lines_out
        if tag == "tr" or tag in _STRUCTURE:
            self._in_cell = False
            out.end_row()
        if tag not in _PARAGRAPH and tag not in _LINE:
            return
        if self._in_cell:
            out.space = True
        else:
            out.gap = max(out.gap, 2 if tag in _PARAGRAPH else 1)


class _Lines:
    """Output lines with the file's line number of each; breaks are due, not yet written."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.numbers = [1]
        self.gap = 0
        """Line breaks due before the next word."""
        self.space = False
        """A space is due before the next word."""
        self.mark = ""
        """A list mark due before the next word."""
        self._length = 0
        self._cells: int | None = None  # separators due in a row; None outside of one

    def cell(self) -> None:
        """Begin a table cell."""
        self._cells = 0 if self._cells is None else self._cells + 1

    def end_row(self) -> None:
        """Leave a table row."""
        self._cells = None

    def put(self, words: str, line: int) -> int:
        """Write words that stand on this line of the file; gives the offset where they begin."""
        if self._length == 0:
            self.numbers[0] = line
        elif self.gap:
            self._write("\n" * self.gap)
            self.numbers += [line] * self.gap
        elif self.space and not self._cells:
            self._write(" ")
        if self._cells:
            self._write(" | " * self._cells)
            self._cells = 0
        self.gap, self.space = 0, False
        if self.mark:
            self._write(self.mark)
            self.mark = ""
        offset = self._length
        self._write(words)
        return offset

    def _write(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)
