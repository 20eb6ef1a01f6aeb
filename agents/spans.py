"""Spans: pieces of work in time, nested, written as JSON and mirrored to OpenTelemetry.

Only the API of OpenTelemetry is used here, and only when a tracer is given: who exports is the
orchestrator's matter. Whatever goes out is redacted.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache
from random import Random
from types import TracebackType
from typing import Any, Literal

from memory import redact

from .conventions import CONVERSATION, ERROR_TYPE, OPERATION

Operation = Literal[
    "invoke_workflow", "invoke_agent", "chat", "execute_tool", "retrieval", "offload", "compact"
]


_ids = Random()


def _new_id(bits: int) -> str:
    return f"{_ids.getrandbits(bits):0{bits // 4}x}"


class Span:
    """One piece of work in time. As a context manager it is the parent of what starts inside."""

    __slots__ = (
        "_attached", "_attributes", "_end", "_error", "_name", "_otel", "_parent", "_spans", "_started",
        "_token", "span_id", "trace_id",
    )  # fmt: skip

    def __init__(
        self, spans: "Spans", name: str, attributes: dict[str, Any], parent: tuple[str, str, Any]
    ) -> None:
        self._spans, self._name, self._attributes = spans, name, attributes
        trace_id, self._parent, above = parent
        self._started, self._end, self._error = time.time_ns(), 0, ""
        self._otel = spans.mirror(name, attributes, above, self._started)
        self.trace_id, self.span_id = trace_id or _new_id(128), _new_id(64)
        if self._otel is not None:
            context = self._otel.get_span_context()
            if context.is_valid:
                self.trace_id = f"{context.trace_id:032x}"
                self.span_id = f"{context.span_id:016x}"
        self._token: Token[Span | None] | None = None
        self._attached: Any = None

    @property
    def traceparent(self) -> str:
        """The W3C context that work elsewhere goes on from, `""` for a span that nobody sees."""
        return f"00-{self.trace_id}-{self.span_id}-01" if self._spans.on else ""

    @property
    def captures(self) -> bool:
        """True when content belongs on this span."""
        return self._spans.captures

    def belongs_to(self, spans: "Spans") -> bool:
        """True for a span of these spans' run."""
        return self._spans is spans

    def child(self, operation: Operation, name: str, attributes: dict[str, Any]) -> "Span":
        """A span inside this one."""
        return self._spans.start(operation, name, attributes, self)

    def set(self, attributes: Mapping[str, Any]) -> None:
        """Add attributes; `None` values are left out."""
        if self._spans.on:
            self._attributes.update({k: v for k, v in attributes.items() if v is not None})

    def fail(self, kind: str) -> None:
        """Mark it as failed; `kind` is a fixed word or a class name, never a message."""
        self._error = kind

    def end(self) -> None:
        """Write it; a second end changes nothing."""
        if self._end or not self._spans.on:
            return
        self._end = time.time_ns()
        if self._error:
            self._attributes[ERROR_TYPE] = self._error
        shown = {key: _clean(value) for key, value in self._attributes.items()}
        self._spans.write(
            {
                "name": _name(self._name),
                "trace_id": self.trace_id,
                "span_id": self.span_id,
                "parent_id": self._parent,
                "start": self._started,
                "end": self._end,
                "status": "error" if self._error else "ok",
                "attributes": shown,
            }
        )
        if self._otel is not None:
            self._spans.end_mirror(self._otel, shown, self._error, self._end)

    def __enter__(self) -> "Span":
        if self._spans.on:
            self._token = _CURRENT.set(self)
        if self._otel is not None:
            from opentelemetry import context
            from opentelemetry.trace import set_span_in_context

            self._attached = context.attach(set_span_in_context(self._otel))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)
            self._token = None
        if self._attached is not None:
            from opentelemetry import context

            context.detach(self._attached)
        if kind is not None:
            self.fail(kind.__name__)
        self.end()


