"""Token counts: the counters, and what the provider's own reports teach about them."""

import functools
import importlib
import importlib.util
from dataclasses import dataclass, field
from typing import Protocol

from .estimate import estimate_tokens
from .events import ConfigSet, Entry, Noticed, ReplyReceived, RequestSent

COUNTER_TOPIC = "token_counter"
"""Topic of the notice that names a thread's counter."""
RATIO_TOPIC = "token_ratio"
"""Topic of the notice that tells a ratio that moved."""

LEAST_RATIO, GREATEST_RATIO = 0.5, 2.0
"""A counter that is further off than this is a wrong report, not a wrong counter."""
STEP = 0.1
"""The share by which one report may move the ratio: ten wrong reports in a row are needed to double it."""
SMALLEST_REPORT = 500
"""Tokens; below it a provider's fixed extra tokens would look like a ratio."""
WORTH_A_NOTICE = 0.05
"""The ratio is put into the log when it has moved this far since it last was."""


class Counter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """Fixed word, stored in the log: `o200k`, `estimate`."""
        ...

    @property
    def exact(self) -> bool:
        """True when it holds a vocabulary."""
        ...

    def count(self, text: str) -> int:
        """Tokens of `text`, 0 for `""`. Takes any `str` and never raises."""
        ...


class EstimateCounter:
    """Counts without a vocabulary, see `estimate_tokens`; nothing to install or load."""

    name = "estimate"
    exact = False

    def count(self, text: str) -> int:
        """About how many tokens `text` is."""
        return estimate_tokens(text)


class VocabularyCounter:
    """Counts by the o200k vocabulary, exactly; needs the extra `tokens`.

    The vocabulary is loaded at the first count, which takes about a second of CPU time and 60 MB.
    """

    name = "o200k"
    exact = True

    def count(self, text: str) -> int:
        """Tokens of `text`; lone surrogates count as the replacement that a request would hold."""
        # By name, because the extra may be absent where types are checked.
        batch_count = importlib.import_module("toktok").batch_count
        try:
            return int(batch_count([text], "o200k_base", threads=1)[0])
        except UnicodeEncodeError:
            return int(batch_count([text.encode("utf-8", "replace").decode()], "o200k_base", 1)[0])


@functools.cache
def best_counter() -> Counter:
    """The exact counter where its vocabulary is installed, else the estimate."""
    return VocabularyCounter() if importlib.util.find_spec("toktok") else EstimateCounter()


@dataclass(slots=True)
class Calibration:
    """What the provider's reports say about a thread's counts; computed from its events alone.

    `ratio` is reported over counted input tokens. It starts at 1, follows each report by at most a tenth,
    stays between a half and double, and starts again when the model changes.
    """

    ratio: float = 1.0
    """What a count is multiplied by."""
    reports: int = 0
    """Reports that were used."""
    counter: str = ""
    """The counter that the log names, `""` while it names none."""
    noticed: float = 1.0
    """The ratio that the log knows."""
    _model: str = ""
    _sent: dict[int, int] = field(default_factory=dict[int, int])
    """Raw count of the request that waits for its reply, by position."""

    @property
    def moved(self) -> bool:
        """True when the ratio is far enough from what the log knows to be put there."""
        return abs(self.ratio - self.noticed) >= WORTH_A_NOTICE

    def correct(self, tokens: int) -> int:
        """A count as the provider would report it."""
        return round(tokens * self.ratio)

    def add(self, entry: Entry) -> None:
        """Take in the next event of the thread."""
        match entry.event:
            case ConfigSet(model=model):
                if model != self._model:
                    self._model, self.ratio, self.reports = model, 1.0, 0
            case RequestSent(counted=counted):
                self._sent = {entry.seq: counted}
            case ReplyReceived() as event:
                self._report(self._sent.pop(event.request, 0), event.usage.input_tokens)
            case Noticed() as event:
                if event.topic == COUNTER_TOPIC:
                    self.counter = str(event.data.get("counter", ""))
                elif event.topic == RATIO_TOPIC:
                    self.noticed = self.ratio
            case _:
                pass

    def _report(self, counted: int, reported: int) -> None:
        if counted < SMALLEST_REPORT or reported <= 0:
            return
        low, high = self.ratio * (1 - STEP), self.ratio * (1 + STEP)
        followed = min(max(reported / counted, low), high)
        self.ratio = min(max(followed, LEAST_RATIO), GREATEST_RATIO)
        self.reports += 1
