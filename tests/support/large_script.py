"""A scripted model that asks for one large result, and may look for its last words afterwards."""

import re
from typing import Any

from .chat_server import Say, Step

NEEDLE = "the-last-words-are-4711"


def large(body: dict[str, Any]) -> Step:
    """The first message says how many bytes, and whether the end is to be read and searched."""
    task = str(next(m["content"] for m in body["messages"] if m["role"] == "user"))
    results = [str(m["content"]) for m in body["messages"] if m["role"] == "tool"]
    if not results:
        return Say(calls=[("blob", {"size": int(re.findall(r"\d+", task)[0])})])
    if "end" not in task:
        return Say("done")
    if len(results) == 1:
        path = "/artifacts/" + results[0].split("/artifacts/")[1].split(":")[0]
        reads = ("read_file", {"path": path, "start_char": -40})
        return Say(calls=[reads, ("grep", {"text": NEEDLE, "path": "/artifacts"})])
    return Say("done" if all(NEEDLE in result for result in results[1:]) else str(results[1:]))