class Spans:
    """The spans of one run.

    `write` takes each finished span as a JSON object, `None` writes none; `tracer` is an OpenTelemetry
    tracer that gets the same spans, `None` for none. Without either nothing is made at all.
    """

    def __init__(
        self,
        write: Callable[[Mapping[str, Any]], None] | None = None,
        tracer: Any = None,
        *,
        conversation: str = "",
        captures: bool = False,
    ) -> None:
        self.on = write is not None or tracer is not None
        """False when nobody wants spans."""
        self.captures = captures and self.on
        """True when content belongs on the spans."""
        self._write, self._tracer, self._conversation = write, tracer, conversation
        self.root: Span | None = None
        """The run's own span, the parent of what stands in no other."""

    def start(
        self,
        operation: Operation,
        name: str,
        attributes: dict[str, Any],
        parent: "Span | str | None" = None,
    ) -> Span:
        """A span that begins now; its parent is the one given (a span or a W3C context), else the one
        it is made inside of, else what OpenTelemetry has at hand."""
        if not self.on:
            return NOTHING
        attributes = {OPERATION: operation, CONVERSATION: self._conversation, **attributes}
        words = f"{operation} {name}" if name else operation
        return Span(self, words, attributes, self._above(parent or self._at_hand()))

    def _at_hand(self) -> Span | None:
        """The span of this run at work, else the run's own; for that the one of a run around it."""
        span = _CURRENT.get()
        if span is not None and not span.belongs_to(self):
            return self.root or span
        return span or self.root

    def write(self, span: Mapping[str, Any]) -> None:
        """Hand a finished span to who keeps them."""
        if self._write is not None:
            self._write(span)

    def mirror(self, name: str, attributes: dict[str, Any], above: Any, started: int) -> Any:
        """The OpenTelemetry span beside ours, `None` without a tracer."""
        if self._tracer is None:
            return None
        from opentelemetry.trace import SpanKind

        client = attributes[OPERATION] == "chat"
        return self._tracer.start_span(
            _name(name),
            context=above,
            kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
            start_time=started,
        )

    @staticmethod
    def end_mirror(otel: Any, attributes: Mapping[str, Any], error: str, ended: int) -> None:
        """End an OpenTelemetry span; of a failure it gets the kind alone."""
        from opentelemetry.trace import Status, StatusCode

        otel.set_attributes(attributes)
        if error:
            otel.set_status(Status(StatusCode.ERROR))
        otel.end(ended)

    def _above(self, parent: "Span | str | None") -> tuple[str, str, Any]:
        """Trace id, id of the span above, and its OpenTelemetry context."""
        if isinstance(parent, str):
            _, trace_id, span_id, _ = parent.split("-")
            return trace_id, span_id, self._context(trace_id, span_id) if self._tracer else None
        if parent is None:
            return self._outside()
        if self._tracer is None:
            return parent.trace_id, parent.span_id, None
        return parent.trace_id, parent.span_id, self._context(parent.trace_id, parent.span_id)

    def _outside(self) -> tuple[str, str, Any]:
        """What the program around us has as its span."""
        if self._tracer is None:
            return "", "", None
        from opentelemetry.trace import get_current_span

        context = get_current_span().get_span_context()
        if not context.is_valid:
            return "", "", None
        return f"{context.trace_id:032x}", f"{context.span_id:016x}", None

    @staticmethod
    def _context(trace_id: str, span_id: str) -> Any:
        from opentelemetry.trace import (
            NonRecordingSpan,
            SpanContext,
            TraceFlags,
            set_span_in_context,
        )

        context = SpanContext(int(trace_id, 16), int(span_id, 16), False, TraceFlags(1))
        return set_span_in_context(NonRecordingSpan(context))


NO_SPANS = Spans()
"""For runs that nobody traces."""
NOTHING = Span(NO_SPANS, "", {}, ("0", "", None))
_CURRENT: ContextVar[Span | None] = ContextVar("undrift_span", default=None)


@contextmanager
def inside(span: Span) -> Generator[None]:
    """Make a span the parent of what starts inside the block, without ending it."""
    if span is NOTHING:
        yield
        return
    token = _CURRENT.set(span)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def traceparent() -> str:
    """The W3C context of the span at work, for a task that goes elsewhere; `""` outside of one."""
    span = _CURRENT.get()
    return span.traceparent if span else ""


def span_inside(operation: Operation, name: str, attributes: dict[str, Any]) -> Span:
    """A span inside the one at work, for code that knows of no run; nothing outside of one."""
    above = _CURRENT.get()
    return NOTHING if above is None else above.child(operation, name, attributes)


def _clean(value: Any) -> Any:
    """An attribute as it may go out."""
    if isinstance(value, str):
        return _name(value) if len(value) <= 200 else redact(value)
    if isinstance(value, tuple):
        return tuple(_clean(part) for part in value)
    return value


@lru_cache(maxsize=4096)
def _name(text: str) -> str:
    """A short text as it may go out; names come again and again."""
    return redact(text)
