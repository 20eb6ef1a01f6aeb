"""Writing without a model: an evidence brief of ranked quotes, as long as a reader reads, each said once."""

from collections.abc import Iterable
from dataclasses import dataclass

from filesystem import terms
from memory import JsonObject

from .extractive_quotes import asks_values, repeats, values_in
from .extractive_request import objects, parsed

MOST_WORDS = 600
"""Words of all quotes together. With headings, one line a source and usage, four sections stay within
850 words."""
SECTION_WORDS = 200
"""Words of one section's quotes, however few sections there are."""
_LATE = 0.12  # how much less a finding weighs for each place further down in its section
_LONG = 0.5  # exponent of a quote's words: its value is taken per word, half


@dataclass(frozen=True, slots=True)
class _Line:
    """One quote of one section."""

    section: int
    rank: int
    """Its place among the section's findings, from 0."""
    text: str
    evidence: list[str]
    words: int
    terms: frozenset[str]
    values: frozenset[str]
    """The numbers and names in it."""


def draft_for(task: str) -> JsonObject:
    """The arguments of `conclude` for a draft made of the findings in `task`; empty when it has none."""
    data = parsed(task)
    sections = objects(data, "sections")
    question = str(data.get("question", "")) if isinstance(data, dict) else ""
    chosen = _choose(list(_lines(sections)), len(sections), asks_values(question))
    return {
        "summary": [],
        "sections": [
            {
                "question": str(section.get("id", "")),
                "sentences": [
                    {"text": line.text, "evidence": line.evidence}
                    for line in sorted(chosen, key=lambda line: line.rank)
                    if line.section == number
                ],
            }
            for number, section in enumerate(sections)
        ],
    }


def _lines(sections: list[JsonObject]) -> Iterable[_Line]:
    for number, section in enumerate(sections):
        for rank, finding in enumerate(objects(section, "findings")):
            citations = objects(finding, "citations")
            text = " ".join(str(finding.get("claim", "")).split())
            if citations and text:
                evidence = list(dict.fromkeys(str(each.get("evidence", "")) for each in citations))
                yield _Line(
                    number,
                    rank,
                    text,
                    evidence,
                    words=len(text.split()),
                    terms=frozenset(terms(text)),
                    values=frozenset(values_in(text)),
                )


def _choose(lines: list[_Line], sections: int, wanted: bool) -> list[_Line]:
    """Fill the brief in turns, the section with the fewest words next, each with its best line left."""
    chosen: list[_Line] = []
    used = [0] * sections
    told: set[str] = set()
    left = lines
    while left := [line for line in left if _fits(line, used) and not _said(line, chosen)]:
        turn = min({line.section for line in left}, key=lambda number: (used[number], number))
        best = max(
            (line for line in left if line.section == turn),
            key=lambda line: (round(_worth(line, told, wanted), 6), -line.rank),
        )
        chosen.append(best)
        used[turn] += best.words
        told |= best.values
    return chosen


def _fits(line: _Line, used: list[int]) -> bool:
    room = min(MOST_WORDS - sum(used), SECTION_WORDS - used[line.section])
    return line.words <= room


def _said(line: _Line, chosen: list[_Line]) -> bool:
    return any(repeats(line.terms, other.terms) for other in chosen)


def _worth(line: _Line, told: set[str], wanted: bool) -> float:
    """A high place, values that no line has told yet, and few words for them."""
    place = 1 / (1 + _LATE * line.rank)
    return place * (1 + len(line.values - told)) / line.words**_LONG if wanted else place
