"""Coordination: a LangGraph graph that sends subagents out in parallel, and the research graph.

The one idea: the graph holds ids and counters, the event log holds what happened, and a subagent is one
node of the graph whatever it does inside. Start reading at `coordinator.py`, then `graph.py`. Names are
loaded when first used, because importing LangGraph takes most of a second.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .branching import fork_run
    from .coordinator import Coordinator
    from .errors import (
        DecisionRefused,
        OrchestratorError,
        PurgeRefused,
        QuestionRefused,
        RunNotFound,
        RunNotTrusted,
        TurnNotFound,
    )
    from .foreign import RunnableSubagent, as_subagent
    from .log_reading import RunCheck, read_turn, verify_run
    from .models import Models
    from .prefix_check import assert_prefix_stable
    from .purging import purge_run
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
    "PurgeRefused": "errors",
    "QuestionRefused": "errors",
    "ResearchOptions": "researching",
    "RunCheck": "log_reading",
    "RunInfo": "runs",
    "RunNotFound": "errors",
    "RunNotTrusted": "errors",
    "RunResult": "result",
    "RunnableSubagent": "foreign",
    "Runner": "tasks",
    "TaskSpec": "tasks",
    "TurnNotFound": "errors",
    "as_subagent": "foreign",
    "ask_research": "researching",
    "assert_prefix_stable": "prefix_check",
    "find_run": "runs",
    "fork_run": "branching",
    "list_runs": "runs",
    "purge_run": "purging",
    "read_turn": "log_reading",
    "remove_run": "runs",
    "research": "researching",
    "resume_research": "researching",
    "verify_run": "log_reading",
}

__all__ = [
    "AsyncRunner",
    "Coordinator",
    "DecisionRefused",
    "Models",
    "OrchestratorError",
    "PurgeRefused",
    "QuestionRefused",
    "ResearchOptions",
    "RunCheck",
    "RunInfo",
    "RunNotFound",
    "RunNotTrusted",
    "RunResult",
    "RunnableSubagent",
    "Runner",
    "TaskSpec",
    "TurnNotFound",
    "as_subagent",
    "ask_research",
    "assert_prefix_stable",
    "find_run",
    "fork_run",
    "list_runs",
    "purge_run",
    "read_turn",
    "remove_run",
    "research",
    "resume_research",
    "verify_run",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)
