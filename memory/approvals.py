"""Events of a call that waits for a person: what was asked, and what the person decided."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["approve", "reject", "edit"]


@dataclass(frozen=True, slots=True)
class ApprovalAsked:
    """A tool call waits for a person; it has not been made."""

    call_id: str
    """As the model sees it: unique inside the newest reply of the thread."""
    name: str
    """Name of the tool."""
    arguments: str
    """JSON text as the model wrote it."""
    reason: Literal["approval", "crash"] = "approval"
    """`crash`: it was under way when the program stopped, and its tool wants a person asked then."""


@dataclass(frozen=True, slots=True)
class ApprovalGiven:
    """A person decided about a call that waited."""

    call_id: str
    verdict: Verdict
    arguments: str = ""
    """For `edit`: the JSON text to call with in place of the model's."""
    note: str = ""
    """For `reject`: words for the model, `""` for none."""
