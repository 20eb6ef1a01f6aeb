"""From bytes to text when nobody says which encoding it is.

Certain: a byte order mark, valid UTF-8, a charset that the file declares. A guess otherwise: the CJK and
Cyrillic encodings are tried and taken only when nearly all of the result is common characters of that
script; the rest is read as Windows-1252, which always succeeds and is wrong for other 8-bit alphabets.
"""

import codecs
import re

from ..errors import FileSkipped

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_HEAD = 8_192  # bytes looked at for binary junk and for a declared charset
_SAMPLE = 65_536  # bytes decoded for a guess
_MAX_CONTROL = 0.02  # share of control characters above which bytes are not text
_MAX_BROKEN = 0.02  # share of broken sequences up to which text counts as damaged UTF-8
_DECLARED = re.compile(rb"(?:charset|encoding|coding)\s*[=:]\s*[\"']?([A-Za-z0-9_.:-]{2,30})", re.I)
# Families a declared charset must belong to; Python also knows codecs that are no charsets.
_KNOWN = re.compile(
    r"utf-?_?(?:8|16|32)|iso|latin|l\d|windows|cp-?\d|koi8|mac|s?hift|sjis|euc|gb|hz|big5|(?:us-)?ascii|tis|johab",
    re.I,
)
_CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\v\x08\x1b\x1a"))
# Encoding, the characters that speak for it, the share of the non-ASCII characters they must make up.
_GUESSES = (
    ("cp932", re.compile("[\u3040-\u30ff]"), 0.25),
    ("euc_jp", re.compile("[\u3040-\u30ff]"), 0.25),
    ("euc_kr", re.compile("[\uac00-\ud7a3]"), 0.7),
    ("gb18030", re.compile("[\u4e00-\u9fff\u3000-\u303f\uff01-\uff5e]"), 0.9),
    ("cp1251", re.compile("(?<=[\u0400-\u04ff])[\u0430-\u044f]"), 0.6),
    ("koi8_r", re.compile("(?<=[\u0400-\u04ff])[\u0430-\u044f]"), 0.6),
)


def decode(data: bytes) -> str:
    """Decode a file's bytes; line ends become ``\\n``. Raises FileSkipped for binary content."""
    return _decode(data).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def is_binary(data: bytes) -> bool:
    """Tell whether bytes are no text in any encoding known here, from their first 8 KB."""
    head = data[:_HEAD]
    if any(head.startswith(mark) for mark, _ in _MARKS) or _unmarked_utf16(head):
        return False
    control = len(head) - len(head.translate(None, _CONTROL))
    return b"\x00" in head or control > len(head) * _MAX_CONTROL


def _decode(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if wide := _unmarked_utf16(data[:_HEAD]):
        return data.decode(wide, "replace")
    if is_binary(data):
        raise FileSkipped("binary content, not text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(data)


def _unmarked_utf16(head: bytes) -> str | None:
    """Recognise UTF-16 without a mark: every other byte of mostly Latin text is zero."""
    pairs = len(head) // 2
    if pairs < 8:
        return None
    if head[1::2].count(0) > pairs * 0.7 and head[0::2].count(0) < pairs * 0.05:
        return "utf-16-le"
    if head[0::2].count(0) > pairs * 0.7 and head[1::2].count(0) < pairs * 0.05:
        return "utf-16-be"
    return None


def _decode_other(data: bytes) -> str:
    declared = _DECLARED.search(data[:_HEAD])
    if declared and (text := _try(data, declared[1].decode("ascii"))) is not None:
        return text
    damaged = data.decode("utf-8", "replace")
    foreign = sum(character > "\x7f" for character in damaged[:_SAMPLE])
    if damaged[:_SAMPLE].count("\ufffd") <= foreign * _MAX_BROKEN:
        return damaged
    guess = _guess(data)
    text = _try(data, guess) if guess else None
    return text if text is not None else _windows_1252(data)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding) if _KNOWN.match(encoding) else None
    except (LookupError, ValueError):
        return None


def _guess(data: bytes) -> str | None:
    """Name the encoding whose telltale characters make up the largest share above its threshold."""
    best: tuple[float, str] | None = None
    for encoding, telltale, share in _GUESSES:
        sample = codecs.getincrementaldecoder(encoding)("strict")
        try:
            text = sample.decode(data[:_SAMPLE])
        except UnicodeDecodeError:
            continue
        foreign = sum(character > "\x7f" for character in text)
        found = len(telltale.findall(text)) / max(foreign, 1)
        if found >= share and (best is None or found / share > best[0]):
            best = (found / share, encoding)
    return best[1] if best else None


def _windows_1252(data: bytes) -> str:
    """Decode as Windows-1252; its five undefined bytes as Latin-1 does."""
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
