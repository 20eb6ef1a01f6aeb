"""Folders of documents made searchable, and sentences chosen from them.

The one idea: text is normalised in Python into plain terms, for any script, and SQLite's FTS5 does the
searching over them, so that nothing has to be installed or downloaded. ``FolderCorpus`` reads the files
(only those that changed), cuts them into passages of about 130 words and answers the ``Search``
protocol; other sources can answer the same protocol. Start reading at ``folder.py``, then ``sync.py``
for how files get in and ``ranking.py`` for how they come out.
"""

from .folder import FolderCorpus
from .normalise import terms
from .passages import Hit, IndexReport, Passage, Search, SearchResult, Skipped, Status
from .picking import Picked, pick_sentences
from .sentences import split_sentences

__all__ = [
    "FolderCorpus",
    "Hit",
    "IndexReport",
    "Passage",
    "Picked",
    "Search",
    "SearchResult",
    "Skipped",
    "Status",
    "pick_sentences",
    "split_sentences",
    "terms",
]
