"""The one place that reads the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

OPENAI_URL = "https://api.openai.com/v1"
_CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_CAPTURING = ("true", "1", "span_only", "span_and_event")
_SERVICE = ("OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES")
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says about models and traces."""

    openai_url: str = OPENAI_URL
    """Base address of `openai:` models, from `OPENAI_BASE_URL`."""
    openai_key: str = field(default="", repr=False)
    """From `OPENAI_API_KEY`; `""` when there is none, which only local servers accept."""
    proxies: bool = False
    """True when a proxy is named (`HTTPS_PROXY` and its kin): connections then look it up."""
    capture_content: bool = False
    """Whether spans hold prompts, replies, arguments and results, from
    `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` (`true`, `span_only`, `span_and_event`)."""
    traces: str = ""
    """Where spans are exported to beside the run folder: `otlp`, `console` or `""` for nowhere; from
    `OTEL_TRACES_EXPORTER`, and `otlp` when an `OTEL_EXPORTER_OTLP_...ENDPOINT` is given."""
    traces_protocol: str = "http/protobuf"
    """`grpc` or `http/protobuf`, from `OTEL_EXPORTER_OTLP_TRACES_PROTOCOL` or `..._OTLP_PROTOCOL`."""
    service_named: bool = False
    """True when `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` name the service."""

    @classmethod
    def from_env(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """The settings as this process's environment has them, unset and empty being the same."""
        return cls(
            openai_url=environment.get("OPENAI_BASE_URL") or OPENAI_URL,
            openai_key=environment.get("OPENAI_API_KEY", ""),
            proxies=any(environment.get(p) or environment.get(p.upper()) for p in _PROXIES),
            capture_content=environment.get(_CAPTURE, "").lower() in _CAPTURING,
            traces=_traces(environment),
            traces_protocol=environment.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
            or environment.get("OTEL_EXPORTER_OTLP_PROTOCOL")
            or "http/protobuf",
            service_named=any(environment.get(name) for name in _SERVICE),
        )


def _traces(environment: Mapping[str, str]) -> str:
    """What the standard variables of OpenTelemetry say about exporting spans."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return ""
    default = "otlp" if any(environment.get(name) for name in _ENDPOINTS) else ""
    named = (environment.get("OTEL_TRACES_EXPORTER") or default).lower()
    return named if named in ("otlp", "console") else ""
