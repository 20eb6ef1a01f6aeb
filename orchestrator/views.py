"""What people read beside the log of a run: its usage. Transcripts are written as it happens."""

import json
from collections.abc import Sequence

from agents import Meter
from filesystem import RunFolder
from memory import Entry, JsonObject, RequestSent, Usage, read_entries


def save_views(folder: RunFolder, meter: Meter) -> None:
    """Write what people read beside the log, redacted: `usage.json`."""
    usage: Usage = meter.usage
    totals: JsonObject = {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "model_calls": meter.model_calls,
        "tool_calls": meter.tool_calls,
        "agents": meter.agents,
        "requests": request_bytes(read_entries(folder.events_db, kind="request_sent")),
    }
    folder.write_text("usage.json", json.dumps(totals, indent=1) + "\n")


def request_bytes(entries: Sequence[Entry]) -> JsonObject:
    """Bytes of the requests of each thread, turn by turn: those that a cache can reuse, and the others."""
    threads: dict[str, list[RequestSent]] = {}
    for entry in entries:
        if isinstance(entry.event, RequestSent):
            threads.setdefault(entry.thread, []).append(entry.event)
    return {
        thread: {
            "reused_bytes": [sent.prefix for sent in own],
            "unreused_bytes": [sent.size - sent.prefix for sent in own],
        }
        for thread, own in threads.items()
    }
