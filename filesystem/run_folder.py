"""The folder of one run: everything the run knows, readable by its owner only."""

import json
import re
from pathlib import Path

from .atomic import write_atomic
from .errors import NotARunFolder, RunFolderError, RunFolderExists, StorageFailed
from .paths import clean_path
from .text import encode

_MARK = "run.json"
_FORMAT = 1
"""Version of the folder's layout, stored in `run.json`."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


class RunFolder:
    """`runs/<id>/`: reports, log, transcripts, artifacts and the agents' files of one run.

    Make one with `create`, open an old one with `open`.
    """

    def __init__(self, path: Path, run_id: str) -> None:
        self.path = path
        """The folder itself."""
        self.run_id = run_id
        """The run's id: letters, digits, `.`, `_`, `-`; at most 100 characters."""

    @classmethod
    def create(cls, root: Path, run_id: str) -> "RunFolder":
        """Make the folder `root/run_id` with mode 0700.

        Raises `RunFolderExists` when it is there, `RunFolderError` for an id that is no plain
        name, `StorageFailed` when the system refuses.
        """
        if not _ID.match(run_id):
            raise RunFolderError(
                f"run id {run_id!r}: use letters, digits, '.', '_' and '-', 100 at most"
            )
        run = cls(root / run_id, run_id)
        try:
            root.mkdir(parents=True, exist_ok=True)
            run.path.mkdir(mode=0o700)
            for folder in (run.artifacts, run.transcripts, run.files):
                folder.mkdir(mode=0o700)
        except FileExistsError as error:
            raise RunFolderExists(
                f"{str(error.filename)!r} exists already: choose another run id, or open that run"
            ) from error
        except OSError as error:
            raise StorageFailed(
                str(run.path), f"the run folder cannot be made ({error.strerror or error})"
            ) from error
        run.write_text(_MARK, json.dumps({"run": run_id, "format": _FORMAT}) + "\n")
        return run

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Open the folder of an earlier run. Raises `NotARunFolder` when it is none."""
        try:
            mark: object = json.loads((path / _MARK).read_bytes())
        except FileNotFoundError:
            what = "it has no run.json" if path.is_dir() else "there is no such folder"
            raise NotARunFolder(f"{str(path)!r} is not a run folder: {what}") from None
        except (OSError, ValueError) as error:
            raise NotARunFolder(f"{str(path / _MARK)!r} cannot be read: {error}") from error
        match mark:
            case {"run": str(run_id), "format": int(layout)} if layout <= _FORMAT:
                return cls(path, run_id)
            case {"format": int(layout)}:
                raise NotARunFolder(
                    f"{str(path)!r} has layout {layout}; this version reads up to {_FORMAT}: update"
                )
            case _:
                raise NotARunFolder(f"{str(path / _MARK)!r} does not describe a run")

    @property
    def events_db(self) -> Path:
        """The event log, an SQLite file."""
        return self.path / "events.db"

    @property
    def artifacts(self) -> Path:
        """Folder of the bodies named by their hash."""
        return self.path / "artifacts"

    @property
    def transcripts(self) -> Path:
        """Folder of the transcripts, one per thread and format."""
        return self.path / "transcripts"

    @property
    def files(self) -> Path:
        """Folder of the agents' writable roots, one folder per thread."""
        return self.path / "files"

    @property
    def report_md(self) -> Path:
        """The report for people."""
        return self.path / "report.md"

    @property
    def report_json(self) -> Path:
        """The report for programs."""
        return self.path / "report.json"

    @property
    def todo_md(self) -> Path:
        """The coordinator's plan."""
        return self.path / "todo.md"

    @property
    def usage_json(self) -> Path:
        """What the run has spent."""
        return self.path / "usage.json"

    def write_text(self, name: str, text: str) -> None:
        """Write `text` to the file `name` of this folder, atomically; see `write_bytes`."""
        self.write_bytes(name, encode(text))

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write `data` to the file `name` (a path inside this folder), atomically.

        The folder that `name` stands in must exist. Raises `PathRefused` for a name that leaves
        the run folder, `StorageFailed` when the disk is full; the old content is then kept.
        """
        write_atomic(self.path / clean_path(name), data)
