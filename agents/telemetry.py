"""Telemetry: what the spans of agents say. Content stays out unless the environment asks for it."""

from typing import TYPE_CHECKING, Any

from memory import dumps

from .conventions import (
    AGENT_ID,
    AGENT_NAME,
    CACHED_TOKENS,
    COMPACTED,
    DATA_SOURCE,
    FINISH_REASONS,
    INPUT_MESSAGES,
    INPUT_TOKENS,
    OUTPUT_MESSAGES,
    OUTPUT_TOKENS,
    PROVIDER,
    QUERY_TEXT,
    REQUEST_BYTES,
    REQUEST_MODEL,
    RESPONSE_MODEL,
    STATUS,
    STRATEGY,
    TOKENS_BEFORE,
    TOOL_ARGUMENTS,
    TOOL_CALL_ID,
    TOOL_NAME,
    TOOL_RESULT,
    TOOL_TYPE,
    TURN,
    WORKFLOW_NAME,
)
from .spans import NOTHING, Span, span_inside

if TYPE_CHECKING:
    from memory import Request, ResultBlock, Status, ToolCall

    from .models import Model, Reply
    from .session import Run, Session


def run_span(run: "Run", kind: str) -> Span:
    """The span of a run while one process works on it; it becomes the parent of what has no other."""
    run.spans.root = None
    run.spans.root = run.spans.start("invoke_workflow", kind, {WORKFLOW_NAME: kind})
    return run.spans.root


def retrieval_span(source: str, query: str) -> Span:
    """The span of one search in a source of documents, inside the tool call at work."""
    span = span_inside("retrieval", source, {DATA_SOURCE: source})
    if span.captures:
        span.set({QUERY_TEXT: query})
    return span


def offload_span(what: str) -> Span:
    """The span of storing a body that is too large for the context; `what` is a tool's name or a word."""
    return span_inside("offload", what, {})


def compaction_span(session: "Session", strategy: str, tokens: int) -> Span:
    """The span of one compaction; the model calls after it carry that the conversation was compacted."""
    attributes = {AGENT_ID: session.thread.name, STRATEGY: strategy, TOKENS_BEFORE: tokens}
    return session.run.spans.start("compact", strategy, attributes)


def agent_span(run: "Run", agent: str, thread: str, parent: str = "") -> Span:
    """The span of one agent's work on a thread; `parent` is the W3C context of who asked for it."""
    attributes = {AGENT_NAME: agent, AGENT_ID: thread}
    return run.spans.start("invoke_agent", agent, attributes, parent or None)


def tell_status(span: Span, status: "Status") -> None:
    """Put how an agent or a run ended on its span."""
    span.set({STATUS: status})
    if status not in ("done", "partial", "paused"):
        span.fail(status)


def model_span(session: "Session", request: "Request", model: "Model | None" = None) -> Span:
    """The span of one model call, of the session's model when no other is named."""
    spans, model = session.run.spans, model or session.model
    if not spans.on:
        return NOTHING
    asked = str(model.settings.get("model") or model.name)
    attributes: dict[str, Any] = {
        PROVIDER: model.name.partition(":")[0],
        REQUEST_MODEL: asked,
        AGENT_NAME: session.agent.name,
        AGENT_ID: session.thread.name,
        TURN: session.turns + 1,
        REQUEST_BYTES: len(request.body),
    }
    if session.thread.context.revision:
        attributes[COMPACTED] = True
    if spans.captures:
        attributes[INPUT_MESSAGES] = request.body.decode()
    return spans.start("chat", asked, attributes)


def tell_reply(span: Span, reply: "Reply") -> None:
    """Put what came back on a model call's span."""
    usage = reply.usage
    span.set(
        {
            RESPONSE_MODEL: reply.model or None,
            FINISH_REASONS: (reply.finish,),
            INPUT_TOKENS: usage.input_tokens,
            OUTPUT_TOKENS: usage.output_tokens,
            CACHED_TOKENS: usage.cached_tokens,
            OUTPUT_MESSAGES: dumps(reply.content).decode() if span.captures else None,
        }
    )


def tool_span(session: "Session", call: "ToolCall") -> Span:
    """The span of one tool call."""
    spans = session.run.spans
    if not spans.on:
        return NOTHING
    attributes = {
        TOOL_NAME: call.name,
        TOOL_CALL_ID: call.id,
        TOOL_TYPE: "function",
        AGENT_NAME: session.agent.name,
        AGENT_ID: session.thread.name,
    }
    if spans.captures:
        attributes[TOOL_ARGUMENTS] = call.arguments
    return spans.start("execute_tool", call.name, attributes)


def tell_result(span: Span, content: "tuple[ResultBlock, ...]", kind: str) -> None:
    """Put what came of a tool call on its span; `kind` is the error's kind, `""` for a success."""
    if kind:
        span.fail(kind)
    if span.captures:
        span.set({TOOL_RESULT: dumps(content).decode()})
