"""Salvaging: what a thread had found when it failed, hung or was stopped, put together from its log.

Code reads the log, no model is asked, so that it works when nothing else does and costs nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from memory import (
    Entry,
    EventLog,
    NoteWritten,
    ReplyReceived,
    Text,
    ToolCall,
    ToolReturned,
    loads,
    plain_text,
)

if TYPE_CHECKING:
    from .outcome import Outcome

INTRO = "Put together by code from its log, not written or checked by it."
REPLIES, RESULTS = 3, 8
"""How many of the newest texts and tool results are kept."""
REPLY_CHARS, RESULT_CHARS = 1_500, 400
"""Characters of each."""
_CONCLUDE = "conclude"


async def salvaged(
    log: EventLog, outcome: "Outcome", output_type: type[BaseModel] | None = None
) -> "Outcome":
    """The outcome with what its thread had found, when it ended badly and hands back nothing itself.

    An output that was written and refused is kept as the output; else the newest texts, notes and
    results of tools stand in `text`. Status and reason stay as they are.
    """
    if outcome.ok or outcome.status == "paused" or outcome.output or outcome.text.strip():
        return outcome
    entries = await log.read(outcome.thread) if log.has(outcome.thread) else []
    if output := _refused_output(entries, output_type):
        return replace(outcome, output=output)
    found = salvage_text(entries)
    return replace(outcome, text=found) if found else outcome


def salvage_text(entries: Sequence[Entry]) -> str:
    """The newest texts, notes and tool results of a thread as one text, `""` when there are none."""
    replies: list[str] = []
    notes: dict[str, str] = {}
    results: list[str] = []
    calls: dict[str, str] = {}
    for entry in entries:
        match entry.event:
            case ReplyReceived(content=content):
                text = "".join(b.text for b in content if isinstance(b, Text)).strip()
                replies += [text] if text else []
                calls |= {b.id: b.arguments for b in content if isinstance(b, ToolCall)}
            case NoteWritten(name=name, text=text):
                notes[name] = text
            case ToolReturned(is_error=False) as event if event.name != _CONCLUDE:
                result = _flat(plain_text(event.content), RESULT_CHARS)
                given = _flat(calls.get(event.call_id, ""), 120)
                results += [f"{event.name} {given}: {result}"] if result else []
            case _:
                pass
    parts = [("It wrote", [_cut(text, REPLY_CHARS) for text in replies[-REPLIES:]])]
    parts.append(("Its notes", [f"{name}: {text}" for name, text in notes.items() if text]))
    parts.append(("Results it had", results[-RESULTS:]))
    lines = [
        f"{title}:\n" + "\n".join(f"- {text}" for text in texts) for title, texts in parts if texts
    ]
    return "\n".join([INTRO, *lines]) if lines else ""


def _refused_output(
    entries: Sequence[Entry], output_type: type[BaseModel] | None
) -> dict[str, object]:
    """The newest output that was handed in and fits its type, `{}` for none."""
    if output_type is None:
        return {}
    for entry in reversed(entries):
        if not isinstance(entry.event, ReplyReceived):
            continue
        for block in entry.event.content:
            if isinstance(block, ToolCall) and block.name == _CONCLUDE:
                try:
                    output = output_type.model_validate(loads(block.arguments))
                except (ValueError, ValidationError):
                    continue
                return output.model_dump(mode="json")
    return {}


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]} [...]"


def _flat(text: str, limit: int) -> str:
    return _cut(re.sub(r"\s+", " ", text).strip(), limit)
