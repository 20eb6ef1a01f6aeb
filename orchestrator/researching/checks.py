"""What is checked of every citation: the id exists, the quote is in its source, the numbers are too."""

from collections.abc import Sequence

from agents import Citation, Conclusion
from filesystem import Passage, Search

from .markup import clean, marked_like
from .quantities import NumbersIn, numbers

QUOTE_SHOWN, FAULTS_SHOWN = 80, 5
"""Characters of a quote, and how many, that its author is told about."""


class Checker:
    """Asks a `Search` about evidence, each question once."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._passages: dict[str, Passage | None] = {}
        self._places: dict[tuple[str, str], str | None] = {}

    async def passage(self, evidence_id: str) -> Passage | None:
        """The passage of an evidence id, `None` when there is none."""
        if evidence_id not in self._passages:
            self._passages[evidence_id] = await self._search.passage(evidence_id)
        return self._passages[evidence_id]

    async def place_of(self, passage: Passage, quote: str) -> str | None:
        """Where a quote stands: the passage's place, else one elsewhere in its source, else `None`."""
        if stands_in(passage, quote):
            return passage.place
        return await self.place_in(passage.source, quote)

    async def place_in(self, source: str, quote: str) -> str | None:
        """Where a quote stands in a source, `None` when it does not or is empty."""
        key = (source, clean(quote))
        if not key[1]:
            return None
        if key not in self._places:
            self._places[key] = await self._search.find_quote(source, quote)
        return self._places[key]

    async def as_written(self, text: str, passage: Passage | None, source: str) -> str:
        """The source's own words for a sentence shown without their marks; the sentence if none read so.

        They are looked for in the passage, in the whole source when there is none.
        """
        if passage is not None:
            found = None if stands_in(passage, text) else marked_like(text, clean(passage.text))
        elif await self.place_in(source, text) is None:
            found = marked_like(text, await self._search.text(source) or "")
        else:
            found = None
        return found or text

    async def missing_numbers(
        self, text: str, passages: Sequence[Passage], quotes: Sequence[str] = ()
    ) -> list[str]:
        """The numbers of a sentence that its evidence does not hold, as written, each once.

        Evidence is text, heading and file name of the passages, and quotes from elsewhere in the same
        sources. A year may stand anywhere in a cited source: documents date themselves at the top.
        """
        held = NumbersIn(
            "\n".join(
                [*quotes, *(f"{each.source}\n{each.heading}\n{each.text}" for each in passages)]
            )
        )
        missing: dict[str, None] = {}
        for number in numbers(text):
            if number.inside or held.holds(number):
                continue
            if number.kind == "year" and await self._anywhere(number.written, passages):
                continue
            missing[number.written] = None
        return list(missing)

    async def _anywhere(self, written: str, passages: Sequence[Passage]) -> bool:
        for source in dict.fromkeys(passage.source for passage in passages):
            if await self.place_in(source, written) is not None:
                return True
        return False


def stands_in(passage: Passage, quote: str) -> bool:
    """True when a passage's text holds a quote verbatim; white space and invisible marks do not count."""
    wanted = clean(quote)
    return bool(wanted) and wanted in clean(passage.text)


async def unverified_quotes(conclusion: Conclusion, search: Search) -> list[Citation]:
    """The citations of a conclusion whose id does not exist or whose quote is not in that source."""
    checker = Checker(search)
    failed: list[Citation] = []
    for finding in conclusion.findings:
        for citation in finding.citations:
            passage = await checker.passage(citation.evidence)
            if passage is None or await checker.place_of(passage, citation.quote) is None:
                failed.append(citation)
    return failed


async def quote_faults(search: Search, output: Conclusion) -> list[str]:
    """Mark every citation of a conclusion as verified or not, and say what is wrong, for its author."""
    failed = await unverified_quotes(output, search)
    for finding in output.findings:
        for citation in finding.citations:
            citation.verified = not any(citation is other for other in failed)
    return [
        f"The quote {citation.quote[:QUOTE_SHOWN]!r} is not in the source of {citation.evidence!r}: copy it "
        "exactly, or leave the finding out."
        for citation in failed[:FAULTS_SHOWN]
    ]
