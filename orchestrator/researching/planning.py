"""Order in a plan: which questions can be asked now, and what a researcher is told."""

from collections.abc import Mapping, Sequence

from memory import dumps

from .report import Answered
from .shapes import Plan, SubQuestion

KNOWN = "Known from earlier questions:"


def tidy_plan(plan: Plan, prefix: str = "q") -> Plan:
    """A plan with ids `q1`, `q2`... and only dependencies that exist and come earlier.

    A model may number as it likes, name itself, or make a circle; none of that can block the run.
    """
    names = {question.id: f"{prefix}{number}" for number, question in enumerate(plan.questions, 1)}
    tidy: list[SubQuestion] = []
    for number, question in enumerate(plan.questions, 1):
        earlier = {other.id for other in tidy}
        needs = [names[d] for d in question.depends_on if names.get(d) in earlier]
        text = " ".join(question.question.split())
        tidy.append(SubQuestion(id=f"{prefix}{number}", question=text, depends_on=needs))
    return Plan(title=plan.title, questions=tidy)


def ready(questions: Sequence[SubQuestion], answered: Mapping[str, Answered]) -> list[SubQuestion]:
    """The questions not asked yet whose dependencies are answered, well or badly."""
    return [
        question
        for question in questions
        if question.id not in answered and all(need in answered for need in question.depends_on)
    ]


def research_task(question: SubQuestion, answered: Mapping[str, Answered]) -> str:
    """What a researcher is told: the question, then what earlier ones found."""
    known: list[str] = []
    for need in question.depends_on:
        before = answered[need]
        conclusion = before.outcome.conclusion
        answer = conclusion.answer if conclusion else f"not answered ({before.outcome.status})"
        known.append(f"- {before.question.question} {answer}")
    return "\n\n".join([question.question, *([KNOWN + "\n" + "\n".join(known)] if known else [])])


def review_task(question: str, number: int, answered: Sequence[Answered]) -> str:
    """What the reviewer is told, as JSON."""
    rows = [
        {
            "id": item.question.id,
            "question": item.question.question,
            "status": item.outcome.status,
            "answer": item.outcome.conclusion.answer if item.outcome.conclusion else "",
            "findings": len(item.outcome.conclusion.findings) if item.outcome.conclusion else 0,
        }
        for item in answered
    ]
    return dumps({"question": question, "round": number, "answered": rows}).decode()


def writing_task(
    question: str, title: str, answered: Sequence[Answered], places: Mapping[str, tuple[str, str]]
) -> str:
    """What the writer is told, as JSON; `places` gives source and place of each evidence id."""
    sections: list[dict[str, object]] = []
    for item in answered:
        conclusion = item.outcome.conclusion
        findings = conclusion.findings if conclusion else []
        sections.append(
            {
                "id": item.question.id,
                "question": item.question.question,
                "status": item.outcome.status,
                "answer": conclusion.answer if conclusion else "",
                "findings": [
                    {
                        "claim": finding.claim,
                        "confidence": finding.confidence,
                        "citations": [
                            {
                                "evidence": citation.evidence,
                                "quote": citation.quote,
                                "source": places.get(citation.evidence, ("", ""))[0],
                                "place": places.get(citation.evidence, ("", ""))[1],
                            }
                            for citation in finding.citations
                        ],
                    }
                    for finding in findings
                ],
                "open_questions": conclusion.open_questions if conclusion else [],
            }
        )
    return dumps({"question": question, "title": title, "sections": sections}).decode()
