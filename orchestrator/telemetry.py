"""Where spans go: `spans.jsonl` in the run folder always, and OpenTelemetry where it is set up.

A program that has set up OpenTelemetry gets our spans through its own provider. Else the standard
variables (`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_EXPORTER`, ...) make one of our own, and the SDK is
loaded only then.
"""

import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from agents import Run, Settings, Spans, run_span, tell_status
from filesystem import RunFolder
from memory import Status, dumps

SCOPE = "undrift"
TOGETHER = 0.1
"""Seconds in which ended spans are written together; a crash loses no more than these."""
_log = logging.getLogger("undrift")


class SpanFile:
    """Appends spans to a file, one JSON object a line, readable by its owner only.

    Spans only tell about a run: where the disk refuses one, no more are written and the run goes on.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._fd, self._refused = path, -1, False
        self._lines: list[bytes] = []

    def write(self, span: Mapping[str, Any]) -> None:
        """Append one span: at once in a tool's thread, else with all that end within `TOGETHER`."""
        line = dumps(span) + b"\n"
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._append(line)
            return
        if not self._lines:
            loop.call_later(TOGETHER, self._flush)
        self._lines.append(line)

    def close(self) -> None:
        """Close the file; a later span opens it again."""
        self._flush()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            self._append(b"".join(lines))

    def _append(self, data: bytes) -> None:
        if self._refused:
            return
        try:
            if self._fd < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
                self._fd = os.open(self._path, flags, 0o600)
            os.write(self._fd, data)
        except OSError as error:
            self._refused = True
            _log.warning("no more spans are written to %r: %s", str(self._path), error)


class RunTrace:
    """The span of one run, as long as this process works on it, and the file of all its spans."""

    def __init__(self, run: Run, folder: RunFolder | None, kind: str) -> None:
        self._file = SpanFile(folder.path / "spans.jsonl") if folder else None
        run.spans = spans_of(run.id, self._file)
        self.span = run_span(run, kind)

    async def end(self, status: Status | None) -> None:
        """End the run's span and send what is held back."""
        tell_status(self.span, status or "cancelled")
        self.span.end()
        if self._file is not None:
            self._file.close()
        if _provider.cache_info().currsize:
            await asyncio.to_thread(flush_spans)


def spans_of(run_id: str, file: SpanFile | None) -> Spans:
    """The spans of one run, into its file and to OpenTelemetry, as far as there is either."""
    settings = Settings.from_env()
    return Spans(
        file.write if file else None,
        _tracer(settings.traces, settings.traces_protocol, settings.service_named),
        conversation=run_id,
        captures=settings.capture_content,
    )


def flush_spans() -> None:
    """Send what our own provider still holds; blocks for some seconds at most."""
    if _provider.cache_info().currsize:
        settings = Settings.from_env()
        provider = _provider(settings.traces, settings.traces_protocol, settings.service_named)
        if provider is not None:
            provider.force_flush(5_000)


def _tracer(traces: str, protocol: str, service_named: bool) -> Any:
    """The tracer of the program around us, or of our own provider, `None` when there is neither."""
    if "opentelemetry.trace" in sys.modules:
        from opentelemetry import trace

        known = trace.get_tracer_provider()
        if not isinstance(known, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            return known.get_tracer(SCOPE)
    if not traces:
        return None
    provider = _provider(traces, protocol, service_named)
    return provider.get_tracer(SCOPE) if provider is not None else None


@lru_cache(maxsize=1)
def _provider(traces: str, protocol: str, service_named: bool) -> Any:
    """A provider of our own that exports as the environment says; it flushes when the program ends."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    try:
        exporter = _exporter(traces, protocol)
    except ImportError:
        _log.warning(
            "spans are not exported: install the extra for it (pip install 'undrift[otlp]')"
        )
        return None
    resource = Resource.create({} if service_named else {"service.name": SCOPE})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _exporter(traces: str, protocol: str) -> Any:
    if traces == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    way = "grpc" if protocol == "grpc" else "http"
    module = import_module(f"opentelemetry.exporter.otlp.proto.{way}.trace_exporter")
    return module.OTLPSpanExporter()
