"""Servers' scripts for probes of recorded runs: one that reads, and one that dies."""

import itertools
import re
from typing import Any

from .chat_server import Drop, Say

ERROR = re.compile(r"ValueError: bad number \d+")
ANSWERED = 4
"""Requests that the dying server answers, the one before all samples among them."""
_asked = itertools.count()


def reader(body: dict[str, Any]) -> Say:
    """Reads the first error from what it is shown; makes up whatever else it is asked."""
    *history, question = [str(message.get("content")) for message in body["messages"]]
    if "first error" not in question:
        return Say("make love")
    found = ERROR.search("\n".join(history))
    return Say(found.group() if found else "Not found.")


def dying(body: dict[str, Any]) -> Say | Drop:
    """The reader, until it is gone for good."""
    return reader(body) if next(_asked) < ANSWERED else Drop()
