"""Files for agents: safe, exact on any text, fast on large bodies, honest about conflicts.

A run keeps everything in its `RunFolder`. Large bodies go to the `ArtifactStore`, named by their
hash, and a `preview` stands for them.
"""

from .artifacts import ArtifactRef, ArtifactStore, Body, Ends
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
from .previews import READ_CALL, preview
from .run_folder import RunFolder

__all__ = [
    "READ_CALL",
    "ArtifactRef",
    "ArtifactStore",
    "BadArgument",
    "BadPattern",
    "Body",
    "EditAmbiguous",
    "EditFailed",
    "EditNoMatch",
    "Ends",
    "FileError",
    "FileMissing",
    "FilesystemError",
    "IsAFolder",
    "NameCollision",
    "NotAFolder",
    "NotARunFolder",
    "NotWritable",
    "PathRefused",
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
