"""Checking a finished Markdown report again, whoever has edited it since.

Nothing in the file is trusted, marks and ids least: every quote is looked up in the source that its
citation names, every number in the text must resolve, every number in a sentence must be in evidence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from filesystem import Passage, Search

from .checks import Checker
from .markup import clean, unescape
from .render import BRIEF, CITATIONS, CONFLICTS, GAPS, SOURCES, USAGE

_REFERENCE = re.compile(r"(?<!\\)\[(\d{1,6})\]")
_REFERENCES = re.compile(r"(?:\s*(?<!\\)\[\d{1,6}\])+")
_MARK = re.compile(r"(?<!\\)\[(?:unverified|number not in evidence: [^\]]*)\]")
_CITATION = re.compile(r"(?:[-*] )?\[(\d{1,6})\] (.*)")
_QUOTE = re.compile(
    r'"((?:[^"\\]|\\.)*+)(?:"|\\?$)'
)  # one that never ends takes the rest of the line
_QUOTES = re.compile(r'(?<!\\): (?=")')
_IDS = re.compile(r"<!-- evidence:([\w=,]+) -->")
_HEADING = re.compile(r"#{1,6} +(.*)")
_STATUS = re.compile(rf"Status: \w+(?:, see {GAPS})?\.|Nothing found, see {GAPS}\.")
_PLACE = re.compile(r"(?:page|line)s? \d+(?:-\d+)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing in a report that does not hold."""

    line: int
    """Line of the file, from 1."""
    message: str
    """What is wrong, with the words it is about."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What the check of a finished report found."""

    sentences: int
    """Sentences checked."""
    citations: int
    """Citations in the list."""
    quotes: int
    """Quotes looked up, in extractive mode the sentences."""
    faults: tuple[Fault, ...]
    """In the order of the file."""

    @property
    def ok(self) -> bool:
        """True when every check passed and there was something to check."""
        return not self.faults and self.quotes > 0


@dataclass(slots=True)
class _Cited:
    """One line of the citation list."""

    line: int
    number: int
    source: str
    place: str
    quotes: list[str]
    passage: Passage | None = None


@dataclass(slots=True)
class _File:
    """The lines of a report by what they are, each with its number."""

    content: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    conflicts: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    citations: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    ids: dict[int, str] = field(default_factory=dict[int, str])


async def verify_report(text: str, search: Search) -> Verification:
    """Check a report that `render_markdown` wrote against the sources as they are now.

    In a brief the sentences are the quotes; marks of emphasis and inline code do not count in them.

    Marks in the text are no excuse: what they mark is a fault as long as it does not hold.
    """
    return await _Verifier(_read(text), Checker(search)).run()


class _Verifier:
    def __init__(self, file: _File, checker: Checker) -> None:
        self._file, self._checker = file, checker
        self._cited: dict[int, _Cited] = {}
        self._faults: list[Fault] = []
        self._quotes = 0

    async def run(self) -> Verification:
        for line, text in self._file.citations:
            await self._take(line, text)
        sentences = 0
        for line, text in self._file.content:
            for sentence, references in _sentences(text):
                sentences += 1
                await self._sentence(line, sentence, self._resolve(line, references))
        for line, text in self._file.conflicts:
            self._resolve(line, [int(number) for number in _REFERENCE.findall(text)])
        faults = tuple(sorted(self._faults, key=lambda fault: fault.line))
        return Verification(sentences, len(self._cited), self._quotes, faults)

    async def _take(self, line: int, text: str) -> None:
        """One line of the citation list, its passage and its quotes."""
        match = _CITATION.fullmatch(text)
        if match is None:
            self._fault(line, f"this is no citation: {_short(text)}")
            return
        number = int(match[1])
        if number in self._cited:
            self._fault(line, f"citation [{number}] is listed twice")
            return
        passage = await self._checker.passage(self._file.ids.get(number, ""))
        where, *rest = _QUOTES.split(match[2], maxsplit=1)
        source, place = _where(clean(unescape(where)), passage)
        quotes = [unescape(quote) for quote in _QUOTE.findall(rest[0])] if rest else []
        if passage is not None and clean(passage.source) != source:
            passage = None
        cited = _Cited(line, number, source, place, quotes, passage)
        self._cited[number] = cited
        for quote in quotes:
            await self._look_up(line, cited, quote)

    async def _look_up(self, line: int, cited: _Cited, quote: str) -> bool:
        """A quote must stand in the cited source, at the cited place."""
        self._quotes += 1
        if cited.passage is not None:
            place = await self._checker.place_of(cited.passage, quote)
        else:
            place = await self._checker.place_in(cited.source, quote)
        if place is None:
            self._fault(line, f"not found in {cited.source!r}: {_short(quote)}")
        elif not _meet(place, cited.place):
            self._fault(line, f"stands at {place!r}, not {cited.place!r}: {_short(quote)}")
        return place is not None

    async def _sentence(self, line: int, text: str, cited: list[_Cited]) -> None:
        if not cited:
            self._fault(line, f"no citation that resolves: {_short(text)}")
            return
        quotes = [quote for each in cited for quote in each.quotes]
        for each in cited:
            if not each.quotes:  # in a brief the sentence is the quote
                written = await self._checker.as_written(text, each.passage, each.source)
                if await self._look_up(line, each, written):
                    quotes.append(written)
        passages = [_evidence(each) for each in cited]
        for number in await self._checker.missing_numbers(text, passages, quotes):
            self._fault(line, f"number not in evidence: {number} in {_short(text)}")

    def _resolve(self, line: int, references: list[int]) -> list[_Cited]:
        for number in references:
            if number not in self._cited:
                self._fault(line, f"citation [{number}] is not in the list")
        return [self._cited[number] for number in references if number in self._cited]

    def _fault(self, line: int, message: str) -> None:
        self._faults.append(Fault(line, message))


