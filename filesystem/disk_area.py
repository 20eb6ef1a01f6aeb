"""The inside of a disk store: the lock between writers, unfinished files, and the walk."""

import contextlib
import fcntl
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from pathlib import Path

from .catalog import Catalog
from .confined import make_folder, open_folder, refusals
from .errors import FileError
from .paths import RESERVED
from .stores import Quota

_OPEN_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class DiskArea:
    """A folder with one writer at a time, in this process and between processes. Blocking.

    `.undrift/lock` is locked by every writer; it holds a number that grows with each change, so
    that a process knows whether its `Catalog` is still the truth. Files put there by hand, past
    the lock, are read like others and counted when the number next changes.
    """

    def __init__(self, root: Path, quota: Quota) -> None:
        self.root = root
        self.catalog = Catalog(quota)
        self._quota = quota
        self._number = -1

    @contextlib.contextmanager
    def opened(self) -> Generator[int]:
        """Give a descriptor of the root."""
        with refusals(str(self.root)):
            fd = os.open(self.root, _OPEN_ROOT)
        try:
            yield fd
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def locked(self) -> Generator[int]:
        """Give a descriptor of the root while holding the lock, with the catalog up to date."""
        with self.opened() as root:
            inner = make_folder(root, RESERVED)
            try:
                with refusals(RESERVED):
                    lock = os.open("lock", _LOCK, 0o600, dir_fd=inner)
            finally:
                os.close(inner)
            try:
                with refusals(RESERVED):
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    self._catch_up(root, lock)
                yield root
            finally:
                os.close(lock)  # which frees the lock

    def _catch_up(self, root: int, lock: int) -> None:
        number = int.from_bytes(os.pread(lock, 8, 0), "big")
        if number != self._number:
            self.catalog = Catalog(self._quota)
            for path, folder, name in walk(root):
                if (size := plain_size(folder, name)) is not None:
                    self.catalog.put(path, size)
        # Before the change and not after it: a writer killed between must leave others in doubt.
        os.pwrite(lock, (number + 1).to_bytes(8, "big"), 0)
        self._number = number + 1

    def unfinished(self, root: int) -> tuple[int, str]:
        """Make a new file for writing beside the lock; return its descriptor and name."""
        inner = make_folder(root, RESERVED)
        name = f"writing-{secrets.token_hex(8)}"
        try:
            with refusals(RESERVED):
                return os.open(name, _NEW, 0o600, dir_fd=inner), f"{RESERVED}/{name}"
        finally:
            os.close(inner)


def walk(root: int, folder: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield (path, descriptor of its folder, name) of every file below `folder`, in order.

    Links and devices are left out, files that are shared with another place are not (`plain_size`
    and `open_in` tell); a folder that vanishes meanwhile is skipped.
    """
    try:
        fd = open_folder(root, folder)
    except FileError:
        return
    try:
        with refusals(folder), os.scandir(fd) as entries:
            found = sorted((entry.name, _is_file(entry)) for entry in entries)
        for name, is_file in found:
            path = f"{folder}/{name}" if folder else name
            if is_file:
                yield path, fd, name
            elif is_file is False and path != RESERVED:
                yield from walk(root, path)
    finally:
        os.close(fd)


def _is_file(entry: "os.DirEntry[str]") -> bool | None:
    """True for a file, False for a folder, None for what is neither."""
    if entry.is_file(follow_symlinks=False):
        return True
    return False if entry.is_dir(follow_symlinks=False) else None


def plain_size(folder: int, name: str) -> int | None:
    """Bytes of the plain file `name` in `folder`; None when it is none, or shared, or gone.

    For listings only: what is opened is judged when it is open.
    """
    try:
        status = os.lstat(name, dir_fd=folder)
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None
