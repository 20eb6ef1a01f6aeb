"""Taking a child's files over into its parent's, without losing anyone's version."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .bodies import ABSENT
from .errors import (
    FileMissing,
    IsAFolder,
    NameCollision,
    NotAFolder,
    WriteConflict,
)
from .stores import FileStore

CONFLICTS = "conflicts"
"""Folder of the parent in which the versions that lost their place are kept."""


class MergeRule(StrEnum):
    """What happens to a child's files when it ends."""

    MERGE = "merge"
    """Its changes are made in the parent's files."""
    BESIDE = "beside"
    """Its changed files are kept in a folder with the child's name."""


@dataclass(frozen=True, slots=True)
class Version:
    """One of the versions in a conflict."""

    owner: str
    """Who wrote it: a child's name, or the parent's."""
    path: str
    """Where it is kept, inside the parent's store; the path it was deleted from otherwise."""
    sha256: str | None
    """Hash of its content; None when this owner deleted the file."""


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Two changes of one path; both versions are kept."""

    path: str
    """The path that both changed."""
    kept: Version
    """What is at the path: the version that was there first."""
    other: Version
    """The child's version, kept under `conflicts/` (or its deletion, which was not made)."""

    def __str__(self) -> str:
        return f"{self.path!r}: {_told(self.kept)}, but {_told(self.other)}"


@dataclass(frozen=True, slots=True)
class MergeReport:
    """What became of a child's files; paths are inside the parent's store, sorted."""

    child: str
    """The child's name."""
    written: tuple[str, ...]
    """Files created or replaced."""
    deleted: tuple[str, ...]
    """Files deleted; with `beside`, files that the child deleted and the parent still has."""
    conflicts: tuple[MergeConflict, ...]
    """Paths that someone else had changed too."""


async def snapshot(store: FileStore) -> dict[str, str]:
    """Return the hash of every file: the base against which a child's changes are seen."""
    return {e.path: (await store.stat(e.path)).sha256 for e in await store.glob()}


class Merger:
    """Merges children, one after another or at once, into one parent's store.

    Merging a child again changes nothing more, so a merge that was cut off is simply repeated.
    """

    def __init__(self, parent: FileStore, name: str) -> None:
        self._parent = parent
        self._name = name
        self._writers: dict[str, tuple[str, str | None]] = {}

    async def merge(
        self,
        child: str,
        files: FileStore,
        *,
        base: Mapping[str, str],
        rule: MergeRule = MergeRule.MERGE,
    ) -> MergeReport:
        """Take over what `child` changed in `files` since `base`, its `snapshot` at the start.

        `child` becomes a folder name and is unique in the run. A path that the parent, or another
        child, changed since the base is a conflict: what is there stays, the child's version goes
        to `conflicts/<child>/<path>`.
        """
        now = await snapshot(files)
        changed = sorted(path for path, sha in now.items() if base.get(path) != sha)
        deleted = sorted(path for path in base if path not in now)
        if rule is MergeRule.BESIDE:
            return await self._beside(child, files, changed, deleted)
        written: list[str] = []
        conflicts: list[MergeConflict] = []
        # Deletions first: the child may have put a folder where a file was.
        gone = [p for p in deleted if await self._delete(child, p, base[p], conflicts)]
        for path in changed:
            if await self._write(child, files, path, base.get(path), conflicts):
                written.append(path)
        return MergeReport(child, tuple(written), tuple(gone), tuple(conflicts))

    async def _beside(
        self, child: str, files: FileStore, changed: list[str], deleted: list[str]
    ) -> MergeReport:
        written = [await self._keep(files, path, f"{child}/{path}") for path in changed]
        return MergeReport(child, tuple(written), tuple(deleted), ())

    async def _write(
        self,
        child: str,
        files: FileStore,
        path: str,
        base: str | None,
        conflicts: list[MergeConflict],
    ) -> bool:
        """Put the child's version at `path` if nobody else changed it; return whether it is there."""
        wanted = (await files.stat(path)).sha256
        try:
            await self._parent.write(path, files.stream(path), if_hash=base or ABSENT)
        except (WriteConflict, NameCollision, IsAFolder, NotAFolder) as error:
            present = error.actual if isinstance(error, WriteConflict) else None
            if present == wanted:
                return True
            place = error.existing if isinstance(error, NameCollision) else path
            if isinstance(error, NameCollision | IsAFolder | NotAFolder):
                present = await self._hash(place)
            kept_at = await self._keep(files, path, f"{CONFLICTS}/{child}/{path}")
            kept = Version(self._writer(place, present), place, present)
            conflicts.append(MergeConflict(path, kept, Version(child, kept_at, wanted)))
            return False
        self._writers[path] = (child, wanted)
        return True

    async def _delete(
        self, child: str, path: str, base: str, conflicts: list[MergeConflict]
    ) -> bool:
        """Delete `path` if nobody changed it; return whether it is gone."""
        try:
            await self._parent.delete(path, if_hash=base)
        except (FileMissing, NotAFolder):
            return True
        except WriteConflict as error:
            kept = Version(self._writer(path, error.actual), path, error.actual)
            conflicts.append(MergeConflict(path, kept, Version(child, path, None)))
            return False
        except IsAFolder:
            return True
        self._writers[path] = (child, None)
        return True

    async def _keep(self, files: FileStore, path: str, target: str) -> str:
        """Store the child's version at `target`, or beside it with a number; return the path."""
        sha256 = (await files.stat(path)).sha256
        number, place = 1, target
        while True:
            try:
                await self._parent.write(place, files.stream(path), if_hash=ABSENT)
            except WriteConflict as error:
                if error.actual == sha256:
                    return place
            except (NameCollision, IsAFolder, NotAFolder):
                pass
            else:
                return place
            number += 1
            first, slash, rest = target.partition("/")
            place = f"{first}-{number}{slash}{rest}"

    async def _hash(self, path: str) -> str | None:
        try:
            return (await self._parent.stat(path)).sha256
        except (FileMissing, IsAFolder, NotAFolder):
            return None

    def _writer(self, path: str, sha256: str | None) -> str:
        """Return who wrote the present version of `path`: a child merged before, or the parent."""
        writer, written = self._writers.get(path, (self._name, sha256))
        return writer if written == sha256 else self._name


def _told(version: Version) -> str:
    if version.sha256 is None:
        return f"{version.owner} deleted it"
    return f"the version of {version.owner} ({version.sha256[:16]}) is at {version.path!r}"
