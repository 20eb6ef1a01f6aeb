"""A tokenizer for HTML whose time is linear in any input.

The standard library's parser takes time quadratic in the length of a page of unclosed tags or comments:
a small hostile file would stop the indexing of all others. A loader needs far less than a parser, so this
one only tells tags from text, and never looks further ahead than it has to.
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_LOOK_AHEAD = 1_000  # characters in which a ">" inside quotes is told from the end of a tag
_NAME = re.compile(r"(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})")
_REST = re.compile(r"""(?:[^>"']|"[^"]*"|'[^']*')*+>""")
_RAW = {
    name: re.compile(f"</{name}", re.I)
    for name in ("script", "style", "noscript", "template", "title", "textarea")
}


class Token(NamedTuple):
    """One tag, or the text between two."""

    name: str
    """The tag's name in lower case, with "/" before it when it closes; "" for text."""
    content: str
    """The text with character references resolved; a tag's attributes as they stand."""
    line: int
    """Line of the file on which it begins, from 1."""


def tokens(text: str) -> Iterator[Token]:
    """Cut a page into tags and text; comments, doctypes and instructions are left out.

    Malformed markup never raises: what cannot be a tag is text, an unclosed comment or script reaches
    to the end of the page, as in a browser.
    """
    at, line, counted = 0, 1, 0
    while at < len(text):
        begin, name, attributes, end = _next_tag(text, at)
        if begin > at:
            yield Token("", unescape(text[at:begin]), line + text.count("\n", counted, at))
        line += text.count("\n", counted, begin)
        counted = begin
        if name:
            yield Token(name, attributes, line)
        at = end
        if name in _RAW:
            closing = _RAW[name].search(text, at)
            stop = closing.start() if closing else len(text)
            if name == "title":
                yield Token("", unescape(text[at:stop]), line)
            at = stop


def _next_tag(text: str, at: int) -> tuple[int, str, str, int]:
    """Find the next markup: where it begins, its name ("" to leave it out), attributes, its end."""
    begin = text.find("<", at)
    while begin >= 0:
        if text.startswith("<!--", begin):
            end = text.find("-->", begin + 4)
            return begin, "", "", end + 3 if end >= 0 else len(text)
        name = _NAME.match(text, begin + 1)
        if name or text.startswith(("<!", "<?"), begin):
            after = name.end() if name else begin + 2
            end = _tag_end(text, after)
            if end < 0:
                break  # no tag can end any more
            label = f"{name[1]}{name[2].lower()}" if name else ""
            return begin, label, text[after : end - 1], end
        begin = text.find("<", begin + 1)
    return len(text), "", "", len(text)


def _tag_end(text: str, at: int) -> int:
    """Find the offset after the ">" that ends a tag, -1 when there is none."""
    quoted = _REST.match(text, at, at + _LOOK_AHEAD)
    return quoted.end() if quoted else text.find(">", at) + 1 or -1
