"""A `Search` over a few passages held in memory, and short ways to write a report's input."""

from collections.abc import Sequence
from typing import Any

from agents import Citation, Conclusion, Finding, Outcome
from filesystem import Passage, SearchResult
from memory import Status, Usage
from orchestrator.researching.report import Answered, ReportInput
from orchestrator.researching.report_parts import Mode
from orchestrator.researching.shapes import Draft, Section, Sentence, SubQuestion


class MemorySearch:
    """Answers for ids and quotes; searching is not needed to check a report."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = {passage.id: passage for passage in passages}

    async def search(self, query: str, limit: int = 10) -> SearchResult:
        return SearchResult(query, (), False)

    async def passage(self, evidence_id: str) -> Passage | None:
        return self.passages.get(evidence_id)

    async def text(self, source: str) -> str | None:
        texts = [each.text for each in self.passages.values() if each.source == source]
        return "\n\n".join(texts) or None

    async def find_quote(self, source: str, quote: str) -> str | None:
        wanted = " ".join(quote.split())
        for passage in self.passages.values():
            if passage.source == source and wanted in " ".join(passage.text.split()):
                return passage.place
        return None


def passage(
    id: str, text: str, source: str = "a.md", place: str = "line 1", **more: Any
) -> Passage:
    return Passage(id, source, place, more.get("heading", ""), text, more.get("status", "current"))


def concluded(answer: str, *findings: tuple[str, str, str], **more: Any) -> Conclusion:
    """Findings as (claim, evidence id, quote)."""
    return Conclusion(
        answer=answer,
        findings=[
            Finding(claim=claim, citations=[Citation(evidence=evidence, quote=quote)])
            for claim, evidence, quote in findings
        ],
        **more,
    )


def answered(
    id: str,
    conclusion: Conclusion | None = None,
    status: Status = "done",
    reason: str = "",
    question: str = "",
) -> Answered:
    output = conclusion.model_dump() if conclusion else {}
    outcome = Outcome(id, "researcher", "", status, reason, output)
    return Answered(SubQuestion(id=id, question=question or f"What about {id}?"), outcome)


def draft(summary: Sequence[Any] = (), **sections: Sequence[Any]) -> Draft:
    """Sentences as (text, evidence id, ...)."""
    return Draft(
        summary=[Sentence(text=text, evidence=list(ids)) for text, *ids in summary],
        sections=[
            Section(
                question=id,
                sentences=[Sentence(text=text, evidence=list(ids)) for text, *ids in sentences],
            )
            for id, sentences in sections.items()
        ],
    )


def report_input(
    *items: Answered, written: Draft | None = None, mode: Mode = "model", **more: Any
) -> ReportInput:
    given: dict[str, Any] = {
        "run_id": "run-1",
        "question": "What is known?",
        "title": "What is known",
        "usage": Usage(1200, 300, 0),
        "models": ["some-model"],
    }
    return ReportInput(**{**given, **more}, answered=items, draft=written, mode=mode)
