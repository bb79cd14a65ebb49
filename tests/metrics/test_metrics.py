"""Metrics against numbers worked by hand, and against SciPy where it has them."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from dumbbell.metrics import (
    compare_all,
    convergence_time,
    edges_of,
    harm,
    holm,
    ratio,
    rtt_slope,
    share_ratios,
    spikes,
    warm_up,
)
from dumbbell.metrics.significance import fieller


def test_harm_as_ware_defines_it() -> None:
    # Goodput: 10 alone, 4 in company: 6/10 lost. Delay: 20 alone, 50 in company: 30 of 50 are the other's.
    assert harm(10.0, 4.0) == pytest.approx(0.6)
    assert harm(20.0, 50.0, better="less") == pytest.approx(0.6)
    assert harm([10.0, 8.0], [10.0, 10.0]).tolist() == pytest.approx([0.0, -0.25])
    assert math.isnan(harm(0.0, 1.0))


def test_holm_by_hand() -> None:
    # Ordered 0.01, 0.02, 0.04 of three: x3 = 0.03, x2 = 0.04, x1 = 0.04. The order of the input stays.
    assert holm([0.02, 0.01, 0.04]).tolist() == pytest.approx([0.04, 0.03, 0.04])
    # A later one is never smaller than an earlier one, and nothing passes 1.
    assert holm([0.3, 0.6]).tolist() == pytest.approx([0.6, 0.6])
    assert holm([0.7, 0.9]).tolist() == pytest.approx([1.0, 1.0])
    adjusted = holm([math.nan, 0.02, 0.03])  # two comparisons: 0.04, then max(0.04, 0.03)
    assert math.isnan(adjusted[0])
    assert adjusted[1:].tolist() == pytest.approx([0.04, 0.04])


def test_a_family_needs_more_than_a_pair() -> None:
    rng = np.random.default_rng(3)
    base = rng.normal(100, 5, 8)
    samples = {"a": base, "b": base - 10 - rng.random(8), "c": base + rng.normal(0, 1, 8)}
    by = {(c.a, c.b): c for c in compare_all(samples)}
    assert set(by) == {("a", "b"), ("a", "c"), ("b", "c")}
    # Student's t on the pairs, as SciPy has it; Holm makes it three times as much at most.
    assert by["a", "b"].p == pytest.approx(ttest_rel(samples["a"], samples["b"]).pvalue)
    assert by["a", "b"].p < by["a", "b"].adjusted <= 3 * by["a", "b"].p + 1e-12
    assert by["a", "b"].significant
    assert "a is higher than b" in by["a", "b"].sentence("Mbit/s")
    assert not by["a", "c"].significant
    assert by["a", "c"].sentence().startswith("no difference shown between a and c")


def test_ratio_sentences() -> None:
    b = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    found = ratio(1.8 * b, b)
    assert (found.value, found.low, found.high) == pytest.approx((1.8, 1.8, 1.8))
    assert found.sentence("Vegas", "Reno", "goodput") == "Vegas has 1.8 times Reno's goodput [1.8, 1.8]"
    wide = ratio([1.1, 0.8, 1.2, 0.9, 1.05, 0.95], np.ones(6))
    assert wide.sentence("Vegas", "Reno", "goodput").startswith("no difference shown between Vegas and Reno in goodput")
    assert ratio([2.0], [1.0]).sentence("a", "b", "x") == (
        "no difference shown between a and b in x (ratio 2.0; 1 repetition is too few for this test: at least 2)"
    )
    assert math.isnan(ratio([1.0, 2.0], [0.0, 0.0]).value)


def test_the_ratio_of_quantities_that_are_not_negative_is_not_negative() -> None:
    # Drops in two of six runs beside steady ones: mean 0.25, sd 0.418. Half of Fieller's interval is
    # 2.571 x 0.418 / 6^0.5 = 0.439, so it reaches below zero.
    few = [0.0, 0.0, 1.0, 0.0, 0.5, 0.0]
    found = ratio(few, np.ones(6))
    assert fieller(np.array(few), np.ones(6))[0] < 0
    assert found.low == 0
    assert found.significant
    assert found.text() == "0.250 times [0, 0.689]"
    below = ratio([-1.0, 0.5, 1.0, 0.2], np.ones(4))
    assert below.low < 0  # a quantity that can be negative, such as a difference


def test_convergence_by_hand() -> None:
    time = np.arange(1.0, 11.0)  # ends of windows of 1 s
    share = np.array([0.9, 0.8, 0.62, 0.55, 0.52, 0.5, 0.49, 0.5, 0.51, 0.5])
    # Within 0.1 of 0.5 from the fourth window on, which began at 3 s, and for longer than 5 s.
    assert convergence_time(time, share, target=0.5, within=0.1, hold=5.0) == pytest.approx(3.0)
    # The share must hold for eight windows; the series has fewer.
    assert math.isnan(convergence_time(time, share, target=0.5, within=0.1, hold=8.0))
    # A window out of bounds starts the count again.
    share[5] = 0.7
    assert convergence_time(time, share, target=0.5, within=0.1, hold=4.0) == pytest.approx(6.0)
    # Without a target: the mean of the last third, here (0.5 + 0.51 + 0.5) / 3.
    assert convergence_time(time, share, within=0.02, hold=4.0) == pytest.approx(6.0)


def test_spikes_by_hand() -> None:
    found = spikes([0, 5, 7, 2, 6, 0, 9], threshold=4.5)
    assert (found.count, found.values, found.maximum) == (3, 4, 9)
    assert spikes([5, 5], threshold=5).count == 0  # above, not at
    assert math.isnan(spikes([], threshold=1).maximum)


def test_share_ratios_and_slope() -> None:
    assert share_ratios([3.0, 1.0]).tolist() == pytest.approx([1.5, 0.5])
    # Rates inversely proportional to the square of the RTT: slope -2.
    rtt = np.array([10.0, 20.0, 40.0, 80.0])
    assert rtt_slope(rtt, 5 / rtt**2) == pytest.approx(-2.0)
    assert math.isnan(rtt_slope([10.0, 10.0], [1.0, 2.0]))


def test_warm_up_cuts_the_rise() -> None:
    # 30 values of rise, then 300 that move around 10.
    rng = np.random.default_rng(1)
    series = np.concatenate([np.linspace(0, 10, 30), 10 + rng.normal(0, 0.3, 300)])
    cut = warm_up(series)
    assert cut is not None
    assert 20 <= cut <= 40  # within two batches of the end of the rise
    assert warm_up(10 + rng.normal(0, 0.3, 200)) in range(0, 100, 5)
    assert warm_up(np.linspace(0, 1, 100)) is None  # it never settles
    assert warm_up(np.ones(19)) is None


def test_edges_are_whole_windows() -> None:
    assert edges_of(1.0, 2.35, 0.1).size == 14  # thirteen windows; the last 50 ms are left out
    assert edges_of(0.0, 0.3, 0.1).tolist() == pytest.approx([0, 0.1, 0.2, 0.3])
