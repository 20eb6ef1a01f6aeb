"""Files for agents: safe, exact on any text, fast on large bodies, honest about conflicts.

A run keeps everything in its `RunFolder`. Agents work through a `Workspace`: the file operations of
a model's tools over `namespaces`, which join a `FileStore` of the agent's own with what it was given.
Large bodies go to the `ArtifactStore`, named by their hash, and a `preview` stands for them; a
`Merger` takes a child's files over. Start reading at `stores.py`.
"""

from .artifacts import ArtifactRef, ArtifactStore, Ends
from .bodies import ABSENT, Body
from .corpus import (
    FolderCorpus,
    IndexReport,
    Passage,
    Picked,
    Search,
    SearchResult,
    Skipped,
    Status,
    pick_sentences,
    split_sentences,
    terms,
)
from .disk_store import DiskStore
from .errors import (
    BadArgument,
    BadPattern,
    CorpusError,
    EditAmbiguous,
    EditFailed,
    EditNoMatch,
    FileError,
    FileMissing,
    FilesystemError,
    FolderMissing,
    IndexUnusable,
    IsAFolder,
    NameCollision,
    NotAFolder,
    NotARunFolder,
    NothingReadable,
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
from .layers import Layers
from .memory_store import MemoryStore
from .merging import MergeConflict, Merger, MergeReport, MergeRule, Version, snapshot
from .previews import READ_CALL, preview
from .results import Change, Listing, Matches, Page
from .run_folder import RunFolder
from .searching import Hit, Hits, Query
from .stores import EditResult, Entry, FileStat, FileStore, Quota
from .views import ArtifactFiles, Folders, View, namespaces
from .workspace import ALL_TOOLS, Workspace

__all__ = [
    "ABSENT",
    "ALL_TOOLS",
    "READ_CALL",
    "ArtifactFiles",
    "ArtifactRef",
    "ArtifactStore",
    "BadArgument",
    "BadPattern",
    "Body",
    "Change",
    "CorpusError",
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
    "FolderCorpus",
    "FolderMissing",
    "Folders",
    "Hit",
    "Hits",
    "IndexReport",
    "IndexUnusable",
    "IsAFolder",
    "Layers",
    "Listing",
    "Matches",
    "MemoryStore",
    "MergeConflict",
    "MergeReport",
    "MergeRule",
    "Merger",
    "NameCollision",
    "NotAFolder",
    "NotARunFolder",
    "NotWritable",
    "NothingReadable",
    "Page",
    "Passage",
    "PathRefused",
    "Picked",
    "Query",
    "Quota",
    "QuotaExceeded",
    "RunFolder",
    "RunFolderError",
    "RunFolderExists",
    "Search",
    "SearchResult",
    "SearchTimedOut",
    "Skipped",
    "Status",
    "StorageFailed",
    "UnsafeFile",
    "Version",
    "View",
    "Workspace",
    "WriteConflict",
    "namespaces",
    "pick_sentences",
    "preview",
    "snapshot",
    "split_sentences",
    "terms",
]
