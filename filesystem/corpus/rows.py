"""The terms of one row of the index; the same when it is added, removed and judged."""

import sqlite3
from dataclasses import dataclass

from .normalise import terms_in


def name_terms(source: str, title: str, language: str) -> list[str]:
    """List the terms of the title column: the document's title and the parts of its path, each once."""
    named = source.rsplit(".", 1)[0].replace("/", " ")
    return list(dict.fromkeys(terms_in(f"{title} {named}", language)))


def row_terms(heading: str, piece: str, title: str, language: str) -> tuple[list[str], list[str]]:
    """List the terms of the heading column, less the title that all begin with, and of the body."""
    below = heading.removeprefix(title).removeprefix(" > ")
    return terms_in(below, language), terms_in(piece, language)


@dataclass(frozen=True, slots=True)
class PassageTerms:
    """The terms of a stored passage."""

    language: str
    """What its file's Latin words are stemmed as."""
    name: list[str]
    """Those of the title and the path."""
    heading: list[str]
    """Those of the heading."""
    body: list[str]
    """Those of the text."""


def passage_terms(connection: sqlite3.Connection, evidence: str) -> PassageTerms:
    """Compute the terms of a stored passage by its evidence id, which must exist."""
    source, title, language, heading, piece = connection.execute(
        "SELECT source, title, language, heading, piece FROM passages"
        " JOIN files ON files.id = passages.file WHERE evidence = ?",
        (evidence,),
    ).fetchone()
    name = name_terms(source, title, language)
    return PassageTerms(language, name, *row_terms(heading, piece, title, language))
