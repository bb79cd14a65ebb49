"""The bootstrap against its definition, value by value, and its limits: large samples, large and small units."""

from __future__ import annotations

import tracemalloc
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dumbbell.metrics import bootstrap
from dumbbell.metrics.bootstrap import SEED, Floats, bca, statistic_of

STATISTICS: tuple[Literal["median", "mean"], ...] = ("median", "mean")
samples = st.lists(st.integers(-50, 50), min_size=2, max_size=40).map(lambda values: np.sort(np.array(values) / 8))


def definition(ordered: Floats, statistic: Literal["median", "mean"], resamples: int) -> Floats:
    draws = np.random.default_rng(SEED).integers(0, len(ordered), size=(resamples, len(ordered)))
    return statistic_of(ordered[draws], statistic)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(ordered=samples, chunk=st.sampled_from([1, 7, 100, 1 << 20]))
def test_resamples_are_their_definition(statistic: Literal["median", "mean"], ordered: Floats, chunk: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "CHUNK", chunk)
        bootstrap._middles.cache_clear()
        found = bootstrap._resampled(ordered[None], statistic, 60)
    assert found[0] == pytest.approx(definition(ordered, statistic, 60), abs=1e-12)


@pytest.mark.parametrize("statistic", STATISTICS)
@given(ordered=samples)
def test_leaving_out_one_value_is_its_definition(statistic: Literal["median", "mean"], ordered: Floats) -> None:
    each = [statistic_of(np.delete(ordered, k), statistic) for k in range(len(ordered))]
    assert bootstrap._left_out(ordered[None], statistic)[0] == pytest.approx(np.array(each), abs=1e-12)


def test_acceleration_by_hand() -> None:
    # The mean of 0, 0, 3 without each value: 1.5, 1.5, 0; their mean less them: -0.5, -0.5, 1. Cubes sum to 0.75,
    # squares to 1.5: 0.75 / (6 * 1.5 ** 1.5).
    found = bootstrap._acceleration(np.array([[0.0, 0.0, 3.0]]), "mean")
    assert found == pytest.approx([0.75 / (6 * 1.5**1.5)])


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("power", [-1000, -300, 300, 990])
def test_the_unit_scales_the_interval(statistic: Literal["median", "mean"], power: int) -> None:
    x = np.random.default_rng(6).exponential(size=25)
    unit = 2.0**power  # a power of two, so that scaling doesn't round
    low, high = bca(x, statistic)
    scaled_low, scaled_high = bca(x * unit, statistic)
    assert scaled_low / unit == pytest.approx(low, rel=1e-12)
    assert scaled_high / unit == pytest.approx(high, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("statistic", STATISTICS)
def test_memory_does_not_grow_with_the_square(statistic: Literal["median", "mean"]) -> None:
    rows = np.random.default_rng(7).normal(size=(3, 10_000))
    tracemalloc.start()
    low, high = bca(rows, statistic)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A resample of 4000 x 10,000 numbers would take 320 MB, and a matrix of pairs 800 MB.
    assert peak < 64e6
    # The standard error of the mean is 0.01, that of the median 1.25 times as much; 95 %: 2 * 1.96 of them.
    error = 0.01 if statistic == "mean" else 0.01 * np.sqrt(np.pi / 2)
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.2)
