"""The difference that matters, and intervals of bounded quantities and of medians."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, ttest_1samp

from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.metrics import compare_all, summarize
from dumbbell.metrics.margins import Margin, claim
from dumbbell.results.columns import column, columns
from dumbbell.results.statistics.difference_that_matters import margin_of

SPREAD = np.array([-0.2, -0.1, 0.0, 0.1, 0.2])
BASE = np.full(5, 10.0)


@pytest.mark.parametrize(
    ("difference", "margin", "expected"),
    [
        # Student's t of five pairs with a standard error of 0.0707: the interval is the difference +- 0.196.
        (1.0, 0.5, "higher by at least the margin"),
        (-1.0, 0.5, "lower by at least the margin"),
        (0.6, 0.5, "higher, but not shown by at least the margin"),
        (-0.6, 0.5, "lower, but not shown by at least the margin"),
        # Equality is one-sided: +- 0.151.
        (0.3, 0.5, "equal within the margin"),
        (0.0, 0.16, "equal within the margin"),
        (0.0, 0.14, "not shown"),
        (1.0, None, "higher"),
        (-1.0, None, "lower"),
        (0.1, None, "not shown"),
    ],
)
def test_verdicts_by_hand(difference: float, margin: float | None, expected: str) -> None:
    samples = {"a": BASE + difference + SPREAD, "b": BASE}
    (found,) = compare_all(samples, margin=None if margin is None else Margin(margin))
    assert found.verdict == expected
    (turned,) = compare_all(samples, pairs=[("b", "a")], margin=None if margin is None else Margin(margin))
    swap = {"higher": "lower", "lower": "higher"}
    first, comma, rest = expected.partition(",")
    words = [swap.get(word, word) for word in first.split()]
    assert turned.verdict == " ".join(words) + comma + rest


def test_the_end_of_the_interval_decides_and_not_the_estimate() -> None:
    (found,) = compare_all({"a": BASE + 0.6 + SPREAD, "b": BASE}, margin=Margin(0.5))
    assert found.difference.mean > 0.5 > found.difference.low > 0
    assert "a is higher than b, but not shown by at least 0.500 s (" in found.sentence("s")


def test_the_claims_of_a_family_are_corrected() -> None:
    """One claim of p = 0.02 is shown alone, and not among ten."""
    half = SPREAD * (0.35 / ttest_to(SPREAD, 0.02))
    alone = {"a": BASE + 0.85 + half, "b": BASE}
    (found,) = compare_all(alone, margin=Margin(0.5))
    assert found.verdict == "higher by at least the margin" and found.claim_p == pytest.approx(0.02, rel=1e-3)
    others = {f"o{n}": BASE + n * SPREAD for n in range(1, 10)}
    pairs = [("a", "b"), *((name, "b") for name in others)]
    assert compare_all({**alone, **others}, pairs=pairs, margin=Margin(0.5))[0].verdict != found.verdict


def ttest_to(values: np.ndarray[Any, Any], p: float) -> float:
    """The mean at which these values, about zero, differ from zero with this p-value."""
    low, high = 0.0, 100.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if ttest_1samp(values + middle, 0).pvalue > p else (low, middle)
    return low


@given(st.floats(-3, 3), st.floats(0.01, 2), st.lists(st.floats(-1, 1), min_size=3, max_size=8, unique=True))
def test_a_claim_agrees_with_its_interval(shift: float, margin: float, spread: list[float]) -> None:
    a = np.round(np.array(spread), 4) + shift
    if np.ptp(a) == 0:
        return
    beyond, p = claim(a, np.zeros(a.size), margin)
    for alpha in (0.05, 0.01):
        if abs(p - alpha) < 1e-9:
            continue
        level = 1 - alpha if beyond else 1 - 2 * alpha
        low, high = ttest_1samp(a, 0).confidence_interval(level)
        inside = (low >= margin or high <= -margin) if beyond else (-margin < low and high < margin)
        assert (p <= alpha) == inside


def test_margins_are_read_in_the_unit_of_the_metric() -> None:
    assert margin_of("goodput_bps", None) == Margin(0.01, relative=True)
    assert margin_of("goodput_bps", "0.5 Mbit/s") == Margin(5e5)
    assert margin_of("completion_time_s", "250 ms") == Margin(0.25)
    assert margin_of("drop_rate", "0.01") == Margin(0.01)
    assert margin_of("goodput_bps", "none") is None
    assert margin_of("timeouts", None) is None
    for metric, wrong in (
        ("goodput_bps", "1"),
        ("goodput_bps", "0 %"),
        ("timeouts", "-1"),
        ("rtt_mean_ms", "1 Mbit/s"),
    ):
        with pytest.raises(ResultsError, match=f"margin: '{wrong}' given: 'none', a part such as '1 %', or '"):
            margin_of(metric, wrong)


def test_every_declared_margin_can_be_read() -> None:
    declared = {name: c.margin for frame in ("flows", "queues") for name, c in columns(frame).items() if c.margin}
    assert {"goodput_bps", "rtt_p95_ms", "drop_rate", "completion_time_s", "utilization"} <= set(declared)
    assert all(margin_of(name, None) == margin_of(name, text) for name, text in declared.items())


# ------------------------------------------------------------ bounds


def test_columns_state_their_bounds() -> None:
    ranges = {name: found.range for name in ("utilization", "goodput_bps", "rtt_excess_ms", "timeouts", "stall_ratio")
              if (found := column(name)) is not None}  # fmt: skip
    assert ranges == {
        "utilization": (0, 1),
        "goodput_bps": (0, math.inf),
        "rtt_excess_ms": (-math.inf, math.inf),
        "timeouts": (0, math.inf),
        "stall_ratio": [0, 1],
    }


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=12),
    st.sampled_from([(0.0, 1.0), (0.0, math.inf), (-math.inf, 1.0), (-2.0, 5.0)]),
)
def test_an_interval_stays_within_bounds(values: list[float], bounds: tuple[float, float]) -> None:
    found = summarize(values, interval="student", bounds=bounds)
    assert bounds[0] <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= bounds[1]


def test_bounds_by_hand() -> None:
    # Mean 0.9, half width of the mean h; log-odds: logit(0.9) +- h / (0.9 x 0.1).
    values = [0.8, 0.9, 1.0]
    plain = summarize(values, interval="student")
    assert plain.high > 1
    half = (plain.high - plain.mean) / 0.09
    found = summarize(values, interval="student", bounds=(0, 1))
    assert found.low == pytest.approx(1 / (1 + math.exp(half) / 9))
    assert found.high == pytest.approx(1 / (1 + math.exp(-half) / 9))
    assert summarize([1.0, 1.0, 1.0], interval="student", bounds=(0, 1)).low == 1
    with pytest.raises(DumbbellError, match="bounds 0 to 1 given"):
        summarize([0.5, 1.5], interval="student", bounds=(0, 1))


# ------------------------------------------------------------ medians


@pytest.mark.parametrize(
    ("n", "rank", "covered"), [(3, 0, 0.75), (5, 0, 0.9375), (6, 0, 0.96875), (10, 1, 0.978515625)]
)
def test_a_median_states_the_level_that_its_interval_covers(n: int, rank: int, covered: float) -> None:
    found = summarize(np.arange(n)[::-1])
    assert (found.low, found.high) == (rank, n - 1 - rank)
    # The interval misses the median if at most `rank` of n values are on one side of it.
    assert found.level == pytest.approx(covered)
    assert covered == pytest.approx(1 - 2 * binom.cdf(rank, n, 0.5))
    assert (f"; {100 * covered:.4g} %]" in found.text()) == (covered < 0.95)


def test_two_values_have_no_interval_of_the_median() -> None:
    found = summarize([1.0, 2.0])
    assert math.isnan(found.low) and math.isnan(found.high)
    assert found.text("s") == "1.50 s (2 values: no interval)"
