"""Finding the files of a corpus: ignore rules, links, names; nothing is opened but rule files."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import FolderMissing
from .ignore import RULE_FILES, Rule, is_always_ignored, is_ignored, is_run, parse_rules
from .passages import Skipped

_MAX_RULE_FILE = 1_000_000  # bytes read of one rule file


@dataclass(frozen=True, slots=True)
class Candidate:
    """One file to read."""

    source: str
    """Path as in ``Passage.source``."""
    path: str
    """Absolute path to open; links inside the root are already resolved."""
    size: int
    """Bytes."""
    mtime_ns: int
    """Last change in nanoseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class _Folder:
    path: str
    parts: tuple[str, ...]
    rules: tuple[Rule, ...]


class Walk:
    """One walk over the roots: the files to read, and those that are left out with their reason."""

    def __init__(self, roots: Sequence[Path], leave_out: Sequence[Path] = ()) -> None:
        """``leave_out``: files of our own that may lie in a root. Raises FolderMissing."""
        self.candidates: list[Candidate] = []
        """Files to read, ordered by source."""
        self.skipped: list[Skipped] = []
        """Files and folders left out."""
        self._leave_out = {os.path.realpath(path) for path in leave_out}
        self._links: list[tuple[str, str, str]] = []
        for prefix, root in _named(roots):
            self._walk(prefix, root)
        self.candidates.sort(key=lambda candidate: candidate.source)

    def _walk(self, prefix: str, root: str) -> None:
        if not os.path.isdir(root):
            self._add(prefix + _shown(os.path.basename(root)), root)
            return
        self._links = []
        pending = [_Folder(root, (), ())]
        while pending:
            pending += self._folder(prefix, pending.pop())
        known = {candidate.path for candidate in self.candidates}
        for source, path, target in self._links:
            self._link(source, target, root, known, os.path.isdir(path))

    def _folder(self, prefix: str, folder: _Folder) -> Iterator[_Folder]:
        """Sort the entries of one folder; yield the folders in it."""
        try:
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            source = prefix + _shown("/".join(folder.parts)) + "/"
            self.skipped.append(Skipped(source, f"folder cannot be read: {error.strerror}"))
            return
        if folder.parts and is_run(entry.name for entry in entries):
            return  # else a report would be found as evidence for the next one
        rules = (*folder.rules, *_rules_in(folder))
        for entry in entries:
            parts = (*folder.parts, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_always_ignored(entry.name) or is_ignored(rules, parts, is_folder):
                continue
            source = prefix + _shown("/".join(parts))
            if entry.is_symlink():
                self._links.append((source, entry.path, os.path.realpath(entry.path)))
            elif is_folder:
                yield _Folder(entry.path, parts, rules)
            else:
                self._add(source, entry.path)

    def _link(self, source: str, target: str, root: str, known: set[str], is_folder: bool) -> None:
        """Follow a link to a file inside the root that is not found without it; report the others."""
        if target != root and not target.startswith(root.rstrip("/") + "/"):
            reason = "symbolic link that leaves the folder: not followed"
        elif is_folder:
            reason = "symbolic link to a folder: not followed"
        elif not os.path.exists(target):
            reason = "symbolic link that leads nowhere"
        elif target in known:
            reason = "symbolic link to a file that is read under its own name"
        else:
            self._add(source, target)
            return
        self.skipped.append(Skipped(source, reason))

    def _add(self, source: str, path: str) -> None:
        if os.path.realpath(path) in self._leave_out:
            return
        try:
            found = os.stat(path, follow_symlinks=False)
        except OSError as error:
            self.skipped.append(Skipped(source, f"cannot be read: {error.strerror}"))
            return
        if stat.S_ISREG(found.st_mode):
            self.candidates.append(Candidate(source, path, found.st_size, found.st_mtime_ns))
        else:
            self.skipped.append(Skipped(source, "not a regular file (device, pipe or socket)"))


def _named(roots: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Pair each root's real path with the prefix of its sources: "" for a single one, else "name/"."""
    real: dict[str, Path] = {}
    for root in roots:
        real.setdefault(os.path.realpath(root), root)
    taken: Counter[str] = Counter()
    for path, given in real.items():
        if not os.path.exists(path):
            raise FolderMissing(given)
        name = _shown(os.path.basename(path))
        taken[name] += 1
        first = taken[name] == 1
        if len(real) == 1 or (first and os.path.isfile(path)):
            yield "", path
        else:
            yield f"{name}/" if first else f"{name}-{taken[name]}/", path


def _rules_in(folder: _Folder) -> Iterator[Rule]:
    for name in RULE_FILES:
        path = os.path.join(folder.path, name)
        if os.path.isfile(path) and not os.path.islink(path):
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield from parse_rules(file.read(_MAX_RULE_FILE), len(folder.parts))
            except OSError:
                continue  # rules that cannot be read leave nothing out


def _shown(name: str) -> str:
    """Make a file name printable: bytes that are not UTF-8 become replacement characters."""
    return os.fsencode(name).decode("utf-8", "replace")
