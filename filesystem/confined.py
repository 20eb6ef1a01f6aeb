"""Opening what lies below a folder, and only that.

Nothing is checked by path and opened later: the open itself refuses links (`openat2` with
RESOLVE_BENEATH where the kernel has it, else part by part with O_NOFOLLOW), and what was opened is
then judged by its descriptor.
"""

import contextlib
import ctypes
import errno
import os
import platform
import stat
import sys
from collections.abc import Generator
from functools import lru_cache

from .errors import FileError, FileMissing, IsAFolder, NotAFolder, StorageFailed, UnsafeFile

_OPENAT2 = 437
"""Number of the system call, equal on x86_64 and aarch64."""
_RESOLVE = 0x02 | 0x04 | 0x08
"""RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_UNSAFE = "it leads to a link, a device, a pipe or a file that is shared with another place"


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@lru_cache(maxsize=1)
def has_openat2() -> bool:
    """Whether the kernel opens paths confined by itself."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return False
    root = os.open("/", _FOLDER)
    try:
        os.close(_openat2(root, ".", _FOLDER))
    except OSError:  # an old kernel, or a sandbox that forbids the call
        return False
    finally:
        os.close(root)
    return True


@lru_cache(maxsize=1)
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(root: int, path: str, flags: int) -> int:
    how = _How(flags, 0, _RESOLVE)
    while True:
        fd = _libc().syscall(_OPENAT2, root, path.encode(), ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        # EAGAIN: something was renamed while the kernel walked, it asks for another try.
        if (code := ctypes.get_errno()) not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code))


def _walk(root: int, path: str, flags: int) -> int:
    folder = root
    *folders, name = path.split("/")
    try:
        for part in folders:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            if folder != root:
                os.close(folder)
            folder = inner
        return os.open(name, flags, dir_fd=folder)
    finally:
        if folder != root:
            os.close(folder)


def _open(root: int, path: str, flags: int) -> int:
    return _openat2(root, path, flags) if has_openat2() else _walk(root, path, flags)


def open_folder(root: int, path: str) -> int:
    """Return a descriptor of the folder `path` ("" is `root` itself) below the descriptor `root`.

    Raises `FileMissing`, `NotAFolder`, `UnsafeFile`, `StorageFailed`; so do the functions below.
    """
    with refusals(path, root):
        return _open(root, path or ".", _FOLDER)


def open_file(root: int, path: str, flags: int = os.O_RDONLY) -> int:
    """Return a descriptor of the plain file `path`, opened with `flags` without creating it."""
    with refusals(path, root):
        fd = _open(root, path, flags | _FILE)
    try:
        return plain(fd, path)
    except FileError:
        os.close(fd)
        raise


def open_in(folder: int, name: str, path: str) -> tuple[int, int]:
    """Return a descriptor for reading the plain file `name` directly in `folder`, and its bytes."""
    try:
        fd = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    except OSError as error:
        raise _refusal(error, path, None) from error
    try:
        status = os.fstat(fd)
        judge(status, path)
        return fd, status.st_size
    except FileError:
        os.close(fd)
        raise


def plain(fd: int, path: str) -> int:
    """Return `fd` when it is a regular file with one name, else raise."""
    judge(os.fstat(fd), path)
    return fd


def judge(status: os.stat_result, path: str) -> None:
    """Raise unless `status` is that of a regular file with one name."""
    if stat.S_ISDIR(status.st_mode):
        raise IsAFolder(path, "this is a folder, not a file")
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise UnsafeFile(path, _UNSAFE, "Use another path.")


def make_folder(root: int, path: str) -> int:
    """Return a descriptor of the folder `path`, made with its parents (mode 0700) where missing."""
    try:
        return open_folder(root, path)
    except FileMissing:
        pass
    above, _, name = path.rpartition("/")
    parent = make_folder(root, above)
    try:
        with refusals(path), contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
        with refusals(path):
            return os.open(name, _FOLDER, dir_fd=parent)
    finally:
        os.close(parent)


@contextlib.contextmanager
def refusals(path: str, root: int | None = None) -> Generator[None]:
    """Turn what the system refuses into this package's errors, about `path`."""
    try:
        yield
    except OSError as error:
        raise _refusal(error, path, root) from error


def _refusal(error: OSError, path: str, root: int | None) -> FileError:
    match error.errno:
        case errno.ENOENT:
            return FileMissing(path, "there is no such file or folder")
        case errno.EISDIR:
            return IsAFolder(path, "this is a folder, not a file")
        case errno.ELOOP | errno.EXDEV | errno.EMLINK | errno.ENXIO | errno.ENODEV:
            return UnsafeFile(path, _UNSAFE, "Use another path.")
        case errno.ENOTDIR if root is not None and _has_link(root, path):
            return UnsafeFile(path, _UNSAFE, "Use another path.")
        case errno.ENOTDIR:
            return NotAFolder(path, "a part of the path is a file where a folder is needed")
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return StorageFailed(
                path, "the disk is full; nothing was changed", "Delete files, or write less."
            )
        case _:
            return StorageFailed(path, f"the system refused ({error.strerror or error})")


def _has_link(root: int, path: str) -> bool:
    """Whether a part of `path` is a link: decides only which error is told, after a refusal."""
    with contextlib.suppress(OSError):
        for end in (*(i for i, char in enumerate(path) if char == "/"), len(path)):
            if stat.S_ISLNK(os.lstat(path[:end], dir_fd=root).st_mode):
                return True
    return False
