"""A clerk's desk: one request as a scripted policy sees it, and what it calls next."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from agents import call
from memory import ToolCall, is_tail

from .sight import calls_of, text_of
from .tasks import Act
from .wording import Said, read

_OPEN_STEP = re.compile(r"^(\d+)\. \[[ >]\] (.+)$", re.MULTILINE)
_READINGS = {
    "slow": (r"^- fetch_file: [\d,]+ ms, usually", r"ask it for less"),
    "closed": (r"^- fetch_file: \d+ errors in a row", r"this way is closed"),
    "instant": (r"^- save_file: empty result after", r"make sure that it did anything"),
}
"""Of the status: what says so to whom readings are enough, and to whom only the advice tells."""


@dataclass(slots=True)
class Desk:
    """One request as a clerk sees it."""

    body: dict[str, Any]
    text: str
    """What it looks at."""
    plans: bool
    asks: bool
    counts_calls: bool
    heeds: str
    replies: list[ToolCall] = field(default_factory=list[ToolCall])
    """What it calls next."""
    added: list[str] = field(default_factory=list[str])
    changes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Of its plan."""
    counts: dict[str, int] = field(default_factory=dict[str, int])
    """Calls of customers made in this reply."""

    @property
    def tools(self) -> set[str]:
        """Names of the tools that the request offers."""
        return {tool["function"]["name"] for tool in self.body.get("tools", ())}

    @property
    def tail(self) -> str:
        """The recitation, `""` for none."""
        last = text_of(self.body["messages"][-1])
        return last if is_tail(last) and last in self.text else ""

    def steps(self) -> list[tuple[int, Said]]:
        """The open steps that the tail recites, with their numbers."""
        found = [(int(n), read(text, "subgoal")) for n, text in _OPEN_STEP.findall(self.tail)]
        return [(number, said[0]) for number, said in found if said]

    def forbidden(self, said: Said) -> bool:
        """True when a rule that it sees forbids an act."""
        return any((r.a, r.t) == (said.a, said.t) for r in read(self.text, "never"))

    def do(self, said: Said) -> None:
        """Do an act, unless a rule that it sees forbids it; a step of the plan is then settled."""
        allowed = not self.forbidden(said)
        if allowed:
            self.replies.append(call("do", action=said.a, target=said.t))
        for number, step in self.steps() if self.plans else ():
            if (step.a, step.t) == (said.a, said.t):
                self.settle(number, "done" if allowed else "cancelled")

    def told(self, what: str) -> bool:
        """True when the status says so, in the words that this clerk goes by: a key of `_READINGS`."""
        if self.heeds == "nothing":
            return what == "closed"
        reading, advice = _READINGS[what]
        wanted = reading if self.heeds == "readings" else advice
        return re.search(wanted, self.tail, re.MULTILINE) is not None

    def settle(self, number: int, state: str) -> None:
        """Note that a step of the plan is done or cancelled."""
        if not any(change["step"] == number for change in self.changes):
            self.changes.append({"step": number, "state": state})

    def done(self) -> set[Act]:
        """What it sees itself having done."""
        found: set[Act] = set()
        for message in self.body["messages"]:
            for _, name, arguments in calls_of(message):
                data = json.loads(arguments or "{}")
                if name == "do" and data:
                    found.add(Act("do", data.get("action", ""), data.get("target", "")))
        return found
