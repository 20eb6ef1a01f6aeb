"""Replacements: what a compaction puts in the place of events; and the request for a summary."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .blocks import JsonObject

ReplacementKind = Literal["span", "result", "arguments", "message"]


@dataclass(frozen=True, slots=True)
class Replacement:
    """One text in the place of one or more events.

    A reply is hidden together with all its results or not at all, so that no call loses its result.
    """

    hidden: tuple[int, ...]
    """Positions of the events, ascending; one, but for `span`. A `span` may name the positions of earlier
    compactions: their texts are hidden then."""
    text: str
    """What the model sees. For `span` a message of the framework, `""` for none; for `arguments` a JSON
    object."""
    kind: ReplacementKind = "span"
    """`span`: the events disappear and the text stands where the first one stood. `result`: a tool result
    keeps its place, with the text as its content. `arguments`: a call in a reply gets the text as its
    arguments. `message`: a message keeps its place and origin, with the text as its content."""
    call: str = ""
    """For `arguments` and `result`: id of the call as the model sees it; `""` for all of the event."""


@dataclass(frozen=True, slots=True)
class SummaryAsked:
    """A request for a summary is about to leave; the exact bytes can be rebuilt as those of a turn."""

    revision: int
    last_event: int
    tail: str
    """What the summariser is told, the last message of its request."""
    config: int
    """Position of the `ConfigSet` in force."""
    sha256: str
    size: int
    """Bytes of the request."""
    counted: int
    """Its tokens as counted, before the correction by reports."""
    prefix: int
    """First bytes it shares with the last answered request: what a provider's cache can reuse."""
    model: str
    """The summariser's name."""
    instead: JsonObject = field(default_factory=dict[str, Any])
    """Where another model than the thread's is asked: its own values for fields of that `ConfigSet` (model,
    codec with version and options, settings); system prompt and tools stay. Empty for the thread's model."""


def replacement_from(data: Mapping[str, Any]) -> Replacement:
    """Read one back from its JSON object."""
    kind: ReplacementKind = data.get("kind", "span")
    hidden = tuple(data.get("hidden", ()))
    return Replacement(hidden, str(data.get("text", "")), kind, str(data.get("call", "")))
