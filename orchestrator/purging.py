"""Taking a secret out of a whole run folder: log, stored bodies, transcripts, reports, agents' files."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filesystem import RunFolder
from memory import RunForked, SecretPurged, SqliteEventLog, purge_log, read_entries, written_forms

from .errors import PurgeRefused
from .log_reading import recorded_codec
from .run_state import started_of
from .runs import DAMAGED, list_runs
from .trust import is_ours, mark_as_ours

PURGED = "[purged]"
"""What stands in place of a secret that was taken out."""
SHORTEST = 6
"""Characters; taking out a shorter text would tear holes into words."""
_LOG = {(f"events.{ending}",) for ending in ("db", "db-wal", "db-shm", "db-journal", "lock")}


@dataclass(frozen=True, slots=True)
class _Replacing:
    """Texts and what takes their place, the longest first."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def secret(cls, secret: str) -> "_Replacing":
        return cls(tuple((form, PURGED) for form in written_forms(secret)))

    def text(self, text: str) -> str:
        for old, new in self.pairs:
            text = text.replace(old, new)
        return text

    def data(self, data: bytes) -> bytes:
        for old, new in self.pairs:
            data = data.replace(old.encode("utf-8", "surrogatepass"), new.encode())
        return data


def purge_run(path: Path, secret: str) -> SecretPurged:
    """Replace `secret` by `[purged]` everywhere in the run at `path`, and record that in its log.

    It is found as it stands, in JSON, in JSON inside JSON, and in URLs; not in base64, in compressed
    files or in pieces. Forks, backups and copies of the run keep it. An interrupted purge may be
    repeated. Returns what was recorded. Raises `PurgeRefused`, `LogLocked`, `LogError`, `NotARunFolder`.
    """
    if len(secret) < SHORTEST:
        raise PurgeRefused(
            f"a secret of {len(secret)} characters is too short: give {SHORTEST} or more"
        )
    folder = RunFolder.open(path)
    SqliteEventLog.check_unlocked(folder.events_db)
    started = started_of(read_entries(folder.events_db, ""), path)
    ours = is_ours(path, started)
    replacing = _Replacing.secret(secret)
    renamed = _new_bodies(folder, replacing)
    names = tuple((old, new) for old, new in renamed.items()) + tuple(
        (old[:16], new[:16]) for old, new in renamed.items()
    )
    both = _Replacing(replacing.pairs + names)
    changed = [file for file in _files(path) if both.data(file.read_bytes()) != file.read_bytes()]
    event = purge_log(
        folder.events_db, both.text, recorded_codec, files=len(changed) + len(renamed)
    )
    for file in changed:
        folder.write_bytes(file.relative_to(path).as_posix(), both.data(file.read_bytes()))
    for body in _bodies(folder):
        if body.name.partition(".")[0] in renamed:
            body.unlink()
    _check_gone(path, replacing)
    if ours:
        mark_as_ours(folder, started_of(read_entries(folder.events_db, ""), path))
    return event


def forks_of(path: Path) -> list[str]:
    """Names of the runs beside the one in `path` that were forked from it, and so hold its events."""
    name = RunFolder.open(path).run_id
    found: list[str] = []
    for info in list_runs(path.absolute().parent):
        if info.kind == DAMAGED:
            continue
        events = read_entries(RunFolder.open(info.folder).events_db, "")
        if any(isinstance(e.event, RunForked) and e.event.origin == name for e in events):
            found.append(info.run_id)
    return found


def _new_bodies(folder: RunFolder, replacing: _Replacing) -> dict[str, str]:
    """Store the cleaned form of each body that holds the secret; old hash to new hash.

    The old ones go last of all: the log must never name a body that is not there.
    """
    renamed: dict[str, str] = {}
    for body in _bodies(folder):
        data = body.read_bytes()
        clean = replacing.data(data)
        if clean != data:
            old, _, ending = body.name.partition(".")
            renamed[old] = hashlib.sha256(clean).hexdigest()
            folder.write_bytes(f"artifacts/{renamed[old]}.{ending}", clean)
    return renamed


def _bodies(folder: RunFolder) -> list[Path]:
    return [path for path in sorted(folder.artifacts.glob("*")) if _is_file(path)]


def _files(path: Path) -> Iterator[Path]:
    """Every file of the run folder but the log and the stored bodies; links are not followed."""
    for file in sorted(path.rglob("*")):
        inside = file.relative_to(path).parts
        if inside[0] != "artifacts" and inside not in _LOG and _is_file(file):
            yield file


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _check_gone(path: Path, replacing: _Replacing) -> None:
    """Look at every byte and every name of the folder again."""
    left: list[str] = []
    for found in sorted(path.rglob("*")):
        name = found.relative_to(path).as_posix()
        if replacing.text(name) != name:
            left.append(f"in the name of a file in {str(found.parent)!r}")
        elif _is_file(found) and replacing.data(data := found.read_bytes()) != data:
            left.append(f"in {str(found)!r}")
    if left:
        raise PurgeRefused(
            f"the secret was taken out, but is still {'; '.join(left)}: remove or rename that by hand"
        )
