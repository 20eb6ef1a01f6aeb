"""The scripted searcher: it knows the words of a question and nothing else, and may call twice.

Its calls are those of the product: `history_search` for the longest word of the question, then
`history_read` of the hit that holds most of its words, or a search for the next word when there was no
hit. What it finds is a floor: a model would think of other words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents import LOOKBACK, ToolError, lookback_tools
from memory import Thread, estimate_tokens

from .probes import Probe

_WORD = re.compile(r"\w{3,}")
_HIT = re.compile(r"^event (\d+): (.*)$", re.MULTILINE)
_EMPTY = frozenset(
    (
        *("what", "which", "was", "were", "the", "that", "did", "does", "has", "have", "had"),
        *("this", "than", "other", "first", "last", "number", "and", "with", "call", "calls"),
        *("made", "run"),
    )
)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What two calls gave."""

    found: bool
    calls: int
    """Calls until it was found, 2 when it was not."""
    tokens: int
    """Tokens of the results."""


class Searcher:
    """Looks back in one thread."""

    def __init__(self, thread: Thread) -> None:
        self._tools = {tool.name: tool for tool in lookback_tools(thread) if tool.name in LOOKBACK}

    async def fetch(self, probe: Probe) -> Fetched:
        """Search, then read; the probe's answers serve only to judge what came."""
        words = words_of(probe.question)
        shown = await self._call("history_search", query=words[0] if words else probe.question)
        tokens = estimate_tokens(shown)
        if probe.held_by(shown):
            return Fetched(True, 1, tokens)
        read = await self._second(shown, words)
        return Fetched(probe.held_by(read), 2, tokens + estimate_tokens(read))

    async def _second(self, shown: str, words: Sequence[str]) -> str:
        hits = [(int(hit[1]), hit[2].lower()) for hit in _HIT.finditer(shown)]
        if hits:
            best = max(hits, key=lambda hit: sum(word in hit[1] for word in words))
            return await self._call("history_read", first=best[0])
        return await self._call("history_search", query=words[1]) if len(words) > 1 else ""

    async def _call(self, name: str, **arguments: str | int) -> str:
        try:
            return str(await self._tools[name].function(**arguments))
        except ToolError as error:
            return str(error)


def words_of(question: str) -> list[str]:
    """The words of a question that say something, the longest first: they are the rarest, mostly."""
    words = _WORD.findall(question.lower().replace("_", " "))
    return sorted(dict.fromkeys(w for w in words if w not in _EMPTY), key=len, reverse=True)
