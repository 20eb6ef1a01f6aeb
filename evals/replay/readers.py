"""Read recorded runs from files and folders: what can be used, and what was rejected and why."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory import MemoryError_, loads

from ..errors import TrajectoryError
from .formats import format_of
from .trajectory import Trajectory, check_pairing
from .undrift_log import read_log

_ENDINGS = (".json", ".jsonl", ".traj")
LOG_NAME = "events.db"


@dataclass(frozen=True, slots=True)
class Recorded:
    """What was read."""

    trajectories: tuple[Trajectory, ...]
    rejected: tuple[TrajectoryError, ...]
    """Runs and files that cannot be used; `name` of each is a fixed word."""

    def counts(self) -> dict[str, int]:
        """How many trajectories of each format."""
        return dict(Counter(trajectory.format for trajectory in self.trajectories))

    def reasons(self) -> dict[str, int]:
        """How many rejections of each name."""
        return dict(Counter(error.name for error in self.rejected))


def read_recorded(path: Path) -> Recorded:
    """Read a file, or everything below a folder: recordings by their ending, Undrift's logs by name.

    A file or run that cannot be read is a rejection, not a raise. Raises `TrajectoryError` named
    `no_such_path` when there is nothing at `path`.
    """
    if not path.exists():
        raise TrajectoryError("no_such_path", str(path), "give a file or folder of recorded runs")
    found: list[Trajectory] = []
    rejected: list[TrajectoryError] = []
    root = path if path.is_dir() else path.parent
    for file in _files(path):
        where = file.relative_to(root).as_posix()
        for result in _read_file(file, where):
            if isinstance(result, Trajectory):
                found.append(result)
            else:
                rejected.append(result)
    return Recorded(tuple(found), tuple(rejected))


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(
        file
        for file in path.rglob("*")
        if file.is_file() and (file.suffix in _ENDINGS or file.name == LOG_NAME)
    )


def _read_file(file: Path, where: str) -> Iterator[Trajectory | TrajectoryError]:
    if file.name == LOG_NAME:
        try:
            yield from read_log(file)
        except MemoryError_ as error:
            yield TrajectoryError("log_unreadable", where, str(error))
        return
    for spot, data in _documents(file, where):
        if isinstance(data, TrajectoryError):
            yield data
            continue
        try:
            runs = list(format_of(data, spot).runs(data, spot))
        except TrajectoryError as error:
            yield error
            continue
        for place, read in runs:
            yield _checked(read, place)


def _checked(read: Any, where: str) -> Trajectory | TrajectoryError:
    try:
        trajectory: Trajectory = read()
        check_pairing(trajectory.messages, where)
    except TrajectoryError as error:
        return error
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        # A recording is a stranger's JSON: any key may be missing and any value of another type.
        return TrajectoryError("wrong_shape", where, f"{type(error).__name__}: {error}")
    return trajectory


def _documents(file: Path, where: str) -> Iterator[tuple[str, Any]]:
    """The JSON documents of a file: one, or one a line; what is no JSON comes as a rejection."""
    raw = file.read_bytes()
    if file.suffix != ".jsonl":
        yield where, _parsed(raw, where, "not_json")
        return
    lines = [(n, line) for n, line in enumerate(raw.split(b"\n"), start=1) if line.strip()]
    for number, line in lines:
        half = number == lines[-1][0] and not raw.endswith(b"\n")
        yield (
            f"{where}:{number}",
            _parsed(line, f"{where}:{number}", "half_written" if half else "not_json"),
        )


def _parsed(raw: bytes, where: str, name: str) -> Any:
    try:
        return loads(raw)
    except (ValueError, RecursionError) as error:
        return TrajectoryError(name, where, str(error))