def _read(text: str) -> _File:
    file = _File()
    parts = {
        CONFLICTS: file.conflicts,
        CITATIONS: file.citations,
        GAPS: None,
        SOURCES: None,
        USAGE: None,
    }
    into: list[tuple[int, str]] | None = file.content
    for line, raw in enumerate(text.split("\n"), 1):
        words = raw.strip()
        if ids := _IDS.fullmatch(words):
            file.ids.update(_numbered(ids[1]))
        elif heading := _HEADING.fullmatch(words):
            into = parts.get(heading[1].strip(), file.content)
        elif into is not None and words and words != BRIEF and not _STATUS.fullmatch(words):
            into.append((line, words))
    return file


def _numbered(ids: str) -> Iterator[tuple[int, str]]:
    for pair in ids.split(","):
        number, _, evidence = pair.partition("=")
        if number.isascii() and number.isdigit():
            yield int(number), evidence


def _sentences(text: str) -> Iterator[tuple[str, list[int]]]:
    """The sentences of a line with their citation numbers; a line has several once people edit it."""
    text = _MARK.sub("", text)
    if text.startswith(("- ", "* ")):
        text = text[2:]
    at = 0
    for match in _REFERENCES.finditer(text):
        words = clean(unescape(text[at : match.start()]))
        yield (
            words.lstrip(".,; ") if at else words,
            [int(n) for n in _REFERENCE.findall(match.group())],
        )
        at = match.end()
    rest = clean(unescape(text[at:]))
    if any(character.isalnum() for character in rest):
        yield rest, []


def _where(where: str, passage: Passage | None) -> tuple[str, str]:
    """Source and place of a citation line; both may hold commas."""
    if passage is not None and where.startswith(f"{clean(passage.source)}, "):
        return clean(passage.source), where[len(clean(passage.source)) + 2 :]
    source, _, place = where.rpartition(", ")
    return (source, place) if source and _PLACE.fullmatch(place) else (where, "")


def _evidence(cited: _Cited) -> Passage:
    """The passage of a citation; what the report says of it when the sources no longer have it."""
    return cited.passage or Passage(
        id="", source=cited.source, place=cited.place, heading="", text="", status="current"
    )


def _meet(one: str, other: str) -> bool:
    """True when two places overlap, or one of them is not known."""
    first, second = _span(one), _span(other)
    if first is None or second is None:
        return not other or one == other
    return first[0] == second[0] and first[1] <= second[2] and second[1] <= first[2]


def _span(place: str) -> tuple[str, int, int] | None:
    match = re.fullmatch(r"(page|line)s? (\d+)(?:-(\d+))?", place)
    return (match[1], int(match[2]), int(match[3] or match[2])) if match else None


def _short(text: str) -> str:
    text = clean(unescape(text))
    return repr(text if len(text) <= 80 else text[:77] + "...")
