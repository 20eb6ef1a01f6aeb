"""Undrift runs long agent tasks without losing the goal, and can prove it.

This is the only documented import: `from undrift import Agent, Coordinator, research`. Names are loaded
when first used, so that importing the facade is cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agents import (
        Agent,
        AgentDefinitionError,
        AgentEnded,
        AgentError,
        AgentStarted,
        Citation,
        Compacted,
        Compaction,
        Conclusion,
        Finding,
        LimitHit,
        LimitReached,
        Limits,
        Model,
        ModelUnavailable,
        Outcome,
        Price,
        Reply,
        ScriptedModel,
        StageStarted,
        TokenStreamed,
        Tool,
        ToolContext,
        ToolEnded,
        ToolError,
        ToolStarted,
        TurnEnded,
        TurnStarted,
        call,
        load_agent,
        load_agents,
        tool,
    )
    from filesystem import FolderCorpus, MergeRule, Search
    from memory import CallRule, Image, Recitation, Text, ToolCall, Usage
    from orchestrator import (
        Coordinator,
        Models,
        ResearchOptions,
        RunResult,
        as_subagent,
        assert_prefix_stable,
        research,
    )

_HOMES = {
    "Agent": "agents",
    "AgentDefinitionError": "agents",
    "AgentEnded": "agents",
    "AgentError": "agents",
    "AgentStarted": "agents",
    "CallRule": "memory",
    "Citation": "agents",
    "Compacted": "agents",
    "Compaction": "agents",
    "Conclusion": "agents",
    "Coordinator": "orchestrator",
    "Finding": "agents",
    "FolderCorpus": "filesystem",
    "Image": "memory",
    "LimitHit": "agents",
    "LimitReached": "agents",
    "Limits": "agents",
    "MergeRule": "filesystem",
    "Model": "agents",
    "ModelUnavailable": "agents",
    "Models": "orchestrator",
    "Outcome": "agents",
    "Price": "agents",
    "Recitation": "memory",
    "Reply": "agents",
    "ResearchOptions": "orchestrator",
    "RunResult": "orchestrator",
    "ScriptedModel": "agents",
    "Search": "filesystem",
    "StageStarted": "agents",
    "Text": "memory",
    "TokenStreamed": "agents",
    "Tool": "agents",
    "ToolCall": "memory",
    "ToolContext": "agents",
    "ToolEnded": "agents",
    "ToolError": "agents",
    "ToolStarted": "agents",
    "TurnEnded": "agents",
    "TurnStarted": "agents",
    "Usage": "memory",
    "as_subagent": "orchestrator",
    "assert_prefix_stable": "orchestrator",
    "call": "agents",
    "load_agent": "agents",
    "load_agents": "agents",
    "research": "orchestrator",
    "tool": "agents",
}

__all__ = [
    "Agent",
    "AgentDefinitionError",
    "AgentEnded",
    "AgentError",
    "AgentStarted",
    "CallRule",
    "Citation",
    "Compacted",
    "Compaction",
    "Conclusion",
    "Coordinator",
    "Finding",
    "FolderCorpus",
    "Image",
    "LimitHit",
    "LimitReached",
    "Limits",
    "MergeRule",
    "Model",
    "ModelUnavailable",
    "Models",
    "Outcome",
    "Price",
    "Recitation",
    "Reply",
    "ResearchOptions",
    "RunResult",
    "ScriptedModel",
    "Search",
    "StageStarted",
    "Text",
    "TokenStreamed",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolEnded",
    "ToolError",
    "ToolStarted",
    "TurnEnded",
    "TurnStarted",
    "Usage",
    "as_subagent",
    "assert_prefix_stable",
    "call",
    "load_agent",
    "load_agents",
    "research",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(home)
    try:
        return getattr(module, name)
    except AttributeError:
        raise ImportError(
            f"the package {home!r} that Python found at {getattr(module, '__file__', None)!r} is not "
            "Undrift's: another distribution installs a package of the same name. Install Undrift in a "
            "virtual environment of its own"
        ) from None
