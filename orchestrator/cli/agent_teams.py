"""Agents from Markdown files on the command line: a file is an agent, a folder a lead and its subagents."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .guard import BadInput

if TYPE_CHECKING:
    from agents import Tool

    from ..coordinator import Coordinator
    from ..result import RunResult

LEAD = "lead"
"""Name of the agent of a folder that delegates to the others."""


def are_agent_files(where: str) -> bool:
    """True for a folder or a Markdown file, False for what can only be `FILE.py:OBJECT`."""
    return Path(where).suffix == ".md" or Path(where).is_dir()


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """A team that stands in files, and what it works with."""

    where: str
    """Path of the file or folder."""
    docs: tuple[str, ...] = ()
    """What the tools `search` and `read_source` read, and agents with file tools under `/inputs`; without
    documents there are no such tools."""
    models: tuple[str, ...] = ()
    """A fallback chain for all agents that name no model."""

    @classmethod
    def given(cls, where: str, docs: Sequence[Path], model: str | None) -> "AgentFiles":
        """From the words of a command."""
        chain = tuple(name.strip() for name in (model or "").split(",") if name.strip())
        return cls(str(Path(where).absolute()), tuple(str(path.absolute()) for path in docs), chain)

    @classmethod
    def stored(cls, options: Mapping[str, object]) -> "AgentFiles":
        """From the options of a run that was started with them."""

        def words(key: str) -> tuple[str, ...]:
            value = options.get(key)
            return tuple(map(str, value)) if isinstance(value, list) else ()  # pyright: ignore[reportUnknownArgumentType] - JSON

        return cls(str(options.get("object")), words("docs"), words("models"))

    async def work(
        self, runs: Path, work: "Callable[[Coordinator], Awaitable[RunResult]]"
    ) -> "RunResult":
        """Make the team, have it work, and close its documents.

        Raises `BadInput` and `AgentDefinitionError` before anything is spent.
        """
        from ..researching.entry import open_corpus
        from ..researching.search_tools import search_tools

        if not self.docs:
            return await work(self._team([], runs))
        corpus = await open_corpus([Path(path) for path in self.docs], runs)
        try:
            team = self._team(search_tools(corpus), runs)
            team.give(corpus.files())
            return await work(team)
        finally:
            await corpus.close()

    def _team(self, tools: "Sequence[Tool]", runs: Path) -> "Coordinator":
        from agents import load_agent, load_agents

        from ..coordinator import Coordinator

        path = Path(self.where)
        agents = load_agents(path, tools) if path.is_dir() else {LEAD: load_agent(path, tools)}
        lead = agents.pop(LEAD if len(agents) > 1 else next(iter(agents)), None)
        if lead is None:
            raise BadInput(
                f"no agent in {self.where!r} is called {LEAD!r}: give that name to the one that gets the task"
            )
        if lead.model is None and not self.models:
            raise BadInput(
                f"agent {lead.name!r} has no model: name one with --model, or in its file"
            )
        team = Coordinator(lead, [*agents.values()], model=self.models or None, runs=runs)
        team.options |= {
            "object": self.where,
            "docs": list(self.docs),
            "models": list(self.models),
        }
        return team
