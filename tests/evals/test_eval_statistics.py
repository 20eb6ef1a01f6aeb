"""Statistics against values worked out by hand or by closed forms."""

import math
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals import statistics as stats
from evals.errors import StatisticsError
from evals.statistics import Pair


def test_mcnemar_is_the_exact_binomial() -> None:
    assert stats.mcnemar(0, 0) == 1
    assert stats.mcnemar(5, 0) == 2 / 32
    assert stats.mcnemar(1, 9) == 2 * (1 + 10) / 1024
    assert stats.mcnemar(9, 1) == stats.mcnemar(1, 9)
    assert stats.mcnemar(4, 4) == 1
    with pytest.raises(StatisticsError):
        stats.mcnemar(-1, 2)


@given(
    st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n)))
)
def test_pass_at_and_pass_all_are_counts_over_all_draws(case: tuple[int, int, int]) -> None:
    trials, passed, k = case
    draws = list(combinations([True] * passed + [False] * (trials - passed), k))
    assert stats.pass_at(trials, passed, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert stats.pass_all(trials, passed, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_pass_k_refuses_more_draws_than_trials() -> None:
    with pytest.raises(StatisticsError, match="k=5"):
        stats.pass_at(4, 2, 5)


def test_holm_steps_down_and_keeps_order() -> None:
    given_ = {"a": 0.04, "b": 0.01, "c": 0.03}
    assert stats.holm(given_) == pytest.approx({"a": 0.06, "b": 0.03, "c": 0.06})
    assert list(stats.holm(given_)) == ["a", "b", "c"]
    assert stats.holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert stats.holm({}) == {}


def test_wilson_against_published_values() -> None:
    # 15 of 148, a worked example in the literature: 0.062 to 0.161.
    interval = stats.wilson(15, 148)
    assert (interval.low, interval.high) == (
        pytest.approx(0.0624, abs=1e-4),
        pytest.approx(0.1605, abs=1e-4),
    )
    none = stats.wilson(0, 100)
    z = 1.959963984540054
    assert none.low == 0
    assert none.high == pytest.approx(z * z / (100 + z * z))
    assert stats.wilson(100, 100).high == 1
    with pytest.raises(StatisticsError):
        stats.wilson(1, 0)


def test_upper_bound_of_a_rate_of_zero_is_exact() -> None:
    assert stats.upper_bound_of_none(1) == pytest.approx(0.95)
    bound = stats.upper_bound_of_none(100)
    assert (1 - bound) ** 100 == pytest.approx(0.05)
    assert bound == pytest.approx(3 / 100, rel=0.02)
    with pytest.raises(StatisticsError):
        stats.upper_bound_of_none(0)


def test_bootstrap_agrees_with_the_normal_interval_of_a_mean() -> None:
    random = Random(7)
    values = {n: [random.gauss(10, 2)] for n in range(400)}
    flat = [value[0] for value in values.values()]
    mean = sum(flat) / len(flat)
    error = math.sqrt(sum((v - mean) ** 2 for v in flat) / len(flat) / len(flat))
    interval = stats.cluster_interval(values, "normal")
    assert interval.estimate == pytest.approx(mean)
    assert interval.low == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
    assert interval.high == pytest.approx(mean + 1.96 * error, abs=0.15 * error)
    assert (interval.samples, interval.clusters) == (400, 400)


def test_clusters_widen_the_interval() -> None:
    """A hundred copies of one answer are one observation, not a hundred."""
    alone = {n: [float(n % 2)] for n in range(20)}
    copied = {n: [float(n % 2)] * 100 for n in range(20)}
    first, second = stats.cluster_interval(alone, "x"), stats.cluster_interval(copied, "x")
    assert (first.low, first.high) == (second.low, second.high)
    assert second.samples == 2000


def test_one_cluster_has_no_borders_and_none_is_refused() -> None:
    one = stats.cluster_interval({"a": [1.0, 0.0]}, "one")
    assert (one.estimate, one.low, one.high) == (0.5, -math.inf, math.inf)
    with pytest.raises(StatisticsError, match="'none'"):
        stats.cluster_interval({}, "none")


def test_same_name_same_draws() -> None:
    values = {n: [Random(n).random()] for n in range(30)}
    assert stats.cluster_interval(values, "a") == stats.cluster_interval(values, "a")
    assert stats.cluster_interval(values, "a") != stats.cluster_interval(values, "b")
    assert stats.seed_of("a") == stats.seed_of("a") != stats.seed_of("b")


def test_paired_difference_names_the_higher_arm_only_when_sure() -> None:
    sure = stats.paired_difference([Pair(n, 1, 0) for n in range(20)], "sure")
    assert (sure.verdict, sure.interval.estimate) == ("first", 1)
    assert sure.p_value == pytest.approx(2 / 2**20)
    turned = stats.paired_difference([Pair(n, 0, 1) for n in range(20)], "turned")
    assert (turned.verdict, turned.interval.estimate) == ("second", -1)
    even = stats.paired_difference([Pair(n, n % 2, (n + 1) % 2) for n in range(20)], "even")
    assert (even.verdict, even.p_value) == ("cannot tell apart", 1)
    same = stats.paired_difference([Pair(n, 1, 1) for n in range(20)], "same")
    assert (same.verdict, same.interval.low, same.interval.high) == ("cannot tell apart", 0, 0)


def test_pairs_that_are_no_outcomes_have_no_mcnemar() -> None:
    shares = stats.paired_difference([Pair(n, 0.5, 0.25) for n in range(5)], "shares")
    assert (shares.p_value, shares.verdict) == (None, "first")


def test_one_trajectory_cannot_tell_two_arms_apart() -> None:
    one = stats.paired_difference([Pair("t", 1, 0)] * 50, "one")
    assert one.verdict == "cannot tell apart"


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """200 samples of a known coin: 95 % intervals hold the truth in at least 88 % of them."""
    covered = 0
    for trial in range(200):
        random = Random(trial)
        values = {n: [float(random.random() < 0.3)] for n in range(60)}
        interval = stats.cluster_interval(values, f"coverage {trial}")
        covered += interval.low <= 0.3 <= interval.high
    assert covered >= 176
