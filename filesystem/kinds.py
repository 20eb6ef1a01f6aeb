"""Guessing what a body is from its first bytes, and the file endings of kinds."""

import csv

from .text import decode_head

BINARY = "application/octet-stream"
PLAIN = "text/plain"
JSON = "application/json"
CSV = "text/csv"
TSV = "text/tab-separated-values"

_EXTENSIONS = {
    PLAIN: "txt",
    JSON: "json",
    CSV: "csv",
    TSV: "tsv",
    BINARY: "bin",
    "text/markdown": "md",
    "text/html": "html",
    "application/pdf": "pdf",
    "image/png": "png",
    "image/jpeg": "jpg",
}
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)


EXTENSIONS = tuple(_EXTENSIONS.values())
"""Every ending a stored body can have."""


def extension_of(kind: str) -> str:
    """Return the file ending for a media type: "txt" for other text, "bin" for the rest."""
    return _EXTENSIONS.get(kind) or ("txt" if kind.startswith("text/") else "bin")


def kind_of_extension(extension: str) -> str:
    """Return the media type that a file ending stands for; binary when unknown."""
    return next((kind for kind, known in _EXTENSIONS.items() if known == extension), BINARY)


def guess_kind(head: bytes, last: bytes) -> str:
    """Guess the media type of a body from its first bytes (64 KiB are plenty) and its last few."""
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return kind
    text = decode_head(head)
    if head.count(0) * 50 > len(head) or "\ufffd" in text:
        return BINARY
    if (head.lstrip()[:1], last.rstrip()[-1:]) in ((b"{", b"}"), (b"[", b"]")):
        return JSON
    lines = text.split("\n")[:-1][:10]
    for delimiter, kind in ((",", CSV), ("\t", TSV), (";", CSV)):
        if _is_table(lines, delimiter):
            return kind
    return PLAIN


def _is_table(lines: list[str], delimiter: str) -> bool:
    """Whether at least three lines have the same two or more cells under short, distinct names."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return False
    if len(rows) < 3 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    names = [cell.strip() for cell in rows[0]]
    if len(set(names)) < len(names) or names[-1].endswith((".", "!", "?", ":")):
        return False
    return all(0 < len(name) <= 60 for name in names)
