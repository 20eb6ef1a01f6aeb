"""Files for agents: safe, exact on any text, fast on large bodies, honest about conflicts.

A run keeps everything in its `RunFolder`. Large bodies go to the `ArtifactStore`, named by their
hash, and a `preview` stands for them.
"""

from .artifacts import ArtifactRef, ArtifactStore, Ends
from .bodies import ABSENT, Body
from .disk_store import DiskStore
from .errors import (
    BadArgument,
    BadPattern,
    EditAmbiguous,
    EditFailed,
    EditNoMatch,
    FileError,
    FileMissing,
    FilesystemError,
    IsAFolder,
    NameCollision,
    NotAFolder,
    NotARunFolder,
    NotWritable,
    PathRefused,
    QuotaExceeded,
    RunFolderError,
    RunFolderExists,
    SearchTimedOut,
    StorageFailed,
    UnsafeFile,
    WriteConflict,
)
from .memory_store import MemoryStore
from .previews import READ_CALL, preview
from .run_folder import RunFolder
from .searching import Hit, Hits, Query
from .stores import EditResult, Entry, FileStat, FileStore, Quota

__all__ = [
    "ABSENT",
    "READ_CALL",
    "ArtifactRef",
    "ArtifactStore",
    "BadArgument",
    "BadPattern",
    "Body",
    "DiskStore",
    "EditAmbiguous",
    "EditFailed",
    "EditNoMatch",
    "EditResult",
    "Ends",
    "Entry",
    "FileError",
    "FileMissing",
    "FileStat",
    "FileStore",
    "FilesystemError",
    "Hit",
    "Hits",
    "IsAFolder",
    "MemoryStore",
    "NameCollision",
    "NotAFolder",
    "NotARunFolder",
    "NotWritable",
    "PathRefused",
    "Query",
    "Quota",
    "QuotaExceeded",
    "RunFolder",
    "RunFolderError",
    "RunFolderExists",
    "SearchTimedOut",
    "StorageFailed",
    "UnsafeFile",
    "WriteConflict",
    "preview",
]
