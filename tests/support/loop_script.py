"""A script for the loop benchmark: N calls of `work`, then an answer.

The first user message names the number of steps: `steps=50`. Where a request stands is read from it, so
that one server serves any number of loops.
"""

import re
from typing import Any

from .chat_server import Say, Step


def loop(body: dict[str, Any]) -> Step:
    """The next step of the loop that this request belongs to."""
    messages = body["messages"]
    first = next(m["content"] for m in messages if m["role"] == "user")
    wanted = int(re.search(r"steps=(\d+)", first)[1])
    done = sum(m["role"] == "tool" for m in messages)
    return Say(calls=[("work", {"i": done})]) if done < wanted else Say("done")
