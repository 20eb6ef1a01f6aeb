"""The errors of this package, in one tree.

    FilesystemError                 everything this package raises on purpose
    +-- RunFolderError              for people and programs
    |   +-- RunFolderExists
    |   +-- NotARunFolder
    +-- CorpusError                 for people: a folder of documents cannot be searched
    |   +-- FolderMissing
    |   +-- NothingReadable         no file in it has text that can be read
    |   +-- IndexUnusable           the index file cannot be opened, written, or is not ours
    |   +-- FileSkipped             one file; never leaves the corpus, becomes a `Skipped`
    +-- FileError                   what a model may read: names a path and what to do next
        +-- PathRefused             a path that no store accepts
        |   +-- UnsafeFile          the path leads to a link, a device, a pipe or a shared inode
        +-- FileMissing
        +-- IsAFolder
        +-- NotAFolder
        +-- NameCollision           a name that differs only by case or normal form
        +-- WriteConflict           the content is not what the writer believed
        +-- NotWritable
        +-- QuotaExceeded
        +-- EditFailed
        |   +-- EditNoMatch
        |   +-- EditAmbiguous
        +-- BadArgument
        |   +-- BadPattern
        +-- SearchTimedOut
        +-- StorageFailed           the disk is full, or the system refused

A tool call turns a `FileError` into a result that the model reads; nothing else becomes a prompt.
"""

from collections.abc import Sequence
from pathlib import Path


class FilesystemError(Exception):
    """Root of every error that this package raises on purpose."""


class RunFolderError(FilesystemError):
    """A run folder cannot be made or opened; the message says which and why."""


class RunFolderExists(RunFolderError):
    """The folder of a new run is already there: another run has this id."""


class NotARunFolder(RunFolderError):
    """The folder is missing or was not made by `RunFolder.create`."""


class CorpusError(FilesystemError):
    """A folder of documents cannot be searched; the message says which, why and what to do."""


class FolderMissing(CorpusError):
    """A corpus root does not exist."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"no such folder: {str(root)!r}. Check the path given for the documents.")


class NothingReadable(CorpusError):
    """The roots hold no file with readable text."""

    def __init__(self, roots: Sequence[Path], skipped: Sequence[tuple[str, str]]) -> None:
        places = ", ".join(repr(str(root)) for root in roots)
        shown = "; ".join(f"{source!r}: {reason}" for source, reason in skipped[:10])
        more = f" and {len(skipped) - 10} more" if len(skipped) > 10 else ""
        found = f"{len(skipped)} skipped ({shown}{more})" if skipped else "it holds no files"
        super().__init__(
            f"nothing to read in {places}: {found}. Give a folder with Markdown, text, HTML, PDF, "
            "DOCX, CSV, JSON or source files."
        )
        self.skipped = tuple(skipped)
        """Every (source, reason) that was left out."""


class IndexUnusable(CorpusError):
    """The index file cannot be used; the message says why."""

    def __init__(self, index: Path, problem: str) -> None:
        super().__init__(
            f"the index {str(index)!r} cannot be used: {problem}. Check the space and the rights there, "
            "or choose another place (on the command line with --out); it can be deleted at any time "
            "and is then made again."
        )


class FileSkipped(CorpusError):
    """One file has no text that can be read; the message is the reason."""


class FileError(FilesystemError):
    """A file operation that was refused or failed, worded so that a model can act on it."""

    def __init__(self, path: str, problem: str, hint: str = "") -> None:
        super().__init__(path, problem, hint)
        self.path = path
        """The path as the caller wrote it."""
        self.problem = problem
        """What is wrong, one clause without the path."""
        self.hint = hint
        """What to do next, a sentence; empty when the problem says it."""

    def __str__(self) -> str:
        shown = self.path if len(self.path) <= 200 else f"{self.path[:150]}...{self.path[-40:]}"
        said = f"{shown!r}: {self.problem}"
        return f"{said}. {self.hint}" if self.hint else f"{said}."


class PathRefused(FileError):
    """The path itself is not acceptable: `..`, NUL, too long, a reserved name."""


class UnsafeFile(PathRefused):
    """The path leads to something that is not a plain file of this store's own."""


class FileMissing(FileError):
    """No file at this path."""


class IsAFolder(FileError):
    """The path names a folder where a file is needed."""


class NotAFolder(FileError):
    """A part of the path, or the path itself, is a file where a folder is needed."""


class NameCollision(FileError):
    """Another path differs from this one only by case or Unicode normal form."""

    def __init__(self, path: str, existing: str) -> None:
        super().__init__(
            path,
            f"the name differs only by case or accents' encoding from {existing!r}",
            f"Use {existing!r}, or a clearly different name.",
        )
        self.existing = existing
        """The path that is already there."""


class WriteConflict(FileError):
    """The content is not what the writer based its change on; nothing was written."""

    def __init__(self, path: str, expected: str, actual: str | None, hint: str = "") -> None:
        now = "does not exist" if actual is None else f"now has the hash {actual[:16]}"
        super().__init__(path, f"the file {now}, expected {expected[:16]}; nothing written", hint)
        self.expected = expected
        """The SHA-256 the writer expected, or `ABSENT`."""
        self.actual = actual
        """The SHA-256 of the content that is there; None when there is no file."""


class NotWritable(FileError):
    """The place is read-only."""


class QuotaExceeded(FileError):
    """The write would take the store over its quota; nothing was written."""


class EditFailed(FileError):
    """An edit could not be applied; the file is unchanged."""


class EditNoMatch(EditFailed):
    """The text to replace does not occur; the problem shows the nearest text that does."""


class EditAmbiguous(EditFailed):
    """The text to replace occurs more than once."""


class BadArgument(FileError):
    """An argument is out of range or contradicts another."""


class BadPattern(BadArgument):
    """A glob or regular expression that cannot be read."""


class SearchTimedOut(FileError):
    """A search did not end within its time; it was stopped."""


class StorageFailed(FileError):
    """The disk is full or the system refused; what was there before is unchanged."""
