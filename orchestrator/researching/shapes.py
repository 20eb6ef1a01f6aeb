"""What the research agents hand to each other: the outputs that their models must produce."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

MAX_QUESTIONS = 8


class SubQuestion(BaseModel):
    """One thing to find out."""

    model_config = ConfigDict(extra="ignore")
    id: str = Field(description="q1, q2, ...")
    question: str = Field(description="Complete in itself: a researcher sees nothing else")
    depends_on: list[str] = Field(
        default_factory=list[str], description="Ids of questions whose answers this one needs"
    )


class Plan(BaseModel):
    """Hand in the plan: a short title and the sub-questions, one only when the question is simple."""

    model_config = ConfigDict(extra="ignore")
    title: str = Field(description="Title of the report, at most 12 words")
    questions: Annotated[list[SubQuestion], Field(min_length=1, max_length=MAX_QUESTIONS)]


class Gaps(BaseModel):
    """Hand in the review: new questions whose answers are still missing, none when all is answered."""

    model_config = ConfigDict(extra="ignore")
    questions: list[SubQuestion] = Field(
        default_factory=list[SubQuestion], max_length=MAX_QUESTIONS
    )


class Sentence(BaseModel):
    """One sentence of the report and the evidence for it."""

    model_config = ConfigDict(extra="ignore")
    text: str
    evidence: list[str] = Field(
        default_factory=list[str], description="Evidence ids from the findings; never a file name"
    )


class Section(BaseModel):
    """The answer to one sub-question."""

    model_config = ConfigDict(extra="ignore")
    question: str = Field(description="Id of the sub-question")
    sentences: list[Sentence]


class Draft(BaseModel):
    """Hand in the report's text: a summary and one section for each sub-question."""

    model_config = ConfigDict(extra="ignore")
    summary: list[Sentence] = Field(default_factory=list[Sentence])
    sections: list[Section]
