"""The research team: planner, researcher, reviewer and writer, each with its prompt from a file."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from agents import Agent, Conclusion, Limits, Model
from filesystem import Search

from ..subagents import AgentSubagent, Subagent
from .checks import quote_faults
from .search_tools import search_tools
from .shapes import Draft, Gaps, Plan

PROMPTS = Path(__file__).parent / "prompts"
RESEARCHER_SECONDS = 600.0
"""Wall time of one researcher."""
MAX_OUTLINE = 60
"""Sources named to the planner."""


def research_team(
    corpus: Search,
    sources: Sequence[str],
    models: Mapping[str, Sequence[Model]],
    *,
    file_tools: bool = False,
) -> dict[str, Subagent]:
    """The four agents by name. `models` holds a fallback chain for each role.

    With `file_tools` the researchers read the documents under `/inputs` as well.
    """
    lead = Limits(turns=8)
    planner = prompt("planner") + _outline(sources)
    agents = [
        (Agent("planner", planner, output_type=Plan, limits=lead), "lead"),
        (
            Agent(
                "researcher",
                prompt("researcher") + (prompt("researcher-files") if file_tools else ""),
                tools=search_tools(corpus),
                files="all" if file_tools else "auto",
                output_type=Conclusion,
                check=partial(quote_faults, corpus),
                limits=Limits(turns=16, seconds=RESEARCHER_SECONDS),
            ),
            "researcher",
        ),
        (Agent("reviewer", prompt("reviewer"), output_type=Gaps, limits=lead), "lead"),
        (Agent("writer", prompt("writer"), output_type=Draft, limits=lead), "writer"),
    ]
    return {agent.name: AgentSubagent(agent, models[role]) for agent, role in agents}


def prompt(name: str) -> str:
    """The text of a prompt file."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def _outline(sources: Sequence[str]) -> str:
    if not sources:
        return ""
    named = "\n".join(f"- {source}" for source in sources[:MAX_OUTLINE])
    more = f"\n- and {len(sources) - MAX_OUTLINE} more" if len(sources) > MAX_OUTLINE else ""
    return f"\nThe documents:\n{named}{more}\n"
