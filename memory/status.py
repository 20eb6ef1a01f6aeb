"""The status of a thread, kept by code from its events: numbers and fixed words, never text from outside.

What a model, a tool or a document wrote is counted and compared here, by hash where needed, and never
shown: a tool is named only when the agent's own configuration names it, an argument value only when the
rule that counts it lists it, an error by its kind.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from .blocks import ToolCall, plain_text
from .encoding import dumps, loads
from .events import (
    ConfigSet,
    ContextCompacted,
    Entry,
    ReplyReceived,
    ToolReturned,
)

ERROR_KINDS = frozenset(
    {
        "unknown_tool",
        "arguments",
        "tool_error",
        "exception",
        "timeout",
        "cancelled",
        "limit",
        "unknown_after_crash",
    }
)
"""What `ToolReturned.kind` may say; any other word is shown as `other`."""
UNKNOWN_TOOL = "an unknown tool"

SLOW_SECONDS, SLOW_TIMES, SLOW_AFTER = 1.0, 5.0, 3
"""A call is slow when it took over a second and five times the mean of at least three before it."""
INSTANT_SECONDS = 0.002
_EMPTY = frozenset({"", "(no output)", "[]", "{}", "null", '""'})
_COMPARED = 65_536
"""Characters of a result that are compared, beside its length."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True)
class CallRule:
    """A number of calls that an agent should not pass; counted and shown, not enforced."""

    tool: str
    limit: int
    """Calls of the tool, or of each value of `argument`."""
    argument: str | None = None
    """Top-level argument whose values are counted apart; `None` counts all calls together."""
    values: tuple[str, ...] = ()
    """Values that may be shown as they are; others are shown as a hash, since they come from outside."""


@dataclass(slots=True)
class ToolCounts:
    """What is known of one tool of this thread."""

    calls: int = 0
    seconds: float = 0.0
    """Of all calls together."""
    refusal: str = ""
    """Kind of the newest results when they are errors of one kind, `""` after a success."""
    refusals: int = 0
    """How many in a row."""


@dataclass(frozen=True, slots=True)
class Outlier:
    """A call of the newest turn that took far longer than usual, or no time for no result."""

    tool: str
    milliseconds: int
    usual: int | None
    """Mean of the calls before, milliseconds; `None` for an empty result that came at once."""


@dataclass(frozen=True, slots=True)
class RuleCount:
    """Calls that a rule has counted, of the value that was called last."""

    rule: CallRule
    value: str
    """The value when the rule lists it, else `#` and six digits of its hash; `""` without argument."""
    calls: int


