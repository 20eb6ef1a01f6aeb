"""Our own compaction in replay: settings by the product's names, with how much each may leave.

A setting does nothing itself: what it names is done by the product's code, see `rerun.py`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from memory import Cut

Prompt = Literal["general", "research", "coding", "operations"]
PROMPTS: tuple[Prompt, ...] = ("general", "research", "coding", "operations")
IN_PLACE = ("micro", "arguments", "noise", "retry", "query")
"""Strategies that free what there is to free and cannot go on from there."""
STRATEGIES = (*IN_PLACE, "latest-n", "turns", "summary", "reset", "auto", "none")
EQUAL = ("latest-n@30", "micro@30", "query@30", "turns@30", "summary@30", "auto@30")
"""Settings of equal tokens: each may leave 30 % of them."""
_TARGET, _ALL = 0.6, 0.97
_SHARED = re.compile(r"(?P<strategy>.+)@(?P<percent>[1-9]\d?)")


@dataclass(frozen=True, slots=True)
class Ours:
    """One setting of our compaction, applied to a run at its cut."""

    name: str
    strategy: str
    """As the product names it; `+` joins several into a ladder."""
    target: float = _TARGET
    """Share of the messages' tokens that may be left."""
    tail: float = 0.2
    """Share of the request that stays verbatim at its end."""
    cut: Cut = "step"
    prompt: Prompt = "general"
    """The summary prompt; without a model the record is made by code, whatever the prompt."""
    offload: bool = False
    """True offloads large results while the run goes on; else they stay in the history."""


LADDER: tuple[Ours, ...] = (
    Ours("ladder-1-shipped", "micro+summary", 0.4, 0.001, "turn"),
    Ours("ladder-2-tail", "micro+summary", 0.4, 0.2, "message"),
    Ours("ladder-3-steps", "micro+summary", 0.4, 0.2, "step"),
    Ours("ladder-4-offload", "micro+summary", 0.4, 0.2, "step", offload=True),
    Ours("ladder-5-retry", "retry+micro+summary", 0.4, 0.2, "step", offload=True),
)
"""What a known agent ships, then one mechanism more at each rung: old results as placeholders and a summary
of all but the newest words of the user; a verbatim tail of 20 %; its cut at whole steps; large results
offloaded; settled retries collapsed first. All may leave 40 %, which placeholders alone rarely reach."""


PROMPTED = tuple(Ours(f"summary[{prompt}]", "summary", prompt=prompt) for prompt in PROMPTS)
"""The summary once for each prompt, the mechanism the same."""


def ours_named(name: str) -> Ours | None:
    """The setting of this name: a strategy, `STRATEGY@PERCENT`, `summary[PROMPT]`, or a rung; else `None`.

    A strategy alone may leave 60 % of the tokens, as in the product, and those that shorten in place free
    what they can. `@PERCENT` sets what may be left; the tail is then a third of it, as in the product
    (`latest-n`, which is a tail and nothing else: two thirds).
    """
    for known in (*LADDER, *PROMPTED):
        if known.name == name:
            return known
    shared = _SHARED.fullmatch(name)
    strategy = shared["strategy"] if shared else name
    if any(part not in STRATEGIES for part in strategy.split("+")):
        return None
    if not shared:
        return Ours(name, strategy, _ALL if strategy in IN_PLACE else _TARGET)
    target = int(shared["percent"]) / 100
    return Ours(name, strategy, target, target * (2 if strategy == "latest-n" else 1) / 3)
