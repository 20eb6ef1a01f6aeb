"""Writing a file so that a reader, or a crash, sees the old content or the new, never a mixture."""

import contextlib
import os
import tempfile
from pathlib import Path

from .errors import StorageFailed


def write_atomic(path: Path, data: bytes) -> None:
    """Replace the content of `path` by `data`, readable by the owner only.

    Writes a temporary file in the same folder, flushes it to the disk and renames it. Raises
    `StorageFailed` (disk full, no permission); the old file is then unchanged and nothing is left.
    """
    temporary = None
    try:
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
        with open(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise StorageFailed(
            str(path),
            f"cannot be written ({error.strerror or error})",
            "Free some space or check the permissions; the old content is unchanged.",
        ) from error
