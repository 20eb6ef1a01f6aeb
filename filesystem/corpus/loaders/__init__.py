"""From one file's bytes to its text.

``load`` picks the loader by the name's ending and, where that says nothing, by the first bytes. A loader
keeps the words and the structure (headings, pages, lines) and drops the rest; what it cannot read it
refuses with a reason. Start reading at ``load``.
"""

from .by_kind import TEXT_LIMIT, load, size_limit

__all__ = ["TEXT_LIMIT", "load", "size_limit"]
