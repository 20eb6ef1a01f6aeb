"""The report of a research run: what goes in, what comes out, and how it is put together.

Its text is data first (`Report`, stored as `report.json`); Markdown is one rendering of it. The same
input gives the same bytes.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from agents import Conclusion, Outcome
from filesystem import Search, Skipped
from memory import Usage

from .checks import Checker
from .composing import Composer, quotes_of
from .conflicts import Stated, find_conflicts
from .markup import clean, clip
from .report_parts import (
    Checks,
    ConflictSide,
    Gap,
    Mode,
    NotRead,
    Part,
    ReportCitation,
    ReportConflict,
    ReportSection,
    ReportSentence,
    ReportUsage,
)
from .shapes import Draft, SubQuestion

FORMAT = 1
"""Version of `report.json`."""
MAX_REASON = 300
"""Characters of a reason or a researcher's words under the gaps."""
MAX_TITLE = 120
"""Characters of a title."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One sub-question and what came of it."""

    question: SubQuestion
    outcome: Outcome
    """Its `conclusion` is `None`, and status and reason say why, when nothing usable came."""


@dataclass(frozen=True, slots=True)
class ReportInput:
    """Everything a report is made of, but for the sources themselves."""

    run_id: str
    question: str
    """The user's words."""
    title: str
    """The planner's title; `""` takes the question's beginning."""
    answered: Sequence[Answered]
    """In the order of the plan, whichever researcher was first: the order of the sections."""
    draft: Draft | None
    """The writer's text; sections that it lacks are made of the conclusions."""
    usage: Usage
    mode: Mode
    models: Sequence[str] = ()
    """Names of the models that worked."""
    problems: Sequence[str] = ()
    """What went wrong outside the researchers."""
    skipped: Sequence[Skipped] = ()
    """Files among the documents that could not be searched."""


class Report(Part):
    """A finished report, every claim checked."""

    format: int = FORMAT
    run_id: str
    question: str
    title: str
    mode: Mode
    """`extractive`: an evidence brief whose sentences are quotes; `model`: written text."""
    status: Literal["done", "partial", "failed"]
    """`partial` when a sub-question lacks a complete answer, `failed` when nothing could be cited."""
    reason: str = ""
    """Why the status is not `done`."""
    summary: ReportSection | None
    sections: list[ReportSection]
    citations: list[ReportCitation]
    conflicts: list[ReportConflict] = Field(default_factory=list[ReportConflict])
    gaps: list[Gap] = Field(default_factory=list[Gap])
    not_read: list[NotRead] = Field(default_factory=list[NotRead])
    """What could have held an answer; it does not change the status."""
    sources: list[str]
    """The files that are cited, in order of appearance."""
    checks: Checks
    usage: ReportUsage


async def build_report(given: ReportInput, search: Search) -> Report:
    """Put the report together and check it: ids, quotes and numbers.

    Raises only what `search` raises; whatever the models wrote becomes text or a mark.
    """
    conclusions = [item.outcome.conclusion for item in given.answered]
    found = [each for each in conclusions if each is not None]
    known = quotes_of(found)
    composer = Composer(Checker(search), given.mode, known)
    summary = await _summary(composer, given.draft)
    sections = [await _section(composer, item, given.draft) for item in given.answered]
    if given.mode == "model":  # what the writer left out can still contradict what it kept
        for evidence, quotes in known.items():
            for quote in quotes:
                await composer.state(evidence, quote)
    conflicts = [_conflict(composer, *pair) for pair in find_conflicts(composer.stated)]
    citations = composer.citations()
    gaps = _gaps(given)
    status, reason = _status(given, gaps, citations)
    sentences = [
        each
        for section in [*([summary] if summary else []), *sections]
        for each in section.sentences
    ]
    return Report(
        run_id=given.run_id,
        question=given.question,
        title=clip(given.title, MAX_TITLE) or clip(given.question, MAX_TITLE) or "Report",
        mode=given.mode,
        status=status,
        reason=reason,
        summary=summary,
        sections=sections,
        citations=citations,
        conflicts=conflicts,
        gaps=gaps,
        not_read=[
            NotRead(source=clean(each.source), reason=clip(each.reason, MAX_REASON))
            for each in given.skipped
        ],
        sources=list(dict.fromkeys(citation.source for citation in citations)),
        checks=_checks(sentences, citations),
        usage=_usage(given),
    )


