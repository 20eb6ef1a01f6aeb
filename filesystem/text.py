"""Text as bytes and back, exactly, and where text may be cut.

Every Python string has one encoding here: UTF-8 in which lone surrogates keep their own three bytes,
so that a string always comes back as it went in. Bytes that are not such text are shown with
replacement characters and are never written back from what was shown. Only a line feed ends a line.
"""

import codecs
import unicodedata

_JOINERS = frozenset("\u200c\u200d")
_REACH = 64
"""Characters a cut may move to find a border; beyond it a pile of marks is cut all the same."""


def encode(text: str) -> bytes:
    """Return the exact bytes of `text`; lone surrogates survive."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """Return the text of `data`: exact when `data` came from `encode`, else with U+FFFD for bad bytes."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def is_text(data: bytes) -> bool:
    """Whether `decode(data)` loses nothing."""
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def decode_head(data: bytes) -> str:
    """Return the text of the beginning of a body, without a character that the cut split."""
    try:
        return codecs.getincrementaldecoder("utf-8")("surrogatepass").decode(data, final=False)
    except UnicodeDecodeError:
        return codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=False)


def decode_tail(data: bytes) -> str:
    """Return the text of the end of a body, without a character that the cut split."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return decode(data[start:])


def count_lines(data: str) -> int:
    """Number of lines: line feeds, plus one for a last line without one. The empty text has none."""
    return data.count("\n") + (1 if data and not data.endswith("\n") else 0)


def border_before(text: str, index: int) -> int:
    """Return the last place at or before `index` where `text` may be cut between whole characters."""
    for place in range(index, max(index - _REACH, 0), -1):
        if _is_border(text, place):
            return place
    return index if index > _REACH else 0


def border_after(text: str, index: int) -> int:
    """Return the first place at or after `index` where `text` may be cut between whole characters."""
    for place in range(index, min(index + _REACH, len(text))):
        if _is_border(text, place):
            return place
    return index if index + _REACH < len(text) else len(text)


def _is_border(text: str, index: int) -> bool:
    if index <= 0 or index >= len(text):
        return True
    left, right = text[index - 1], text[index]
    if left.isascii() and right.isascii():
        return not (left == "\r" and right == "\n")
    return not (_extends(right) or _holds(left, right) or _splits_flag(text, index))


def _extends(char: str) -> bool:
    """Whether `char` belongs to the one before it: marks, joiners, skin tones, tags, Hangul parts."""
    return (
        unicodedata.category(char)[0] == "M"
        or char in _JOINERS
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or "\u1160" <= char <= "\u11ff"
    )


def _holds(left: str, right: str) -> bool:
    """Whether `left` binds what follows: a joiner, a virama before a letter, half a surrogate pair."""
    return (
        left == "\u200d"
        or (unicodedata.combining(left) == 9 and unicodedata.category(right)[0] == "L")
        or ("\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff")
    )


def _splits_flag(text: str, index: int) -> bool:
    """Whether a cut at `index` would part two regional indicators that make one flag."""
    start = index
    while start and "\U0001f1e6" <= text[start - 1] <= "\U0001f1ff":
        start -= 1
    return (index - start) % 2 == 1 and "\U0001f1e6" <= text[index] <= "\U0001f1ff"
