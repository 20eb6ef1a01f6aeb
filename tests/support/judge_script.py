"""A judge's scripts: it finds right what holds what was expected, and is not moved by what it is told; one
that dies."""

import itertools
import json
from typing import Any

from .chat_server import Drop, Say

ANSWERED = 4
"""Requests that the dying judge answers, the two before all samples among them."""
_asked = itertools.count()


def judge(body: dict[str, Any]) -> Say:
    """A verdict on an answer or a run; words without a verdict when asked whether it is ready."""
    try:
        data = json.loads(body["messages"][-1]["content"])
    except ValueError:
        return Say("ready")
    held = "paid" in str(data["answer"])
    if "expected" in data:
        held = all(part in data["answer"] for part in data["expected"])
    return Say(
        json.dumps({"right": held, "reason": "the data say paid" if held else "they do not"})
    )


def dying(body: dict[str, Any]) -> Say | Drop:
    """The judge, until it is gone for good."""
    return judge(body) if next(_asked) < ANSWERED else Drop()