@dataclass(slots=True)
class StatusKeeper:
    """Folds a thread's events into counters; one event costs the same whatever the history."""

    rules: Sequence[CallRule] = ()
    turns: int = 0
    """Replies so far; a request that a crash cut off and that is sent again is the same turn."""
    compactions: int = 0
    since_compaction: int = 0
    """Replies since the newest compaction."""
    input_tokens: int = 0
    """As reported, all calls together."""
    output_tokens: int = 0
    started: float = 0.0
    """Time of the first event, seconds since the epoch."""
    latest: float = 0.0
    """Time of the newest event."""
    repeated: tuple[str, int] = ("", 0)
    """Tool of the newest turn and how often this call gave this result, the highest."""
    error: tuple[str, str] = ("", "")
    """Tool and kind of the newest turn's last error."""
    outliers: list[Outlier] = field(default_factory=list[Outlier])
    """Of the newest turn."""
    newest: set[str] = field(default_factory=set[str])
    """Shown names of the tools that answered in the newest turn."""
    tools: dict[str, ToolCounts] = field(default_factory=dict[str, ToolCounts])
    """By shown name; unknown tools share one."""
    rule_counts: dict[tuple[int, str], RuleCount] = field(
        default_factory=dict[tuple[int, str], RuleCount]
    )
    """By place of the rule and hash of the value."""
    _names: frozenset[str] = frozenset()
    _same: dict[bytes, int] = field(default_factory=dict[bytes, int])

    def add(self, entry: Entry, call: ToolCall | None = None) -> None:
        """Take in the next event; `call` is the one that a result answers."""
        self.started = self.started or entry.time
        self.latest = entry.time
        match entry.event:
            case ConfigSet(tools=tools):
                self._names = frozenset(str(tool.get("name")) for tool in tools)
            case ContextCompacted():
                self.compactions += 1
                self.since_compaction = 0
            case ReplyReceived(usage=usage):
                self.turns += 1
                self.since_compaction += 1
                self.input_tokens += usage.input_tokens
                self.output_tokens += usage.output_tokens
                self._new_turn()
            case ToolReturned() as event:
                self._count(event, call)
            case _:
                pass

    @property
    def elapsed(self) -> float:
        """Seconds from the first event to the newest."""
        return self.latest - self.started

    def has_tool(self, name: str) -> bool:
        """True when the agent's configuration holds a tool of this name."""
        return name in self._names

    def _new_turn(self) -> None:
        self.repeated, self.error = ("", 0), ("", "")
        self.outliers, self.newest = [], set()

    def _count(self, event: ToolReturned, call: ToolCall | None) -> None:
        shown = event.name if self._may_show(event.name) else UNKNOWN_TOOL
        counts = self.tools.setdefault(shown, ToolCounts())
        self._time(shown, counts, event)
        self.newest.add(shown)
        counts.calls += 1
        counts.seconds += event.seconds
        kind = event.kind if event.kind in ERROR_KINDS else "other"
        if not event.is_error:
            counts.refusal, counts.refusals = "", 0
        else:
            counts.refusals = counts.refusals + 1 if kind == counts.refusal else 1
            counts.refusal, self.error = kind, (shown, kind)
        if call is not None:
            self._compare(shown, call, event)
            self._apply_rules(call)

    def _may_show(self, name: str) -> bool:
        return name in self._names and _NAME.fullmatch(name) is not None

    def _time(self, shown: str, counts: ToolCounts, event: ToolReturned) -> None:
        mean = counts.seconds / counts.calls if counts.calls else 0.0
        slow = event.seconds > max(SLOW_SECONDS, SLOW_TIMES * mean)
        if counts.calls >= SLOW_AFTER and slow:
            self.outliers.append(Outlier(shown, _ms(event.seconds), _ms(mean)))
        elif (
            not event.is_error
            and 0 < event.seconds < INSTANT_SECONDS
            and plain_text(event.content).strip() in _EMPTY
        ):
            self.outliers.append(Outlier(shown, _ms(event.seconds), None))

    def _compare(self, shown: str, call: ToolCall, event: ToolReturned) -> None:
        text = plain_text(event.content)
        said = [call.name, call.arguments.strip(), event.kind, len(text), text[:_COMPARED]]
        key = _digest(dumps(said))
        self._same[key] = self._same.get(key, 0) + 1
        if self._same[key] > self.repeated[1]:
            self.repeated = (shown, self._same[key])

    def _apply_rules(self, call: ToolCall) -> None:
        for place, rule in enumerate(self.rules):
            if rule.tool != call.name or not self._may_show(call.name):
                continue
            value = "" if rule.argument is None else _argument(call.arguments, rule.argument)
            if value is None:
                continue
            key = (place, _digest(value.encode("utf-8", "surrogatepass")).hex())
            shown = value if not value or value in rule.values else f"#{key[1][:6]}"
            calls = self.rule_counts[key].calls + 1 if key in self.rule_counts else 1
            self.rule_counts[key] = RuleCount(rule, shown, calls)


def _argument(arguments: str, name: str) -> str | None:
    """The value of a top-level argument as text, `None` when there is none."""
    try:
        data: Any = loads(arguments)
    except ValueError:
        return None
    if not isinstance(data, dict) or name not in data:
        return None
    value = cast(dict[str, Any], data)[name]
    return value if isinstance(value, str) else dumps(value).decode()


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=8).digest()


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
