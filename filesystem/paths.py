"""Paths inside a store: which are accepted, which names are the same, which a glob pattern means.

A store path is relative, parts joined by `/`, no `..`. What is refused here is refused by every
store alike, so that a run that worked in memory works on disk and on another system.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from .errors import BadPattern, PathRefused

RESERVED = ".undrift"
"""Top folder in which a disk store keeps its lock and unfinished writes."""
MAX_NAME = 255
"""Bytes of one name: the limit of the common file systems."""
MAX_PATH = 1024
"""Bytes of a whole path: macOS's limit, the smaller of the two supported systems."""


def clean_path(path: str, *, root_ok: bool = False) -> str:
    """Return `path` without empty and `.` parts; "" (the root) only with `root_ok`.

    Raises `PathRefused` for an absolute path, `..`, control characters and NUL, lone surrogates,
    names over 255 bytes, paths over 1,024 bytes and the reserved top folder.
    """
    if path.startswith("/"):
        raise PathRefused(path, "the path is absolute", "Give a path inside the store.")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for part in parts:
        if problem := _bad_name(part):
            raise PathRefused(path, problem, "Choose a plain name.")
    if parts and fold_name(parts[0]) == RESERVED:
        raise PathRefused(path, f"the name {RESERVED!r} is reserved", "Choose another name.")
    cleaned = "/".join(parts)
    if len(cleaned.encode()) > MAX_PATH:
        raise PathRefused(path, f"the path is longer than {MAX_PATH} bytes", "Shorten it.")
    if not cleaned and not root_ok:
        raise PathRefused(path, "the path names no file", "Give a file name.")
    return cleaned


def _bad_name(name: str) -> str:
    if name == "..":
        return "the path contains '..'"
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in name):
        return "the name contains NUL, a control character, a line break or a lone surrogate"
    if len(name.encode()) > MAX_NAME:
        return f"a name is longer than {MAX_NAME} bytes"
    return ""


def fold_name(name: str) -> str:
    """Return the form in which two names (or paths) are equal when they may collide on some system."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())


def parents(path: str) -> list[str]:
    """Return the folders above `path`, outermost first: "a/b/c" gives ["a", "a/b"]."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]


def in_order(path: str) -> list[str]:
    """Sort key of paths: part by part, so that a folder's files stand together."""
    return path.split("/")


def glob_matches(pattern: str, path: str) -> bool:
    """Whether `path` matches `pattern`: `*`, `?`, `[...]` inside a name, `**` for any folders.

    Normal forms are equal. Takes time in proportion to both lengths, whatever the pattern.
    Raises `BadPattern` for a pattern over 1,024 characters.
    """
    if pattern == "**":
        return True
    if len(pattern) > MAX_PATH:
        raise BadPattern(pattern, f"the pattern is longer than {MAX_PATH} characters")
    return _parts_match(_compiled(pattern), unicodedata.normalize("NFC", path).split("/"))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    parts = [p for p in unicodedata.normalize("NFC", pattern).split("/") if p not in ("", ".")]
    # fnmatch writes its stars as atomic groups, so that a name costs no exponential time.
    return tuple(None if part == "**" else re.compile(fnmatch.translate(part)) for part in parts)


def _parts_match(patterns: Sequence[re.Pattern[str] | None], parts: Sequence[str]) -> bool:
    """Match name by name; `reach` holds how many names each prefix of the patterns may have used."""
    reach = {0}
    for pattern in patterns:
        if pattern is None:
            reach = set(range(min(reach), len(parts) + 1)) if reach else reach
        else:
            reach = {n + 1 for n in reach if n < len(parts) and pattern.match(parts[n])}
    return len(parts) in reach
