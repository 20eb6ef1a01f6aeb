"""The conclusion: what a subagent hands back, and all that its parent sees of its work."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

Confidence = Literal["high", "medium", "low"]


class Citation(BaseModel):
    """One passage that supports a claim."""

    model_config = ConfigDict(extra="ignore")
    evidence: str = Field(
        default="",
        description="Evidence id exactly as the search result gave it, e.g. e1a2b3c",
    )
    quote: str = Field(description="Words copied exactly from that passage")
    source: str = Field(default="", description="File or address, where there is no evidence id")
    place: str = Field(default="", description="Page, line or section in that source")
    verified: SkipJsonSchema[bool | None] = None
    """Set by code: whether the quote is in its source; `None` when nobody checked."""


class Finding(BaseModel):
    """One claim with what supports it."""

    model_config = ConfigDict(extra="ignore")
    claim: str = Field(description="One sentence")
    citations: list[Citation] = Field(default_factory=list[Citation])
    confidence: Confidence = "medium"

    @property
    def verified(self) -> bool:
        """True when it has citations and none was found wrong or left unchecked."""
        return bool(self.citations) and all(citation.verified for citation in self.citations)


class Conclusion(BaseModel):
    """Hand back your result and end. Give the answer itself, not where it stands; findings with exact
    quotes; what stays open. At most 2,000 tokens: put long material into files and name them."""

    model_config = ConfigDict(extra="ignore")
    answer: str = Field(description="The answer in a few sentences; say so when nothing was found")
    findings: list[Finding] = Field(default_factory=list[Finding])
    artifacts: list[str] = Field(
        default_factory=list[str], description="Paths of files that hold more"
    )
    open_questions: list[str] = Field(default_factory=list[str])
    next_steps: list[str] = Field(default_factory=list[str])
    status: Literal["done", "partial"] = Field(
        default="done", description="'partial' when the task is not answered completely"
    )
