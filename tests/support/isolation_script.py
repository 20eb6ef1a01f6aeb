"""A script for the isolation benchmark: whoever is asked reads documents page by page and says what each
is about. It plays the coordinator, alone or with `delegate`, and every subagent.

The user's words name the documents: `Documents: a.md, b.md`.
"""

import json
import re
from typing import Any

from .chat_server import Say, Step

LATENCY = 0.2
"""Seconds a reply."""
MORE = re.compile(r"\[goes on at line (\d+)\]$")


def isolation(body: dict[str, Any]) -> Step:
    """The next step of whoever asks."""
    messages = body["messages"]
    task = next(m["content"] for m in messages if m["role"] == "user")
    names = re.search(r"Documents: (.+)", task)[1].split(", ")
    results = [m["content"] for m in messages if m["role"] == "tool"]
    tools = {tool["function"]["name"] for tool in body["tools"]}
    if "delegate" in tools:
        return delegating(names, results)
    return reading(names, results)


def delegating(names: list[str], results: list[str]) -> Step:
    """One task a document, then the report from what came back."""
    if not results:
        tasks = [{"agent": "reader", "task": f"What is it about? Documents: {n}"} for n in names]
        return Say(calls=[("delegate", {"tasks": tasks})], delay=LATENCY)
    return Say("\n".join(child["text"] for child in json.loads(results[0])), delay=LATENCY)


def reading(names: list[str], results: list[str]) -> Step:
    """The next page of the first document that is not read to its end, or a line for each."""
    about: list[str] = []
    for result in results:
        if result.startswith("# "):
            about.append(f"{names[len(about)]}: {result.splitlines()[0][2:]}")
    more = MORE.search(results[-1]) if results else None
    if more:
        given = {"source": names[len(about) - 1], "line": int(more[1])}
        return Say(calls=[("read", given)], delay=LATENCY)
    if len(about) < len(names):
        return Say(calls=[("read", {"source": names[len(about)], "line": 1})], delay=LATENCY)
    return Say("\n".join(about), delay=LATENCY)
