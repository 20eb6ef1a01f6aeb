"""A script for the fan-out benchmark: K subagents with three tool calls each, at 100 ms a reply.

The first user message says `fan out K` to the coordinator and `part N` to a subagent. The coordinator is
asked for K tasks by whichever tool it has: one `delegate` call with a list, or K calls of `task`.
"""

import re
from typing import Any

from .chat_server import Say, Step

CALLS = 3
LATENCY = 0.1
"""Seconds."""


def fanout(body: dict[str, Any]) -> Step:
    """The next step of whoever asks."""
    messages = body["messages"]
    first = next(text(m) for m in messages if m["role"] == "user")
    done = sum(m["role"] == "tool" for m in messages)
    if wanted := re.search(r"fan out (\d+)", first):
        return Say("done", delay=LATENCY) if done else tasks(body, int(wanted[1]))
    if done < CALLS:
        return Say(calls=[("work", {"i": done})], delay=LATENCY)
    return Say("The part is done.", delay=LATENCY)


def tasks(body: dict[str, Any], count: int) -> Say:
    """Calls for `count` subagents."""
    names = {tool["function"]["name"] for tool in body["tools"]}
    if "delegate" in names:
        parts = [{"agent": "worker", "task": f"part {n}"} for n in range(count)]
        return Say(calls=[("delegate", {"tasks": parts})], delay=LATENCY)
    given = [{"description": f"part {n}", "subagent_type": "worker"} for n in range(count)]
    return Say(calls=[("task", each) for each in given], delay=LATENCY)


def text(message: dict[str, Any]) -> str:
    """The text of a message, whichever form its content has."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [])
