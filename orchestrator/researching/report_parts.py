"""The parts of a report, as `report.json` stores them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Mode = Literal["extractive", "model"]
MarkKind = Literal["no_evidence", "unknown_evidence", "quote", "number"]
GapKind = Literal["failed", "no_findings", "partial", "open_question", "problem"]


class Part(BaseModel):
    """Stored data: never changed once made, unknown keys of later versions are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Mark(Part):
    """One check that a sentence failed."""

    kind: MarkKind
    """`no_evidence`: cites nothing; `unknown_evidence`: cites an id that does not exist; `quote`: its
    quote is not in the source; `number`: a number is not in the evidence."""
    detail: str = ""
    """The id, or the numbers, as written."""


class ReportSentence(Part):
    """One sentence with its citations, all on one line."""

    text: str
    citations: list[int] = Field(default_factory=list[int])
    """Numbers in `Report.citations`, ascending."""
    marks: list[Mark] = Field(default_factory=list[Mark])
    """Empty when every check passed."""


class ReportSection(Part):
    """The answer to one sub-question, or the summary."""

    question: str
    """Id of the sub-question, `""` for the summary."""
    heading: str
    sentences: list[ReportSentence]
    """Empty when nothing was found."""


class ReportQuote(Part):
    """Words from a source."""

    text: str
    verified: bool
    """True when they were found verbatim in it."""


class ReportCitation(Part):
    """One place in one source."""

    number: int
    """From 1, in order of appearance."""
    evidence: str
    """Evidence id of the passage."""
    source: str
    place: str
    """"page 3" or "lines 10-24"; narrower than the passage when a quote stands outside it."""
    quotes: list[ReportQuote]


class ConflictSide(Part):
    """What one source says."""

    value: str
    """The number or date as written there."""
    quote: str
    citation: int
    status: str = "current"
    """What the source says of itself: `current`, `archived` or `superseded`."""


class ReportConflict(Part):
    """Two verified quotes that give the same quantity a different value or date."""

    about: list[str]
    """The terms both share, normalised."""
    sides: tuple[ConflictSide, ConflictSide]


class Gap(Part):
    """Something that is missing."""

    kind: GapKind
    question: str = ""
    """The sub-question in full, `""` for a problem of the whole run."""
    id: str = ""
    """Its id, which is also the researcher's thread."""
    status: str = ""
    """How the researcher ended, for `failed` and `partial`."""
    text: str = ""
    """The reason, the open question, or what the researcher said."""


class NotRead(Part):
    """A file among the documents that could not be searched."""

    source: str
    reason: str


class Checks(Part):
    """How many things were checked and how many failed."""

    sentences: int = 0
    citations: int = 0
    quotes: int = 0
    """Distinct quotes behind the citations."""
    quotes_unverified: int = 0
    evidence_unknown: int = 0
    """Citations dropped because their id does not exist."""
    sentences_uncited: int = 0
    numbers_missing: int = 0

    @property
    def failed(self) -> int:
        """Everything that failed."""
        return (
            self.quotes_unverified
            + self.evidence_unknown
            + self.sentences_uncited
            + self.numbers_missing
        )


class ReportUsage(Part):
    """What the run took."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    """The part of `input_tokens` that the provider read from its cache."""
    models: list[str]
    researchers: int
    """Sub-questions that a researcher worked on."""
