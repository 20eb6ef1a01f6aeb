"""Coordination: a LangGraph graph that sends subagents out in parallel, and the research graph.

The one idea: the graph holds ids and counters, the event log holds what happened, and a subagent is one
node of the graph whatever it does inside. Start reading at `coordinator.py`, then `graph.py`. Names are
loaded when first used, because importing LangGraph takes most of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .coordinator import Coordinator
    from .errors import DecisionRefused, OrchestratorError, QuestionRefused, RunNotFound
    from .foreign import RunnableSubagent, as_subagent
    from .models import Models
    from .researching import ResearchOptions, ask_research, research, resume_research
    from .result import RunResult
    from .runner import AsyncRunner
    from .runs import RunInfo, find_run, list_runs, remove_run
    from .tasks import Runner, TaskSpec

_HOMES = {
    "AsyncRunner": "runner",
    "Coordinator": "coordinator",
    "DecisionRefused": "errors",
    "Models": "models",
    "OrchestratorError": "errors",
    "QuestionRefused": "errors",
    "ResearchOptions": "researching",
    "RunInfo": "runs",
    "RunNotFound": "errors",
    "RunResult": "result",
    "RunnableSubagent": "foreign",
    "Runner": "tasks",
    "TaskSpec": "tasks",
    "as_subagent": "foreign",
    "ask_research": "researching",
    "find_run": "runs",
    "list_runs": "runs",
    "remove_run": "runs",
    "research": "researching",
    "resume_research": "researching",
}

__all__ = [
    "AsyncRunner",
    "Coordinator",
    "DecisionRefused",
    "Models",
    "OrchestratorError",
    "QuestionRefused",
    "ResearchOptions",
    "RunInfo",
    "RunNotFound",
    "RunResult",
    "RunnableSubagent",
    "Runner",
    "TaskSpec",
    "as_subagent",
    "ask_research",
    "find_run",
    "list_runs",
    "remove_run",
    "research",
    "resume_research",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)
