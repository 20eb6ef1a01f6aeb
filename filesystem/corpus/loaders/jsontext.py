"""JSON and JSON lines: the text as it stands, with strings decoded in place.

Keys stay beside their values and lines stay the file's own, so that a place can be looked up; broken JSON
is still text.
"""

import json
import re

from ..extracted import Extracted

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"?')  # an unclosed one too: it is not tried again inside
_MAX_KEY = 1_000  # characters of a string without spaces above which it is data, not text


def load_json(text: str) -> Extracted:
    """Read JSON, JSON lines or a notebook: escapes become characters, long encoded data is left out."""
    pieces: list[str] = []
    lines = [1]
    end = 0
    for match in _STRING.finditer(text):
        _add(pieces, lines, text[end : match.start()], step=1)
        _add(pieces, lines, _decoded(match.group()), step=0)
        end = match.end()
    _add(pieces, lines, text[end:], step=1)
    return Extracted("".join(pieces), lines=lines)


def _add(pieces: list[str], lines: list[int], piece: str, step: int) -> None:
    """Add text whose line breaks each lead ``step`` lines on in the file."""
    pieces.append(piece)
    for _ in range(piece.count("\n")):
        lines.append(lines[-1] + step)


def _decoded(literal: str) -> str:
    if len(literal) > _MAX_KEY and literal.isascii() and not re.search(r"\s|\\n", literal):
        return '"..."'
    if "\\" not in literal:
        return literal
    try:
        return f'"{json.loads(literal)}"'.encode("utf-8", "replace").decode("utf-8")
    except ValueError:
        return literal
