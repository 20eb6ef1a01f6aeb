r"""Untrusted text inside Markdown: shown as it is, never read as markup, and readable back.

`escape` puts a backslash before every character that could start a heading, list, table, link, image,
HTML, a citation number or a mark of ours; `unescape` takes it away again: `unescape(escape(t)) == clean(t)`.
"""

import re

_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]|\x9b[0-?]*[ -/]*[@-~]"
)
# Controls, marks that turn the writing direction, tags, and halves of surrogate pairs.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f\ud800-\udfff]"
)
_ANYWHERE = re.compile(
    r"""[\\`*\[\]<~]
    | (?<![^\W_])_ | _(?![^\W_])        # snake_case stays as it is
    | (?<!\S)\#                          # also closes a heading
    | &(?=\#?\w+;)
    | (?<=https):(?=//) | (?<=http):(?=//) | (?<=ftp):(?=//)
    | (?<=\bwww)\.
    """,
    re.X | re.I,
)
_MARKED = re.compile(
    r"""(?<!`)(?P<code>`{1,2})(?!`)(?P<literal>.{1,500}?)(?<!`)(?P=code)(?!`)
    | (?<![A-Za-z0-9*])(?P<stars>\*{1,3})(?=[^\s*])(?P<starred>.{1,500}?)(?<=[^\s*])(?P=stars)(?![A-Za-z0-9*])
    | (?<!\w)(?!__\w+__)(?P<lows>_{1,3})(?=[^\s_])(?P<lowered>.{1,500}?)(?<=[^\s_])(?P=lows)(?!\w)
    """,
    re.X,
)
_MARKS = re.compile(r"[*_`]+")
_AT_START = re.compile(r"[-+=>|:]|\d{1,9}(?P<dot>[.)])(?=\s|$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def clean(text: str) -> str:
    """One line without controls, terminal sequences and invisible marks, single spaces.

    Quotes are compared in this form when a finished report is read back.
    """
    text = _UNSEEN.sub("", " ".join(_ANSI.sub("", text).split()))
    return " ".join(text.split())


def unmarked(text: str) -> str:
    """The cleaned text without Markdown's marks of emphasis and inline code, as a reader would see it.

    Marks that stand for themselves stay: `5 * 3`, `snake_case`, `__init__`.
    """
    text = clean(text)
    seen = _MARKED.sub(_inside, text)
    for mark in ("**", "__"):  # emphasis that a neighbouring sentence closes or opens
        if seen.count(mark) == 1 and len(seen) > len(mark):
            seen = seen.removeprefix(mark) if text.startswith(mark) else seen
            seen = seen.removesuffix(mark) if text.endswith(mark) else seen
    return seen


def marked_like(text: str, source: str) -> str | None:
    """The first piece of a source that reads like a text whatever marks stand in either, or `None`."""
    words = [_MARKS.sub("", word) for word in clean(text).split()]
    between = (r"[*_`]*".join(map(re.escape, word)) for word in words if word)
    pattern = r"[\s*_`]+".join(between)
    found = re.search(pattern, source) if pattern else None
    return found.group() if found else None


def escape(text: str) -> str:
    """The cleaned text for one line of Markdown, safe at its start and anywhere in it."""
    text = _inline(text)
    start = _AT_START.match(text)
    if start is None:
        return text
    at = start.start("dot") if start["dot"] else 0
    return f"{text[:at]}\\{text[at:]}"


def unescape(markdown: str) -> str:
    """The text that `escape` was given, cleaned."""
    return _ESCAPED.sub(r"\1", markdown)


def quoted(text: str) -> str:
    """The escaped text between quotation marks, its own ones escaped too; not for the start of a line."""
    return '"' + _inline(text).replace('"', '\\"') + '"'


def _inline(text: str) -> str:
    return _ANYWHERE.sub(r"\\\g<0>", clean(text))


def _inside(match: re.Match[str]) -> str:
    if match["code"]:
        return match["literal"].strip() or match.group()
    return _MARKED.sub(_inside, match["starred"] or match["lowered"])


def clip(text: str, most: int) -> str:
    """The cleaned text, cut at a word after at most `most` characters."""
    text = clean(text)
    if len(text) <= most:
        return text
    return f"{text[:most].rsplit(' ', 1)[0]}..."
