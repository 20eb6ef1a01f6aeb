"""Making the report's sentences: each is given citation numbers, checked, and marked where it fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agents import Conclusion
from filesystem import Passage, split_sentences, terms

from .checks import Checker
from .conflicts import Stated
from .markup import clean
from .report_parts import Mark, Mode, ReportCitation, ReportQuote, ReportSentence
from .shapes import Sentence

Quotes = Mapping[str, Sequence[str]]
"""Quotes by evidence id."""


@dataclass(slots=True)
class _Entry:
    """One citation while the report is being made."""

    passage: Passage
    place: str
    quotes: dict[str, bool] = field(default_factory=dict[str, bool])


class Composer:
    """Numbers citations in order of appearance; the same passage keeps its number."""

    def __init__(self, checker: Checker, mode: Mode, known: Quotes) -> None:
        self._checker, self._mode, self._known = checker, mode, known
        self._numbers: dict[tuple[str, str], int] = {}
        self._entries: list[_Entry] = []
        self.stated: list[Stated] = []
        """Every verified quote, in order of appearance."""

    async def drafted(self, sentence: Sentence) -> ReportSentence:
        """A writer's sentence. It names ids only, so the quotes are those the researchers took there."""
        quotes: dict[str, Sequence[str]] = {}
        for evidence in dict.fromkeys(sentence.evidence):
            if self._mode == "extractive":
                quotes[evidence] = [sentence.text]
            else:
                quotes[evidence] = self._known.get(evidence) or await self._nearest(
                    evidence, sentence.text
                )
        return await self._sentence(sentence.text, quotes, one_is_enough=True)

    async def concluded(self, conclusion: Conclusion) -> list[ReportSentence]:
        """A researcher's conclusion, for a section that no writer wrote."""
        if not conclusion.findings:
            return []
        made: list[ReportSentence] = []
        if self._mode == "model" and conclusion.answer.strip():
            quotes = quotes_of([conclusion])
            made.append(await self._sentence(conclusion.answer, quotes, one_is_enough=True))
        for finding in conclusion.findings:
            if self._mode == "extractive" and finding.citations:
                for citation in finding.citations:
                    quotes = {citation.evidence: [citation.quote]}
                    made.append(await self._sentence(citation.quote, quotes))
            else:
                quotes = {each.evidence: [] for each in finding.citations}
                for each in finding.citations:
                    quotes[each.evidence].append(each.quote)
                made.append(await self._sentence(finding.claim, quotes))
        once: dict[str, ReportSentence] = {}
        for sentence in made:
            once.setdefault(sentence.text, sentence)
        return list(once.values())

    async def state(self, evidence: str, quote: str) -> None:
        """Take a quote into account for conflicts without citing it."""
        passage = await self._checker.passage(evidence)
        if passage is not None:
            await self._place(passage, quote)

    def cite(self, passage: Passage, place: str, quote: str, verified: bool) -> int:
        """The number of a citation, and the quote noted under it."""
        key = (passage.id, place)
        if key not in self._numbers:
            self._numbers[key] = len(self._entries) + 1
            self._entries.append(_Entry(passage, place))
        number = self._numbers[key]
        self._entries[number - 1].quotes.setdefault(clean(quote), verified)
        return number

    def citations(self) -> list[ReportCitation]:
        """All citations made so far; a quote inside a longer one of the same place is left out."""
        return [
            ReportCitation(
                number=number,
                evidence=entry.passage.id,
                source=entry.passage.source,
                place=entry.place,
                quotes=[
                    ReportQuote(text=quote, verified=verified)
                    for quote, verified in entry.quotes.items()
                    if not _inside_another(quote, entry.quotes)
                ],
            )
            for number, entry in enumerate(self._entries, 1)
        ]

    async def _sentence(
        self, text: str, quotes: Quotes, one_is_enough: bool = False
    ) -> ReportSentence:
        text, marks = clean(text), list[Mark]()
        cited: set[int] = set()
        passages: list[Passage] = []
        outside: list[str] = []
        for evidence, given in quotes.items():
            passage = await self._checker.passage(evidence)
            if passage is None:
                marks.append(Mark(kind="unknown_evidence", detail=clean(evidence)))
                continue
            passages.append(passage)
            places = [await self._place(passage, quote) for quote in given]
            for quote, place in zip(given, places, strict=True):
                cited.add(self.cite(passage, place or passage.place, quote, place is not None))
                outside += [quote] if place not in (None, passage.place) else []
            found = [place is not None for place in places]
            if not (any(found) if one_is_enough else all(found)):
                marks.append(Mark(kind="quote", detail=passage.id))
        if not quotes:
            marks.append(Mark(kind="no_evidence"))
        if passages:
            missing = await self._checker.missing_numbers(text, passages, outside)
            marks += [Mark(kind="number", detail=number) for number in missing]
        return ReportSentence(text=text, citations=sorted(cited), marks=marks)

    async def _place(self, passage: Passage, quote: str) -> str | None:
        place = await self._checker.place_of(passage, quote)
        if place is not None:
            self.stated.append(Stated(clean(quote), passage, place))
        return place

    async def _nearest(self, evidence: str, text: str) -> list[str]:
        """The sentence of a passage that says most of a text, for an id that nobody quoted from."""
        passage = await self._checker.passage(evidence)
        if passage is None:
            return []
        wanted = set(terms(text))
        spans = split_sentences(passage.text) or [(0, len(passage.text))]
        sentences = [passage.text[start:end] for start, end in spans]
        return [max(sentences, key=lambda each: len(wanted & set(terms(each))))]


def _inside_another(quote: str, quotes: Mapping[str, bool]) -> bool:
    return any(
        quote != other and quote in other and verified == quotes[quote]
        for other, verified in quotes.items()
    )


def quotes_of(conclusions: Sequence[Conclusion]) -> dict[str, list[str]]:
    """Every quote of some conclusions by evidence id, each once, in order."""
    found: dict[str, dict[str, None]] = {}
    for conclusion in conclusions:
        for finding in conclusion.findings:
            for citation in finding.citations:
                found.setdefault(citation.evidence, {})[citation.quote] = None
    return {evidence: list(quotes) for evidence, quotes in found.items()}
