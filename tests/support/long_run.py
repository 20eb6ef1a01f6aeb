"""A run of 200 turns for a scripted server: tools, a plan that changes each turn, offloads, subagents.

`answer` is the script for `ChatServer`: who asks, and at which turn, is read from the request itself.
"""

import json
from typing import Any

from agents import Agent, Conclusion, Limits, tool
from orchestrator import Coordinator

from .chat_server import Say

TURNS = 200
CHILD_TURNS = 4
DELEGATES_AT = (60, 120)
"""Turns at which three subagents are sent out at once."""
LARGE_EVERY = 50
"""Every so many turns a result is large enough to be offloaded."""
LARGE = "".join(f"row {number}: {'value ' * 8}\n" for number in range(12_000))


@tool(repeatable=True)
def look(n: int) -> str:
    """Look at something."""
    return LARGE if n % LARGE_EVERY == 7 else f"result {n}: " + "some words about it " * 10


def team(model: Any, runs: Any) -> Coordinator:
    """The coordinator and its helper, all on one model."""
    limits = Limits(turns=TURNS + 10)
    lead = Agent("lead", "You lead. Keep the plan up to date.", model, [look], limits=limits)
    helper = Agent("helper", "You help.", model, [look], output_type=Conclusion)
    return Coordinator(lead, [helper], runs=runs)


def answer(body: dict[str, Any]) -> Say:
    """The next step of whoever asks."""
    messages = body["messages"]
    turn = sum(message["role"] == "assistant" for message in messages) + 1
    if messages[0]["content"].startswith("You help."):
        if turn < CHILD_TURNS:
            return Say(calls=[("look", {"n": turn})])
        return Say(calls=[("conclude", {"answer": "helped"})])
    return _lead(turn)


def _lead(turn: int) -> Say:
    if turn == TURNS:
        return Say("all done")
    if turn == 1:
        steps = [{"text": f"step {n}"} for n in range(1, 60)]
        return Say(calls=[("rewrite_todo", {"goal": "the goal", "steps": steps})])
    if turn in DELEGATES_AT:
        tasks = [{"agent": "helper", "task": f"part {turn}-{n}"} for n in range(3)]
        return Say(calls=[("delegate", {"tasks": tasks})])
    state = ("in_progress", "done")[turn % 2]
    change = {"step": turn % 59 + 1, "state": state, "reopen": True}
    calls = [("update_todo", {"changes": [change]}), ("look", {"n": turn})]
    return Say("thinking " * (turn % 5), calls=[(name, json.dumps(given)) for name, given in calls])
