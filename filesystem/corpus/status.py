"""Whether a source is current, from its path, its name and its first lines."""

import re

from .passages import Status

_HEAD = 600  # characters in which a document says that it is out of date
_SUPERSEDED_NAME = re.compile(
    r"(?:^|[^a-z])(?:superseded|obsolete|deprecated|outdated|replaced)(?:$|[^a-z])"
)
_ARCHIVED_PART = re.compile(
    r"(?:^|[^a-z])(?:archived?|archives|old|older|legacy|retired|historical|attic|backups?)(?:$|[^a-z])"
)
_KIND = (
    r"(?:document|page|file|version|draft|policy|report|memo|brief|guide|note|plan|spec|figures)"
)
_SUPERSEDED_TEXT = re.compile(
    rf"""
    \b(?:superseded|obsoleted|replaced)\s+by\b(?!\s+th(?:is|ese)\b)
    | \b(?:this|these|the)\s+(?:\w+\s+){{0,3}}?{_KIND}s?\s+(?:\w+\s+){{0,2}}?
      (?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?(?:superseded|obsolete|deprecated|outdated|withdrawn|replaced|
      no\s+longer\s+(?:valid|current|maintained))
    | ^\W*status\W+(?:superseded|obsolete|deprecated|withdrawn|replaced)\b
    """,
    re.I | re.M | re.X,
)
_STAMP = re.compile(r"\b(?:SUPERSEDED|OBSOLETE|OUTDATED|WITHDRAWN|DO NOT USE)\b")
_ARCHIVED_TEXT = re.compile(
    rf"^\W*status\W+archived\b|\bthis\s+{_KIND}\s+(?:is|was|has\s+been)\s+archived\b", re.I | re.M
)


def status_of(source: str, text: str) -> Status:
    """Judge one source. A claim about another document ("supersedes v1") does not count."""
    head = text[:_HEAD]
    path = source.lower()
    if _SUPERSEDED_NAME.search(path) or _SUPERSEDED_TEXT.search(head) or _STAMP.search(head):
        return "superseded"
    *folders, name = path.split("/")
    stem = name.rsplit(".", 1)[0]
    in_archive = any(_ARCHIVED_PART.search(part) for part in folders)
    if in_archive or _ARCHIVED_PART.fullmatch(stem) or _ARCHIVED_TEXT.search(head):
        return "archived"
    if re.search(r"[-_. (](?:old|archived?|backup)\)?$", stem):
        return "archived"
    return "current"
