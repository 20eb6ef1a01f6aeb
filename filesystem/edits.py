"""Replacing text exactly, and saying why text was not found."""

import re
import unicodedata
from dataclasses import dataclass

from .errors import BadArgument, EditAmbiguous, EditFailed, EditNoMatch
from .text import border_before, count_lines, encode, is_text

_LINES = 20_000
"""Lines looked at for the nearest text."""
_WIDTH = 400
"""Characters of a line looked at, and of the nearest text shown."""
_NUMBERED = re.compile(r"\s*\d+\s?[\t:|]")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The outcome of `replace_exact`."""

    data: bytes
    """The new content."""
    count: int
    """Places replaced, 1 or more."""
    line: int
    """Line of the first place, base 1."""


def replace_exact(path: str, data: bytes, old: str, new: str, *, every: bool) -> Replacement:
    r"""Replace `old` by `new` in the text `data`: the one place, or with `every` all places.

    `\n` in `old` also matches `\r\n` where the exact text does not occur, and `new` then takes that
    line end too; in a file whose every line ends with `\r\n`, so does any `\n` of `old` and `new`
    when neither holds a `\r`. Raises `EditNoMatch` with the nearest text, `EditAmbiguous` with the
    lines, `EditFailed` when `data` is no text, `BadArgument` for an empty or unchanged `old`.
    """
    if not old or old == new:
        problem = "is empty" if not old else "equals the new text"
        raise BadArgument(path, f"the text to replace {problem}", "Give the exact text to change.")
    if not is_text(data):
        raise EditFailed(path, "the file is not UTF-8 text and cannot be edited as text")
    text = data.decode("utf-8", "surrogatepass")
    pattern, new = _pattern(text, old, new)
    places = [match.start() for match in pattern.finditer(text)]
    if not places:
        raise _no_match(path, text, old)
    if len(places) > 1 and not every:
        raise _ambiguous(path, text, places)
    result = pattern.sub(lambda _: new, text)
    return Replacement(encode(result), len(places), text.count("\n", 0, places[0]) + 1)


def _pattern(text: str, old: str, new: str) -> tuple[re.Pattern[str], str]:
    """Return what to look for and what to put there, with the line ends that the file has."""
    plain = "\r" not in old and "\r" not in new
    crlf = text.count("\r\n")
    if crlf and plain and crlf == text.count("\n"):
        return re.compile(re.escape(old.replace("\n", "\r\n"))), new.replace("\n", "\r\n")
    if old in text or not crlf or "\n" not in old or "\r" in old:
        return re.compile(re.escape(old)), new
    pattern = re.compile("\r?\n".join(re.escape(part) for part in old.split("\n")))
    found = pattern.search(text)
    if found and "\r\n" in found[0] and plain:
        new = new.replace("\n", "\r\n")
    return pattern, new


def _ambiguous(path: str, text: str, places: list[int]) -> EditAmbiguous:
    lines = [str(text.count("\n", 0, place) + 1) for place in places[:5]]
    listed = ", ".join(lines) + (", ..." if len(places) > 5 else "")
    return EditAmbiguous(
        path,
        f"the text to replace occurs {len(places):,} times, on lines {listed}; nothing changed",
        "Include more of the text around the place, or replace every occurrence.",
    )


def _no_match(path: str, text: str, old: str) -> EditNoMatch:
    if not text:
        return EditNoMatch(path, "the file is empty", "Write its content instead.")
    problem = f"the text to replace does not occur{_reason(text, old)}; nothing changed"
    if near := _nearest(text, old):
        line, shown = near
        problem += f". The nearest text, on line {line}, is:\n{shown}\n(end of the nearest text)"
    return EditNoMatch(path, problem, "Copy the text to replace from the file as it is now.")


def _reason(text: str, old: str) -> str:
    """Say in which way the text would occur, where there is such a way."""
    if all(_NUMBERED.match(line) for line in old.split("\n") if line.strip()) and old.strip():
        return " (it seems to begin with line numbers: leave them out)"
    for reason, form in (
        ("it would but for white space or line ends", _unspaced),
        ("it would but for upper and lower case", str.casefold),
        ("it would but for how accents are encoded", _composed),
    ):
        wanted = form(old)
        if wanted and wanted in form(text):
            return f" ({reason})"
    return ""


def _unspaced(text: str) -> str:
    return " ".join(text.split())


def _composed(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _nearest(text: str, old: str) -> tuple[int, str] | None:
    """Return (line, text) of the part of `text` most like `old`, by shared three-letter groups."""
    wanted = max(old.split("\n"), key=len)
    above = old.split("\n").index(wanted)
    groups = _groups(wanted)
    best, best_line = 0.0, 0
    lines = text.split("\n", _LINES)[:_LINES]
    for number, line in enumerate(lines):
        shared = _groups(line)
        score = len(groups & shared) / (len(groups | shared) or 1)
        if score > best:
            best, best_line = score, number
    if best < 0.2:
        return None
    first = max(best_line - above, 0)
    shown = "\n".join(line[:_WIDTH] for line in lines[first : first + count_lines(old)])
    return first + 1, shown if len(shown) <= _WIDTH else shown[: border_before(shown, _WIDTH)]


def _groups(line: str) -> set[str]:
    folded = line[:_WIDTH].casefold().strip()
    return {folded[i : i + 3] for i in range(max(len(folded) - 2, 1))}
