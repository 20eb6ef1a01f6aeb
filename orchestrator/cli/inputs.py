"""What the user typed, checked before anything is read or spent. All raise `BadInput`."""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from .guard import BadInput
from .screen import say

LONGEST_TASK = 20_000
"""Characters of a question, task or message; the same limit as the research graph's own."""

MOST_READ = 16 * 1024 * 1024
"""Bytes read from standard input, so that an endless one ends in a message."""


def words(text: str, what: str) -> str:
    """A question, task or message; `-` stands for standard input."""
    if text == "-":
        text = _standard_input(what)
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").strip()
    if not text:
        raise BadInput(f"the {what} is empty: give it in quotes, or '-' to read standard input")
    if len(text) > LONGEST_TASK:
        raise BadInput(
            f"the {what} has {len(text):,} characters, at most {LONGEST_TASK:,} are taken: put the long "
            f"part into a file among the documents and keep the {what} short"
        )
    return text


def documents(docs: Sequence[str]) -> list[Path]:
    """The folders and files to read; each must exist. What is in them is checked by the corpus."""
    if not docs:
        raise BadInput("no documents given: name a folder or a file with --docs PATH")
    for name in docs:
        if not name.strip():
            raise BadInput("a path given with --docs is empty: is a variable of your shell unset?")
        if "\0" in name or not Path(name).exists():
            raise BadInput(f"there is no file or folder {name!r}: check the path given with --docs")
    return [Path(name) for name in docs]


def server(address: str | None) -> str | None:
    """A base URL, with scheme and host."""
    if address is None:
        return None
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise BadInput(
            f"{address!r} is no base URL: write it like http://127.0.0.1:8080/v1 (--base-url)"
        )
    return address


def seconds(value: float | None) -> float | None:
    """A limit of time: more than nothing, and a number."""
    if value is not None and not (math.isfinite(value) and value > 0):
        raise BadInput(f"--time {value}: give a number of seconds above 0")
    return value


def _standard_input(what: str) -> str:
    if sys.stdin.isatty():
        say(f"reading the {what} from standard input; end it with Ctrl-D")
    data = sys.stdin.buffer.read(MOST_READ)
    if len(data) == MOST_READ:
        raise BadInput(f"the {what} on standard input has {MOST_READ:,} bytes or more: give less")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"the {what} on standard input is not UTF-8 text: {error}") from error


def decisions(
    approve: Sequence[str], reject: Sequence[str], edit: Sequence[str], note: str
) -> dict[str, object]:
    """What a person decided, by call; a call named twice is refused."""
    made: list[tuple[str, object]] = [(call, "approve") for call in approve]
    made += [(call, {"decision": "reject", "note": note}) for call in reject]
    for text in edit:
        call, equals, arguments = text.partition("=")
        if not equals:
            raise BadInput(
                f"--edit {text!r} is not of the form CALL=JSON, e.g. 'main/c1={{\"n\": 2}}'"
            )
        made.append((call, {"decision": "edit", "arguments": arguments}))
    found = dict(made)
    if len(found) < len(made):
        raise BadInput("a call is named more than once: decide about each call one way")
    if note and not reject:
        raise BadInput("--note is for calls that are rejected: name one with --reject CALL")
    return found
