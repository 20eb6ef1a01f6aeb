"""The conclusion: what a subagent hands back, and all that its parent sees of its work."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Confidence = Literal["high", "medium", "low"]


class Citation(BaseModel):
    """One passage that supports a claim."""

    model_config = ConfigDict(extra="ignore")
    evidence: str = Field(
        description="Evidence id exactly as the search result gave it, e.g. e1a2b3c"
    )
    quote: str = Field(description="Words copied exactly from that passage")


class Finding(BaseModel):
    """One claim with what supports it."""

    model_config = ConfigDict(extra="ignore")
    claim: str = Field(description="One sentence")
    citations: list[Citation] = Field(default_factory=list[Citation])
    confidence: Confidence = "medium"


class Conclusion(BaseModel):
    """Hand back your result and end. Give the answer, findings with exact quotes, what stays open."""

    model_config = ConfigDict(extra="ignore")
    answer: str = Field(description="The answer in a few sentences; say so when nothing was found")
    findings: list[Finding] = Field(default_factory=list[Finding])
    open_questions: list[str] = Field(default_factory=list[str])
    next_steps: list[str] = Field(default_factory=list[str])
    status: Literal["done", "partial"] = Field(
        default="done", description="'partial' when the task is not answered completely"
    )
