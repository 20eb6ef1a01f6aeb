"""Agents: what they are, how one takes its turns, and the models they talk to.

The one idea: an agent holds no state. A session is an agent at work on a thread of the event log; a
turn is one model call and the tool calls it asked for. Start reading at `agent.py`.
"""

from .acting import record as record_result
from .agent import Agent, See
from .agent_files import load_agent, load_agents
from .allowance import longest_answer
from .approving import paused, paused_outcome
from .compaction import Compaction, trigger_of
from .conclusion import Citation, Conclusion, Finding
from .ending import outcome_of, stopped
from .errors import (
    AgentDefinitionError,
    AgentError,
    CodecChanged,
    LimitReached,
    ModelUnavailable,
    ToolError,
)
from .faults import Check
from .handing import CAP, Handing, fits, fitted, shown, size_of
from .limits import Hold, Limits, Meter
from .looking_back import LOOKBACK, lookback_tools
from .models import (
    AnthropicCodec,
    ChatCodec,
    Delta,
    LangChainModel,
    Model,
    Rate,
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
    Compacted,
    Emit,
    LimitHit,
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
from .run_files import RunFiles, ThreadFiles, handed_path
from .salvaging import salvaged
from .session import Run, Session, open_session
from .settings import Settings
from .spans import NO_SPANS, NOTHING, Span, Spans, inside, span_inside, traceparent
from .telemetry import agent_span, retrieval_span, run_span, tell_status
from .todo_tools import plan_tools, read_plan_tool
from .tools import AnyTool, Tool, ToolContext, as_tool, schema_of, tool
from .tree import GRACE_SECONDS, Place, Tree

__all__ = [
    "CAP",
    "GRACE_SECONDS",
    "LOOKBACK",
    "NOTHING",
    "NO_SPANS",
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
    "CodecChanged",
    "Compacted",
    "Compaction",
    "Conclusion",
    "Delta",
    "Emit",
    "Finding",
    "Handing",
    "Hold",
    "LangChainModel",
    "LimitHit",
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
    "Rate",
    "Reply",
    "Retries",
    "Run",
    "RunFiles",
    "ScriptedModel",
    "See",
    "Session",
    "Settings",
    "Span",
    "Spans",
    "StageStarted",
    "ThreadFiles",
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
    "agent_span",
    "as_tool",
    "call",
    "codec_for",
    "fits",
    "fitted",
    "handed_path",
    "ignore",
    "inside",
    "load_agent",
    "load_agents",
    "longest_answer",
    "lookback_tools",
    "open_session",
    "outcome_from",
    "outcome_of",
    "paused",
    "paused_outcome",
    "plan_tools",
    "read_plan_tool",
    "record_result",
    "resolve_model",
    "retrieval_span",
    "room_of",
    "run_span",
    "salvaged",
    "schema_of",
    "shown",
    "size_of",
    "span_inside",
    "stopped",
    "tail_of",
    "tell_status",
    "tool",
    "traceparent",
    "trigger_of",
]
