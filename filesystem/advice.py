"""What an error tells an agent to do next, naming only tools that the agent has."""

import difflib
from collections.abc import Callable, Collection, Iterable

from .errors import (
    EditAmbiguous,
    EditNoMatch,
    FileError,
    FileMissing,
    IsAFolder,
    NameCollision,
    NotAFolder,
    NotWritable,
    QuotaExceeded,
    WriteConflict,
)
from .results import call_text

_ADVICE: tuple[tuple[type[FileError], str, str], ...] = (
    (FileMissing, "ls", "See what is there with {ls}."),
    (FileMissing, "glob", "Find it with {glob}."),
    (IsAFolder, "ls", "See what is in it with {ls}."),
    (NotAFolder, "read_file", "Read it with {read_file}."),
    (WriteConflict, "read_file", "Read it as it is now with {read_file}, then decide anew."),
    (EditNoMatch, "read_file", "Copy the text exactly from {read_file}."),
    (EditAmbiguous, "edit_file", "Include more of the text around, or pass every=true."),
    (QuotaExceeded, "delete", "Make room with the tool delete, or write less."),
    (NotWritable, "write_file", "Write to a path under /files instead."),
)


def advise(error: FileError, path: str, tools: Collection[str]) -> None:
    """Let `error` name `path` as the agent wrote it, and a next step that the agent can take."""
    error.path = path
    for kind, tool, sentence in _ADVICE:
        if isinstance(error, kind) and tool in tools:
            calls = {
                "ls": call_text("ls", path=_folder(error, path)),
                "glob": call_text("glob", pattern="/**"),
                "read_file": call_text("read_file", path=path),
            }
            error.hint = sentence.format(**calls)
            return


def _folder(error: FileError, path: str) -> str:
    return path if isinstance(error, IsAFolder) else (path.rstrip("/").rpartition("/")[0] or "/")


def in_namespace(error: NameCollision, path: str) -> NameCollision:
    """Return the collision with both paths as the agent sees them."""
    return NameCollision(path, f"/{path.strip('/').partition('/')[0]}/{error.existing}")


def similar(path: str, known: Iterable[str], show: Callable[[str], str]) -> str:
    """Return a sentence that names the known path most like `path`; empty when none is."""
    near = difflib.get_close_matches(path, list(known)[:2_000], n=1, cutoff=0.75)
    return f"Did you mean {show(near[0])!r}? " if near else ""
