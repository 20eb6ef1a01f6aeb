"""The paths and sizes in a store: what a new path may collide with, and what the quota leaves."""

from collections import Counter

from .errors import IsAFolder, NameCollision, NotAFolder, QuotaExceeded
from .paths import fold_name, parents
from .stores import Quota


class Catalog:
    """Paths, sizes and folders of one store, in memory."""

    def __init__(self, quota: Quota) -> None:
        self.quota = quota
        self.sizes: dict[str, int] = {}
        """Bytes of each file."""
        self.folders: Counter[str] = Counter()
        """Number of files anywhere below each folder."""
        self.total = 0
        """Bytes of all files."""
        self._folded: dict[str, str] = {}

    def check(self, path: str, size: int) -> None:
        """Raise when a file of `size` bytes may not be at `path`; the file may exist already."""
        if path not in self.sizes:
            self._check_name(path)
        self._check_quota(path, size)

    def _check_name(self, path: str) -> None:
        for folder in parents(path):
            if folder in self.sizes:
                raise NotAFolder(path, f"{folder!r} is a file", "Choose another folder name.")
        if path in self.folders:
            raise IsAFolder(path, "this is a folder", "Give a file name inside it.")
        for part in (*parents(path), path):
            if (existing := self._folded.get(fold_name(part), part)) != part:
                raise NameCollision(path, existing)

    def _check_quota(self, path: str, size: int) -> None:
        old = self.sizes.get(path)
        files = len(self.sizes) + (old is None)
        if self.quota.files is not None and files > self.quota.files and old is None:
            raise QuotaExceeded(
                path, f"the store holds its {self.quota.files:,} files already", "Delete some."
            )
        total = self.total - (old or 0) + size
        if self.quota.bytes is not None and total > self.quota.bytes and size > (old or 0):
            raise QuotaExceeded(
                path,
                f"{size:,} bytes would make {total:,}, over the quota of {self.quota.bytes:,} bytes",
                "Delete or shorten files.",
            )

    def put(self, path: str, size: int) -> None:
        """Record a file that was written."""
        if path not in self.sizes:
            for folder in parents(path):
                self.folders[folder] += 1
                self._folded[fold_name(folder)] = folder
            self._folded[fold_name(path)] = path
        self.total += size - self.sizes.get(path, 0)
        self.sizes[path] = size

    def remove(self, path: str) -> None:
        """Record a file that was deleted; unknown paths are fine."""
        size = self.sizes.pop(path, None)
        if size is None:
            return
        self.total -= size
        self._folded.pop(fold_name(path), None)
        for folder in parents(path):
            self.folders[folder] -= 1
            if not self.folders[folder]:
                del self.folders[folder]
                self._folded.pop(fold_name(folder), None)
