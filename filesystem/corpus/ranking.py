"""Ranking the passages of an index for a query, and telling whether they answer it."""

import sqlite3
from collections import Counter
from dataclasses import dataclass

from .confidence import GATE, strength
from .normalise import query_terms
from .passages import Hit, Passage, SearchResult, Status
from .rows import passage_terms

_WEIGHTS = (2.0, 2.0, 1.0)  # title and path, heading, body; measured on four sets, flat around here
_SAME_SOURCE = 0.7  # each further passage of a source counts this much of the one before
_STALE = 0.4  # archived and superseded sources count this much of a current one
_MAX_TERMS = 48  # rarest terms of a query that are searched; a question has 5 to 20
_MAX_QUERY = 20_000  # characters of a query that are read
_POOL = 300  # passages ranked
_GATED = 3  # best passages that may each open the gate


@dataclass(frozen=True, slots=True)
class _Row:
    id: int
    score: float
    source: str
    status: Status


def rank(connection: sqlite3.Connection, query: str, limit: int) -> SearchResult:
    """Find the best passages; ties are ordered by source and place."""
    languages = [row[0] for row in connection.execute("SELECT DISTINCT language FROM files")]
    asked = query[:_MAX_QUERY]
    found = _frequencies(connection, query_terms(asked, languages))
    searched = sorted(found, key=lambda term: (found[term], term))[:_MAX_TERMS]
    if not searched or limit < 1:
        return SearchResult(query, (), False)
    rows = _spread(_matching(connection, searched))[:limit]
    hits = tuple(Hit(_passage(connection, row), row.score) for row in rows)
    return SearchResult(query, hits, _strength(connection, asked, found, hits) >= GATE)


def _strength(
    connection: sqlite3.Connection, query: str, found: dict[str, int], hits: tuple[Hit, ...]
) -> float:
    """Measure the best hits, each against the query as its own language has it."""
    (total,) = connection.execute("SELECT count(*) FROM passages").fetchone()
    strengths = [0.0]
    for hit in hits[:_GATED]:
        of = passage_terms(connection, hit.passage.id)
        counts = Counter(of.name * 2 + of.heading * 2 + of.body)
        strengths.append(strength(query_terms(query, [of.language]), found, total, counts))
    return max(strengths)


def passage_of(connection: sqlite3.Connection, evidence: str) -> Passage | None:
    """Load one passage by its evidence id."""
    row = connection.execute(
        "SELECT evidence, source, place, heading, piece, status FROM passages"
        " JOIN files ON files.id = passages.file WHERE evidence = ?",
        (evidence,),
    ).fetchone()
    if row is None:
        return None
    found, source, place, heading, piece, status = row
    return Passage(found, source, place, heading, piece.strip(), status)


def _frequencies(connection: sqlite3.Connection, asked: list[str]) -> dict[str, int]:
    """In how many passages each term occurs; those that occur nowhere are left out."""
    found: dict[str, int] = {}
    for term in asked:
        row = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (term,)).fetchone()
        if row:
            found[term] = row[0]
    return found


def _matching(connection: sqlite3.Connection, searched: list[str]) -> list[_Row]:
    # Terms hold letters, digits, marks and full stops only; in double quotes they are never syntax.
    match = " OR ".join(f'"{term}"' for term in searched)
    rows = connection.execute(
        "SELECT best.id, best.score, source, status FROM ("
        "  SELECT rowid AS id, -bm25(terms, ?, ?, ?) AS score FROM terms WHERE terms MATCH ?"
        "  ORDER BY score DESC, id LIMIT ?"
        ") AS best JOIN passages ON passages.id = best.id JOIN files ON files.id = passages.file",
        (*_WEIGHTS, match, _POOL),
    )
    return [_Row(*row) for row in rows]


def _spread(rows: list[_Row]) -> list[_Row]:
    """Order the rows, stale sources behind current ones of the same fit, no source crowding the list."""
    fit = [
        _Row(
            row.id, row.score * (1.0 if row.status == "current" else _STALE), row.source, row.status
        )
        for row in rows
    ]
    fit.sort(key=_order)
    before: Counter[str] = Counter()
    spread: list[_Row] = []
    for row in fit:
        score = row.score * _SAME_SOURCE ** before[row.source]
        spread.append(_Row(row.id, score, row.source, row.status))
        before[row.source] += 1
    return sorted(spread, key=_order)


def _order(row: _Row) -> tuple[float, str, int]:
    return -round(row.score, 9), row.source, row.id


def _passage(connection: sqlite3.Connection, row: _Row) -> Passage:
    evidence, place, heading, piece = connection.execute(
        "SELECT evidence, place, heading, piece FROM passages WHERE id = ?", (row.id,)
    ).fetchone()
    return Passage(evidence, row.source, place, heading, piece.strip(), row.status)