async def _summary(composer: Composer, draft: Draft | None) -> ReportSection | None:
    wanted = [each for each in draft.summary if clean(each.text)] if draft else []
    if not wanted:
        return None
    sentences = [await composer.drafted(each) for each in wanted]
    return ReportSection(question="", heading="Summary", sentences=sentences)


async def _section(composer: Composer, item: Answered, draft: Draft | None) -> ReportSection:
    drafted = next(
        (each for each in (draft.sections if draft else []) if each.question == item.question.id),
        None,
    )
    wanted = [each for each in drafted.sentences if clean(each.text)] if drafted else []
    sentences = [await composer.drafted(each) for each in wanted]
    conclusion = item.outcome.conclusion
    if not sentences and conclusion is not None:
        sentences = [each for each in await composer.concluded(conclusion) if each.text]
    return ReportSection(
        question=item.question.id, heading=clean(item.question.question), sentences=sentences
    )


def _conflict(
    composer: Composer, about: list[str], first: tuple[Stated, str], second: tuple[Stated, str]
) -> ReportConflict:
    def side(stated: Stated, value: str) -> ConflictSide:
        return ConflictSide(
            value=value,
            quote=stated.quote,
            citation=composer.cite(stated.passage, stated.place, stated.quote, True),
            status=stated.passage.status,
        )

    return ReportConflict(about=about, sides=(side(*first), side(*second)))


def _gaps(given: ReportInput) -> list[Gap]:
    gaps = [gap for item in given.answered for gap in _gaps_of(item)]
    return [*gaps, *(Gap(kind="problem", text=clip(text, MAX_REASON)) for text in given.problems)]


def _gaps_of(item: Answered) -> list[Gap]:
    outcome, conclusion = item.outcome, item.outcome.conclusion
    named = {"id": item.question.id, "question": clean(item.question.question)}
    gaps: list[Gap] = []
    if not outcome.ok:
        reason = clip(outcome.reason, MAX_REASON)
        gaps.append(Gap(kind="failed", status=outcome.status, text=reason, **named))
    elif conclusion is None or not conclusion.findings:
        words = conclusion.answer if conclusion else outcome.reason
        gaps.append(Gap(kind="no_findings", text=clip(words, MAX_REASON), **named))
    elif "partial" in (outcome.status, conclusion.status):
        reason = clip(outcome.reason, MAX_REASON)
        gaps.append(Gap(kind="partial", status="partial", text=reason, **named))
    asked = _open_questions(conclusion)
    return gaps + [Gap(kind="open_question", text=text, **named) for text in asked]


def _open_questions(conclusion: Conclusion | None) -> list[str]:
    texts = [clip(text, MAX_REASON) for text in conclusion.open_questions] if conclusion else []
    return list(dict.fromkeys(text for text in texts if text))


def _status(
    given: ReportInput, gaps: Sequence[Gap], citations: Sequence[ReportCitation]
) -> tuple[Literal["done", "partial", "failed"], str]:
    missing = [gap for gap in gaps if gap.kind in ("failed", "no_findings", "partial")]
    reasons: list[str] = []
    if missing:
        named = ", ".join(f"{gap.id} ({gap.status or 'no findings'})" for gap in missing)
        reasons.append(
            f"{len(missing)} of {len(given.answered)} sub-questions lack a complete answer: {named}"
        )
    reasons += [gap.text for gap in gaps if gap.kind == "problem"]
    if not citations:
        return "failed", "; ".join(["nothing could be cited", *reasons])
    return ("partial" if reasons else "done"), "; ".join(reasons)


def _checks(sentences: Sequence[ReportSentence], citations: Sequence[ReportCitation]) -> Checks:
    kinds = Counter(mark.kind for sentence in sentences for mark in sentence.marks)
    quotes = [quote for citation in citations for quote in citation.quotes]
    return Checks(
        sentences=len(sentences),
        citations=len(citations),
        quotes=len(quotes),
        quotes_unverified=sum(not quote.verified for quote in quotes),
        evidence_unknown=kinds["unknown_evidence"],
        sentences_uncited=kinds["no_evidence"],
        numbers_missing=kinds["number"],
    )


def _usage(given: ReportInput) -> ReportUsage:
    return ReportUsage(
        input_tokens=given.usage.input_tokens,
        output_tokens=given.usage.output_tokens,
        cached_tokens=given.usage.cached_tokens,
        models=list(dict.fromkeys(given.models)),
        researchers=len(given.answered),
    )
