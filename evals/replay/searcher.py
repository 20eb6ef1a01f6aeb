"""The scripted searcher: it knows the words of a question and nothing else, and may call twice.

The first call searches all original messages by these words; the second reads the best hit. What it
finds is a floor: a model would search again with other words.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from memory import estimate_tokens

from .probes import Probe
from .trajectory import Message

HITS = 10
"""Messages that a search shows."""
AROUND = 160
"""Characters shown on each side of the best place in a hit."""
READ_CHARACTERS = 40_000
"""Most characters that one read returns."""
_WORD = re.compile(r"\w{3,}")
_EMPTY = frozenset(
    (
        *(
            "what",
            "which",
            "was",
            "were",
            "the",
            "that",
            "did",
            "does",
            "has",
            "have",
            "had",
            "this",
        ),
        *(
            "than",
            "other",
            "first",
            "last",
            "number",
            "and",
            "with",
            "call",
            "calls",
            "made",
            "run",
        ),
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
    """Searches the messages of one run."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._texts = [message.text for message in messages]
        self._words = [Counter(_words(text)) for text in self._texts]
        self._spread = Counter(word for words in self._words for word in words)

    def fetch(self, probe: Probe) -> Fetched:
        """Search, then read; the probe's answers serve only to judge what came."""
        words = [w for w in _words(probe.question) if w not in _EMPTY]
        ranked = sorted(range(len(self._texts)), key=lambda n: -self._score(n, words))
        hits = [n for n in ranked[:HITS] if self._score(n, words) > 0]
        shown = "\n".join(self._excerpt(n, words) for n in hits)
        tokens = estimate_tokens(shown)
        if probe.held_by(shown):
            return Fetched(True, 1, tokens)
        read = self._texts[hits[0]][:READ_CHARACTERS] if hits else ""
        return Fetched(probe.held_by(read), 2, tokens + estimate_tokens(read))

    def _score(self, place: int, words: Sequence[str]) -> float:
        return sum(
            math.log(1 + len(self._texts) / self._spread[word])
            for word in words
            if self._words[place][word]
        )

    def _excerpt(self, place: int, words: Sequence[str]) -> str:
        text = self._texts[place]
        lowered = text.lower()
        where = min((at for w in words if (at := lowered.find(w)) >= 0), default=0)
        return text[max(0, where - AROUND) : where + AROUND]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("_", " "))
