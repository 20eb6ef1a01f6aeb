"""A script of a long session: page after page of a report, then an answer; summaries get a short one.

Where a request stands is read from its newest tool result, so that it does not matter what is hidden.
"""

import json
import re
from typing import Any

from .chat_server import Say

ASKS = (
    "Older messages of this conversation",
    "context extraction assistant",
    "Summarize",
    "summary",
)
"""Words of the requests for a summary, of ours and of others."""


def pages(body: dict[str, Any]) -> Say:
    """The next step; the system prompt says how many pages there are: `pages=400`."""
    messages = body["messages"]
    usage = {"prompt_tokens": len(json.dumps(messages)) // 2, "completion_tokens": 10}
    last = messages[-1]
    if last["role"] != "tool" and any(words in str(last["content"]) for words in ASKS):
        return Say('{"decisions": ["go on with the next page"]}', usage=usage)
    match = re.search(r"pages=(\d+)", str(messages[0]["content"]))
    assert match is not None
    wanted = int(match[1])
    results = [str(m["content"]) for m in messages if m["role"] == "tool"]
    match = re.match(r"page (\d+)\n", results[-1]) if results else None
    number = int(match[1]) + 1 if match else 1
    if number > wanted:
        return Say("done", usage=usage)
    return Say(calls=[("read_page", {"number": number})], usage=usage)
