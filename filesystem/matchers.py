"""The two ways to find text: literally, in this process, and by regular expression, in a child."""

import contextlib
import marshal
import math
import os
import re
import subprocess
import sys
import threading
import time
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, cast

from .errors import BadPattern, SearchTimedOut, StorageFailed
from .needles import Needle
from .regex_child import Found, positions

_CHILDREN = threading.BoundedSemaphore(max(2, os.cpu_count() or 2))
"""Regular expressions that run at once in this process; others wait."""


class Matcher(Protocol):
    """Finds one query in texts; used as a context manager."""

    needle: Needle
    """What stands in every file that holds a match."""

    def fold(self, text: str) -> str:
        """Return the form of `text` to search: as many lines, perhaps another length."""
        ...

    def find(self, texts: Sequence[str], limit: int) -> list[list[Found]]:
        """Return the matches in each of the folded `texts`, up to `limit` of each."""
        ...

    def close(self) -> None:
        """Free what the matcher holds."""
        ...


def compose(text: str) -> str:
    """Return `text` in the composed normal form (NFC)."""
    if text.isascii():
        return text
    try:
        # Below U+0100 nothing can be composed, and this is many times faster than asking.
        text.encode("latin-1")
    except UnicodeEncodeError:
        return unicodedata.normalize("NFC", text)
    return text


class LiteralMatcher:
    """Finds a plain text, whatever its normal form; takes time in proportion to the text."""

    def __init__(self, wanted: str, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._wanted = self.fold(wanted)
        self.needle = Needle([self._wanted], any_case=ignore_case)

    def fold(self, text: str) -> str:
        """Return the form of `text` to search; see `Matcher.fold`."""
        composed = compose(text)
        if not self._ignore_case:
            return composed
        return composed.lower() if composed.isascii() else compose(composed.casefold())

    def find(self, texts: Sequence[str], limit: int) -> list[list[Found]]:
        """Return the matches in each text; see `Matcher.find`."""
        return [positions(self._next, t, limit) if self._wanted in t else [] for t in texts]

    def _next(self, text: str, place: int) -> tuple[int, int] | None:
        start = text.find(self._wanted, place)
        return None if start < 0 else (start, start + len(self._wanted))

    def close(self) -> None:
        """Free what the matcher holds; see `Matcher.close`."""


class RegexMatcher:
    """Finds a regular expression in a child process, which is killed at the deadline.

    A process and not a thread, because a match in progress cannot be interrupted and holds the
    interpreter lock; not another engine, because models write Python's syntax.
    """

    def __init__(self, pattern: str, *, ignore_case: bool, deadline: float) -> None:
        self._pattern = compose(pattern)
        self._killed = False
        self._child = _start_child(pattern, deadline)
        seconds = max(deadline - time.monotonic(), 0)
        self._timer = threading.Timer(seconds, self._kill)
        self._timer.daemon = True
        self._timer.start()
        flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0)
        try:
            answer = self._ask((self._pattern, int(flags), math.ceil(seconds)))
        except BaseException:
            self.close()
            raise
        refusal, texts, any_case = cast(tuple[str, list[str], bool], answer)
        self.needle = Needle(texts, any_case=any_case)
        if refusal:
            self.close()
            raise BadPattern(
                pattern,
                f"not a regular expression that Python can read ({refusal})",
                "Correct it, or search for the plain text instead.",
            )

    def fold(self, text: str) -> str:
        """Return the form of `text` to search; see `Matcher.fold`."""
        return compose(text)

    def find(self, texts: Sequence[str], limit: int) -> list[list[Found]]:
        """Return the matches in each text; see `Matcher.find`."""
        return cast(list[list[Found]], self._ask((list(texts), limit)))

    def _ask(self, message: tuple[object, ...]) -> object:
        sink, source = self._child.stdin, self._child.stdout
        assert sink is not None
        assert source is not None
        try:
            marshal.dump(cast(Any, message), sink)
            sink.flush()
            return marshal.load(source)  # noqa: S302 - written by our own program
        except (OSError, EOFError, ValueError, TypeError) as error:
            if self._killed or self._child.wait(timeout=5) < 0:
                raise timed_out(self._pattern) from None
            raise SearchTimedOut(
                self._pattern, "the search stopped before its end", "Use a simpler pattern."
            ) from error

    def _kill(self) -> None:
        self._killed = True
        self._child.kill()

    def close(self) -> None:
        """Free what the matcher holds; see `Matcher.close`."""
        self._timer.cancel()
        self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._child.wait()
        _CHILDREN.release()


def _start_child(pattern: str, deadline: float) -> "subprocess.Popen[bytes]":
    if not _CHILDREN.acquire(timeout=max(deadline - time.monotonic(), 0)):
        raise timed_out(pattern)
    program = str(Path(__file__).with_name("regex_child.py"))
    try:
        return subprocess.Popen(  # noqa: S603 - our own program, no shell
            [sys.executable, "-I", "-S", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        _CHILDREN.release()
        raise StorageFailed(
            pattern, f"the search process cannot be started ({error.strerror})"
        ) from error


def timed_out(pattern: str) -> SearchTimedOut:
    """Return the error of a search for `pattern` whose time is over."""
    return SearchTimedOut(
        pattern,
        "the search did not end within its time and was stopped",
        "Use a plain text or a simpler pattern (no nested repetition), or fewer files.",
    )
