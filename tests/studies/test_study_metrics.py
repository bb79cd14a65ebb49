"""Statistics against hand-worked numbers and SciPy."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from scipy import stats as scipy_stats

from dumbbell import DumbbellError
from dumbbell.metrics import (
    jain,
    knee,
    mean_per_window,
    number,
    packet_ack_delays,
    paired,
    rate_per_window,
    segment_rate,
    shares,
    summarize,
    summarize_all,
)
from dumbbell.metrics.bootstrap import bca
from dumbbell.studies.geni_fairness.data import Over


def test_summary_by_hand() -> None:
    s = summarize([1.0, 2.0, 3.0, 4.0], interval="student")
    # sd: deviations 1.5, 0.5, 0.5, 1.5; squares sum to 5; the root of 5/3. Half width: t(0.975, 3) sd / 2.
    assert (s.n, s.mean, s.median, s.min, s.max) == (4, 2.5, 2.5, 1, 4)
    assert s.sd == pytest.approx(1.290994)
    assert s.high - 2.5 == pytest.approx(3.182446 * 1.290994 / 2, rel=1e-6)
    assert s.low == pytest.approx(5.0 - s.high)
    assert s.value == 2.5
    assert [summarize(values).median for values in ([5.0, 1.0, 2.0], [5.0, 1.0, 2.0, 3.0])] == [2, 2.5]


def test_degenerate_samples() -> None:
    one = summarize([7.0])
    assert one.n == 1
    assert one.median == 7
    assert math.isnan(one.sd)
    assert math.isnan(one.low)
    assert "one value" in one.text("ms")
    none = summarize([])
    assert none.n == 0
    assert math.isnan(none.median)
    assert none.text() == "no value"
    for interval in ("bca", "student"):
        same = summarize([0.1] * 7, interval=interval)
        assert same.low == pytest.approx(0.1, abs=1e-15)
        assert same.high == pytest.approx(0.1, abs=1e-15)
    exact = summarize([0.1] * 7, statistic="mean")
    assert exact.low == exact.high == 0.1


def test_missing_values_are_left_out() -> None:
    assert summarize([1.0, math.nan, 3.0]).n == 2
    assert summarize([1.0, math.nan, 3.0]).median == 2
    assert summarize([math.nan]).n == 0


@pytest.mark.parametrize("statistic", ["mean", "median"])
@pytest.mark.parametrize("n", [5, 10, 31])
def test_bca_is_scipys(statistic: str, n: int) -> None:
    x = np.random.default_rng(n).exponential(size=n)
    ours = summarize(x, statistic=statistic, resamples=40_000)  # type: ignore[arg-type]
    of = {"mean": np.mean, "median": np.median}[statistic]
    theirs = scipy_stats.bootstrap((x,), of, method="BCa", n_resamples=40_000, rng=1).confidence_interval
    # Two sets of 40000 draws: the ends differ by the draws; for the median also by steps between neighbors.
    step = x.std() * 0.03 if statistic == "mean" else float(np.diff(np.sort(x)).max())
    assert ours.low == pytest.approx(theirs.low, abs=step)
    assert ours.high == pytest.approx(theirs.high, abs=step)


def test_intervals_cover_the_truth_as_often_as_their_level() -> None:
    samples = np.random.default_rng(4).normal(size=(800, 10))
    low, high = bca(samples, "median")
    covered = float(((low <= 0) & (high >= 0)).mean())
    # 95 % asked; with ten values the bootstrap of a median is known to miss by a few per cent; spread of 800: 0.8 %.
    assert 0.90 < covered < 0.99


def test_same_data_same_interval() -> None:
    x = np.random.default_rng(5).normal(size=10)
    assert summarize(x) == summarize(x)
    assert summarize(x) == summarize(x[::-1])


def test_all_at_once_is_one_by_one() -> None:
    samples = [[1.0, 2.0, 4.0], [5.0], [], [1.0, 5.0, 2.0, 8.0], [3.0, math.nan, 9.0, 27.0]]
    for together, alone in zip(summarize_all(samples), map(summarize, samples), strict=True):
        assert repr(together) == repr(alone)


def test_wrong_requests() -> None:
    with pytest.raises(DumbbellError, match="mean"):
        summarize([1.0, 2.0], interval="student", statistic="median")
    with pytest.raises(DumbbellError, match="level: 95 given"):
        summarize([1.0, 2.0], level=95)
    with pytest.raises(DumbbellError, match="2 values against 1"):
        paired([1.0, 2.0], [1.0])


def test_paired_by_hand() -> None:
    b, gain = np.array([10.0, 20.0, 30.0, 40.0, 50.0]), np.array([1, 2, 3, 4, 10])
    p = paired(b + gain, b)
    assert (p.n, p.median) == (5, 3)
    # Means of pairs of 1 2 3 4 10, each with itself: 1 1.5 2 2 2.5 2.5 3 3 3.5 4 5.5 6 6.5 7 10; the 8th of 15.
    assert p.hodges_lehmann == 3
    assert p.relative == pytest.approx(4 / 30)
    # The k-th smallest a exceeds the k smallest b: 1 + 2 + 3 + 4 + 5 of 25 pairs; the other 10 are lower.
    assert p.cliffs_delta == pytest.approx((15 - 10) / 25)
    # Mean 4, variance 50 / 4: t = 4 / sqrt(12.5 / 5) = 2.53, p 0.065 with 4 degrees of freedom.
    assert p.mean == 4
    assert p.p == pytest.approx(0.0647, abs=1e-4)
    assert p.direction is None
    assert p.low < 0 < p.high
    clear = paired(b + gain - [0, 0, 0, 0, 5], b)  # 1 2 3 4 5: t = 3 / sqrt(2.5 / 5) = 4.24, p 0.013
    assert (clear.mean, clear.direction) == (3, "higher")
    assert clear.sentence("Vegas", "Reno", "ms").startswith("Vegas is higher than Reno (mean difference +3.00 [+")
    assert paired(b, b + np.arange(1.0, 6.0)).direction == "lower"


def test_paired_without_enough_to_go_on() -> None:
    few = paired([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])  # nothing varies: 4 ** (1 - 3) = 0.0625
    assert math.isnan(few.low)
    assert (few.p, few.direction) == (0.0625, None)
    assert few.sentence("a", "b") == (
        "no difference shown between a and b (mean difference +1.00, 3 pairs; "
        "3 repetitions are too few for this test: at least 4)"
    )
    assert paired([2.0] * 4, [1.0] * 4).sentence("a", "b") == (
        "a is higher than b (mean difference +1.00 [+1.00, +1.00], 4 pairs)"
    )
    mixed = paired([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 1.0, 4.0, 3.0, 6.0, 5.0])
    assert mixed.direction is None
    assert mixed.sentence("a", "b").startswith("no difference shown between a and b")
    assert paired([math.nan], [1.0]).sentence("a", "b") == "a and b were not measured together"
    assert paired([2.0], [1.0]).text("ms") == "+1.00 ms (one pair)"
    equal = paired([1.0] * 6, [1.0] * 6)
    assert (equal.low, equal.high, equal.direction) == (0, 0, None)


def test_jain_and_shares_by_hand() -> None:
    assert jain([1.0, 1.0, 1.0]) == pytest.approx(1)
    assert jain([1.0, 0.0]) == pytest.approx(0.5)
    assert jain([3.0, 1.0]) == pytest.approx(16 / 20)
    assert math.isnan(float(jain([0.0, 0.0])))
    np.testing.assert_allclose(jain([[1.0, 1.0], [3.0, 1.0]]), [1, 0.8])
    np.testing.assert_allclose(shares([[3.0, 1.0]]), [[0.75, 0.25]])
    assert np.isnan(shares([0.0, 0.0])).all()


def test_knee_by_hand() -> None:
    x = [1.0, 2.0, 3.0, 4.0, 5.0]
    # Level 10, threshold 9: between (3, 10) and (4, 8) it is crossed at the middle.
    assert knee(x, [10, 10, 10, 8, 2], level_until=2) == pytest.approx(3.5)
    assert knee(x, [10, 10, 10, 8, 2], level_until=2, fall=0.5) == pytest.approx(4.5)
    # A dip that is made up for is no knee.
    assert knee(x, [10, 10, 5, 10, 2], level_until=2) == pytest.approx(4 + 1 / 8)
    assert math.isnan(knee(x, [10, 10, 10, 10, 10], level_until=2))
    assert math.isnan(knee(x, [10, 10, 5, 5, 10], level_until=2))
    assert math.isnan(knee(x, [1, 1, 1, 1, 1], level_until=0.5))
    assert knee(x, [10, math.nan, 10, 8, 2], level_until=2) == pytest.approx(3.5)
    with pytest.raises(DumbbellError, match="increasing"):
        knee([2.0, 1.0], [1.0, 1.0], level_until=1)


def test_rates_in_windows_by_hand() -> None:
    # 1000 bytes at 0.5, 1.5 and 1.6 s: windows of 1 s hold 1, 2, 0 of them.
    time, total = [0.5, 1.5, 1.6], [1000, 2000, 3000]
    np.testing.assert_allclose(rate_per_window(time, total, [0, 1, 2, 3]), [8000, 16000, 0])
    assert segment_rate(time, total, 0, 2) == pytest.approx(12000)
    np.testing.assert_allclose(rate_per_window([], [], [0, 1, 2]), [0, 0])


def test_packet_ack_delays_by_hand() -> None:
    # Packets 1 and 2 leave at 0, 3 at 0.1; 1 is ACKed at 0.1; a timeout sets snd_nxt back at 0.5; 2 and 3 are ACKed
    # at 0.6.
    time = [0.0, 0.1, 0.5, 0.6]
    snd_nxt = [2000, 3000, 2000, 3000]
    snd_una = [0, 1000, 1000, 3000]
    when, delay = packet_ack_delays(time, snd_una, snd_nxt, 1000)
    np.testing.assert_allclose(when, [0.1, 0.6, 0.6])
    np.testing.assert_allclose(delay, [0.1, 0.6, 0.5])
    np.testing.assert_allclose(mean_per_window(when, delay, [0, 0.2, 0.4, 0.8]), [0.1, math.nan, 0.55])
    assert len(packet_ack_delays([], [], [], 1000)[0]) == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (63.0, "63.0"),
        (62.74, "62.7"),
        (1234.5, "1234"),
        (0.0, "0"),
        (0.04567, "0.0457"),
        (123.4, "123"),
        (2.86e-5, "0.0000286"),
        (-1e-7, "-0.000000100"),
        (1e-9, "1.00e-09"),
    ],
)
def test_numbers_keep_their_digits(value: float, text: str) -> None:
    assert number(value) == text
    assert number(value, sign=True) == (f"+{text}" if value > 0 else text)


def test_a_column_that_a_back_end_lacks_is_left_out() -> None:
    """A kernel reports only some of a variant's own columns: the analysis ended with a traceback after all runs."""
    tables = {"flow/a": pl.DataFrame({"t_ns": [1, 2], "base_rtt": [0.2, 0.1]}), "flow/b": pl.DataFrame({"t_ns": [1]})}
    over = Over.__new__(Over)
    over.__dict__ |= {
        "_results": SimpleNamespace(table=lambda _run, name: tables[name]),
        "_runs": {("vegas", "vegas"): [0, 1]},
    }
    found = over.last("vegas", "vegas", "a", "base_rtt")
    assert found is not None and found.tolist() == [0.1, 0.1]
    assert over.last("vegas", "vegas", "b", "base_rtt") is None
