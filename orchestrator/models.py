"""Models by role: which model leads, researches, summarises and writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents import AgentDefinitionError, Model

Chain = Model | str | Sequence[Model | str]
"""A model, its name, or several in the order in which they are tried."""
ROLES = ("lead", "researcher", "summariser", "writer")


@dataclass(frozen=True, slots=True)
class Models:
    """A model, or a fallback chain, for each role. A role left out uses the lead's."""

    lead: Chain = "extractive"
    researcher: Chain | None = None
    summariser: Chain | None = None
    writer: Chain | None = None

    def chain(self, role: str) -> Chain:
        """What serves a role."""
        return getattr(self, role) or self.lead

    @classmethod
    def parse(cls, words: Sequence[str]) -> "Models":
        """Read command-line words: `NAME`, `ROLE=NAME`; commas separate a fallback chain.

        Raises `AgentDefinitionError` for a role that does not exist.
        """
        chosen: dict[str, Any] = {}
        for word in words:
            role, equals, names = word.partition("=")
            if not equals:
                role, names = "lead", word
            if role not in ROLES:
                raise AgentDefinitionError(f"unknown role {role!r}; use one of {', '.join(ROLES)}")
            chosen[role] = [name.strip() for name in names.split(",") if name.strip()]
        return cls(**chosen)
