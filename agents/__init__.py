"""Agents: what they are, how one takes its turns, and the models they talk to.

The one idea: an agent holds no state. A session is an agent at work on a thread of the event log; a
turn is one model call and the tool calls it asked for. Start reading at `agent.py`.
"""

from .acting import record as record_result
from .agent import Agent, See
from .approving import paused, paused_outcome
from .conclusion import Citation, Conclusion, Finding
from .ending import outcome_of, stopped
from .errors import AgentDefinitionError, AgentError, LimitReached, ModelUnavailable, ToolError
from .faults import Check
from .handing import CAP, Handing, fitted, shown, size_of
from .limits import Hold, Limits, Meter
from .lookback_tools import LOOKBACK, lookback_tools
from .models import (
    AnthropicCodec,
    ChatCodec,
    Delta,
    LangChainModel,
    Model,
    Reply,
    Retries,
    ScriptedModel,
    WireModel,
    WireOptions,
    call,
    codec_for,
    resolve_model,
)
from .outcome import Outcome, PendingCall, outcome_from
from .prices import Price
from .progress import (
    AgentEnded,
    AgentStarted,
    Emit,
    Progress,
    StageStarted,
    TokenStreamed,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    ignore,
)
from .reciting import room_of, tail_of
from .salvaging import salvaged
from .session import Run, Session, open_session
from .todo_tools import read_plan_tool, todo_tools
from .tools import AnyTool, Tool, ToolContext, as_tool, schema_of, tool
from .tree import GRACE_SECONDS, Place, Tree

__all__ = [
    "CAP",
    "GRACE_SECONDS",
    "LOOKBACK",
    "Agent",
    "AgentDefinitionError",
    "AgentEnded",
    "AgentError",
    "AgentStarted",
    "AnthropicCodec",
    "AnyTool",
    "ChatCodec",
    "Check",
    "Citation",
    "Conclusion",
    "Delta",
    "Emit",
    "Finding",
    "Handing",
    "Hold",
    "LangChainModel",
    "LimitReached",
    "Limits",
    "Meter",
    "Model",
    "ModelUnavailable",
    "Outcome",
    "PendingCall",
    "Place",
    "Price",
    "Progress",
    "Reply",
    "Retries",
    "Run",
    "ScriptedModel",
    "See",
    "Session",
    "StageStarted",
    "TokenStreamed",
    "Tool",
    "ToolContext",
    "ToolEnded",
    "ToolError",
    "ToolStarted",
    "Tree",
    "TurnEnded",
    "TurnStarted",
    "WireModel",
    "WireOptions",
    "as_tool",
    "call",
    "codec_for",
    "fitted",
    "ignore",
    "lookback_tools",
    "open_session",
    "outcome_from",
    "outcome_of",
    "paused",
    "paused_outcome",
    "read_plan_tool",
    "record_result",
    "resolve_model",
    "room_of",
    "salvaged",
    "schema_of",
    "shown",
    "size_of",
    "stopped",
    "tail_of",
    "todo_tools",
    "tool",
]
