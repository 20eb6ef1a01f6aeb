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
        AgentError,
        Citation,
        Compaction,
        Conclusion,
        Finding,
        LimitReached,
        Limits,
        Model,
        ModelUnavailable,
        Outcome,
        Reply,
        ScriptedModel,
        Tool,
        ToolContext,
        ToolError,
        call,
        tool,
    )
    from filesystem import FolderCorpus, Search
    from memory import Image, Text, ToolCall, Usage
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
    "AgentError": "agents",
    "Citation": "agents",
    "Compaction": "agents",
    "Conclusion": "agents",
    "Coordinator": "orchestrator",
    "Finding": "agents",
    "FolderCorpus": "filesystem",
    "Image": "memory",
    "LimitReached": "agents",
    "Limits": "agents",
    "Model": "agents",
    "ModelUnavailable": "agents",
    "Models": "orchestrator",
    "Outcome": "agents",
    "Reply": "agents",
    "ResearchOptions": "orchestrator",
    "RunResult": "orchestrator",
    "ScriptedModel": "agents",
    "Search": "filesystem",
    "Text": "memory",
    "Tool": "agents",
    "ToolCall": "memory",
    "ToolContext": "agents",
    "ToolError": "agents",
    "Usage": "memory",
    "as_subagent": "orchestrator",
    "assert_prefix_stable": "orchestrator",
    "call": "agents",
    "research": "orchestrator",
    "tool": "agents",
}

__all__ = [
    "Agent",
    "AgentDefinitionError",
    "AgentError",
    "Citation",
    "Compaction",
    "Conclusion",
    "Coordinator",
    "Finding",
    "FolderCorpus",
    "Image",
    "LimitReached",
    "Limits",
    "Model",
    "ModelUnavailable",
    "Models",
    "Outcome",
    "Reply",
    "ResearchOptions",
    "RunResult",
    "ScriptedModel",
    "Search",
    "Text",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "Usage",
    "as_subagent",
    "assert_prefix_stable",
    "call",
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
