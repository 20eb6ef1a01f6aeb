"""CSV and TSV: one row a line, the column names as the heading of all rows."""

import csv
import io

from ..extracted import Extracted
from .plain import load_text

_MAX_HEADING = 300  # characters of the column names kept as a heading
_DELIMITERS = (",", "\t", ";", "|")


def load_table(text: str) -> Extracted:
    """Read a table: cells joined by " | ". A file that is no table is read as plain text."""
    names = text.lstrip("\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=names.count)
    rows: list[str] = []
    places: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    begin = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(" | ".join(" ".join(cell.split()) for cell in cells))
                places.append(begin)
            begin = reader.line_num + 1
    except csv.Error:  # an unclosed quote swallowed the file, or NUL
        return load_text(text)
    if not rows:
        return Extracted(text)
    headings = [(0, rows[0][:_MAX_HEADING])] if len(rows) > 1 else []
    return Extracted("\n".join(rows), headings=headings, lines=places)
