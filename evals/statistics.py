"""Statistics: intervals over paired, clustered samples, and what a finite sample cannot say.

Everything is exact or seeded from a constant and a name, so that the same results give the same figures
on every machine. Rates are fractions from 0 to 1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Literal

from .errors import StatisticsError

DRAWS = 2_000
"""Draws of a bootstrap: enough that a 95 % border moves by less than a tenth of its width."""
CONFIDENCE = 0.95
SEED = "undrift evals 1"
"""Joined with a sample's name for every seed; changed only together with the results' format."""
_Z = 1.959963984540054  # the 97.5 % point of the normal distribution
Verdict = Literal["first", "second", "cannot tell apart"]


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its borders."""

    estimate: float
    low: float
    high: float
    samples: int
    """Observations behind it."""
    clusters: int
    """Independent units behind it: trajectories, or seeds."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One question put to two arms."""

    cluster: str
    """The trajectory or seed that it comes from; questions of one cluster are not independent."""
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class Difference:
    """A paired comparison of two arms, `first - second`."""

    interval: Interval
    p_value: float | None
    """Two-sided exact McNemar over the pairs, `None` when a value is neither 0 nor 1."""
    verdict: Verdict
    """Which arm is higher, or that the interval holds 0 and the sample cannot tell them apart."""


def seed_of(name: str) -> int:
    """The seed of a sample or table: 64 bits of SHA-256 over the constant and the name."""
    return int.from_bytes(sha256(f"{SEED}\n{name}".encode()).digest()[:8], "big")


def cluster_interval(values: Mapping[str, Sequence[float]], name: str) -> Interval:
    """Mean of all values with its bootstrap interval: whole clusters are drawn, with replacement.

    `name` seeds the draws. One cluster says nothing about the spread between clusters: its borders are
    then minus and plus infinity. Raises `StatisticsError` for no values.
    """
    totals = [(math.fsum(part), len(part)) for part in values.values() if part]
    if not totals:
        raise StatisticsError(f"no values for {name!r}: run at least one valid sample")
    samples = sum(size for _, size in totals)
    mean = math.fsum(total for total, _ in totals) / samples
    if len(totals) == 1:
        return Interval(mean, -math.inf, math.inf, samples, 1)
    if len({total / size for total, size in totals}) == 1:  # every draw would be the mean
        return Interval(mean, mean, mean, samples, len(totals))
    random = Random(seed_of(name))
    means: list[float] = []
    for _ in range(DRAWS):
        drawn = random.choices(totals, k=len(totals))
        means.append(sum(total for total, _ in drawn) / sum(size for _, size in drawn))
    means.sort()
    low, high = _quantile(means, (1 - CONFIDENCE) / 2), _quantile(means, (1 + CONFIDENCE) / 2)
    return Interval(mean, low, high, samples, len(totals))


def paired_difference(pairs: Sequence[Pair], name: str) -> Difference:
    """`first - second` over the pairs: cluster bootstrap, with McNemar beside it.

    A higher arm is named only when the interval leaves out 0. Raises `StatisticsError` for no pairs.
    """
    clusters: dict[str, list[float]] = {}
    for pair in pairs:
        clusters.setdefault(pair.cluster, []).append(pair.first - pair.second)
    interval = cluster_interval(clusters, name)
    p_value = None
    if all(value in (0, 1) for pair in pairs for value in (pair.first, pair.second)):
        p_value = mcnemar(
            sum(pair.first > pair.second for pair in pairs),
            sum(pair.first < pair.second for pair in pairs),
        )
    verdict: Verdict = "cannot tell apart"
    if interval.low > 0:
        verdict = "first"
    elif interval.high < 0:
        verdict = "second"
    return Difference(interval, p_value, verdict)


def mcnemar(only_first: int, only_second: int) -> float:
    """Two-sided exact p of McNemar's test: the discordant pairs against a fair coin; 1 when none."""
    if min(only_first, only_second) < 0:
        raise StatisticsError(f"negative counts: {only_first!r}, {only_second!r}")
    trials, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(trials, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / 2**trials)


def pass_at(trials: int, passed: int, k: int) -> float:
    """pass@k without bias: the chance that at least one of `k` trials, drawn without return, passed."""
    _check_trials(trials, passed, k)
    return 1 - math.comb(trials - passed, k) / math.comb(trials, k)


def pass_all(trials: int, passed: int, k: int) -> float:
    """pass^k without bias: the chance that all of `k` trials, drawn without return, passed."""
    _check_trials(trials, passed, k)
    return math.comb(passed, k) / math.comb(trials, k)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction over families: adjusted p by name, in the order given."""
    adjusted: dict[str, float] = {}
    highest = 0.0
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    for rank, (name, value) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * value))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def wilson(passed: int, samples: int) -> Interval:
    """Wilson's score interval of a rate, for samples that are independent of each other."""
    if samples < 1 or not 0 <= passed <= samples:
        raise StatisticsError(f"{passed!r} of {samples!r} is no rate")
    rate, square = passed / samples, _Z * _Z
    middle = (rate + square / (2 * samples)) / (1 + square / samples)
    half = _Z * math.sqrt(rate * (1 - rate) / samples + square / (4 * samples * samples))
    half /= 1 + square / samples
    low = 0.0 if passed == 0 else max(0.0, middle - half)
    high = 1.0 if passed == samples else min(1.0, middle + half)
    return Interval(rate, low, high, samples, samples)


def upper_bound_of_none(samples: int) -> float:
    """The largest rate that `samples` without one event leave possible, one-sided 95 %.

    Exact (Clopper-Pearson), `1 - 0.05^(1/n)`; the rule of three, `3 / n`, is its approximation and is
    over 1 for n below 3. Count independent clusters, not questions.
    """
    if samples < 1:
        raise StatisticsError("no samples: nothing bounds the rate")
    return 1 - (1 - CONFIDENCE) ** (1 / samples)


def _check_trials(trials: int, passed: int, k: int) -> None:
    if not (1 <= k <= trials and 0 <= passed <= trials):
        raise StatisticsError(f"no k={k!r} out of {trials!r} trials of which {passed!r} passed")


def _quantile(ordered: Sequence[float], share: float) -> float:
    """By linear interpolation between the neighbours in rank."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)
