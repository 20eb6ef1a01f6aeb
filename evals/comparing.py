"""Compare two results, paired: the same samples under two policies, models or versions."""

from collections.abc import Sequence
from dataclasses import dataclass

from .errors import ResultsDamaged
from .results import Record, Results
from .statistics import Difference, Pair, Verdict, holm, paired_difference


@dataclass(frozen=True, slots=True)
class FamilyDifference:
    """The difference within one family."""

    family: str
    difference: Difference
    adjusted_p: float | None
    """McNemar's p after Holm over all families, `None` when the values are no outcomes."""

    @property
    def verdict(self) -> Verdict:
        """The difference's verdict, held back when p does not outlast the correction at 5 %."""
        unsure = self.adjusted_p is not None and self.adjusted_p > 0.05
        return "cannot tell apart" if unsure else self.difference.verdict


@dataclass(frozen=True, slots=True)
class ReadingComparison:
    """First against second, by one reading."""

    reading: str
    overall: Difference
    families: tuple[FamilyDifference, ...]
    first_rate: float
    """Over the pairs."""
    second_rate: float
    only_first: int
    """Samples that the second results lack; they are in no pair."""
    only_second: int


def compare(first: Results, second: Results, *, name: str = "compare") -> list[ReadingComparison]:
    """Pair the records of two results by sample and reading, and measure `first - second`.

    Invalid and missing samples are failures. Raises `ResultsDamaged` when they share no sample, or
    when a sample occurs twice on one side (then say which policy is meant).
    """
    left, right = _by_pair(first, "first"), _by_pair(second, "second")
    readings = list(dict.fromkeys(key[1] for key in left if key in right))
    if not readings:
        raise ResultsDamaged(
            "the two results share no sample: run both with the same suite, seed and samples"
        )
    return [_compare_reading(left, right, reading, name) for reading in readings]


def _compare_reading(
    left: dict[tuple[str, str], Record],
    right: dict[tuple[str, str], Record],
    reading: str,
    name: str,
) -> ReadingComparison:
    keys = [key for key in left if key[1] == reading and key in right]
    seed = f"{name}/{reading}"
    pairs = [_pair(left[key], right[key]) for key in keys]
    families: dict[str, list[Pair]] = {}
    for key, pair in zip(keys, pairs, strict=True):
        families.setdefault(left[key].family, []).append(pair)
    differences = {
        family: paired_difference(part, f"{seed}/{family}") for family, part in families.items()
    }
    adjusted = holm(
        {family: d.p_value for family, d in differences.items() if d.p_value is not None}
    )
    return ReadingComparison(
        reading,
        paired_difference(pairs, seed),
        tuple(FamilyDifference(f, d, adjusted.get(f)) for f, d in differences.items()),
        _mean([pair.first for pair in pairs]),
        _mean([pair.second for pair in pairs]),
        sum(key[1] == reading and key not in right for key in left),
        sum(key[1] == reading and key not in left for key in right),
    )


def _by_pair(results: Results, side: str) -> dict[tuple[str, str], Record]:
    found: dict[tuple[str, str], Record] = {}
    for record in results.records:
        if record.pair in found:
            policies = sorted({record.policy for record in results.records})
            raise ResultsDamaged(
                f"the {side} results hold {record.sample!r} twice: name one policy of {policies} "
                "(results.jsonl#POLICY)"
            )
        found[record.pair] = record
    return found


def _pair(first: Record, second: Record) -> Pair:
    return Pair(first.cluster, first.success, second.success)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
