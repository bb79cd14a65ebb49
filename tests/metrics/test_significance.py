"""The one test of a difference: against SciPy, against its own interval, and against itself in every command."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind, ttest_rel

from dumbbell.exceptions import DumbbellError
from dumbbell.metrics import compare_all, compare_means, p_value, paired, ratio
from dumbbell.metrics.needed_repetitions import least_repetitions, too_few
from dumbbell.metrics.significance import fieller, holm, holm_levels

VALUES = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
PAIRS = st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12)


def test_p_values_by_hand() -> None:
    a = np.array([1.0, 2.0, 3.0, 4.0])
    assert p_value(a, a) == 1.0
    # t = mean / (sd / sqrt(n)) = 2.5 / (1.291 / 2) = 3.873 with 3 degrees of freedom: p = 0.0305.
    assert p_value(2 * a, a) == pytest.approx(0.0305, abs=5e-4)
    assert math.isnan(p_value([1.0], [2.0]))
    assert math.isnan(p_value([], []))
    # All four differ by one: 4 ** (1 - 4). Rounding of the differences changes nothing.
    assert p_value(a, a + 1) == p_value(a, a + 0.1) == 1 / 64


@pytest.mark.parametrize("n", [2, 3, 5, 30])
def test_scipy_gives_the_same(n: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(10, 2, n), rng.normal(11, 3, n)
    assert p_value(a, b) == pytest.approx(ttest_rel(a, b).pvalue)
    assert p_value(a, b[:-1] if n > 2 else b, pairs=False) == pytest.approx(
        ttest_ind(a, b[:-1] if n > 2 else b, equal_var=False).pvalue
    )
    found, theirs = compare_means(a, b, level=0.9), ttest_rel(a, b).confidence_interval(0.9)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


@given(PAIRS, st.sampled_from([0.9, 0.95, 0.999]), st.booleans())
def test_an_interval_excludes_zero_exactly_if_p_is_small(
    values: list[tuple[float, float]], level: float, pairs: bool
) -> None:
    a, b = np.array(values).T
    found = compare_means(a, b, pairs=pairs, level=level)
    assert 0 <= found.p <= 1
    if math.isnan(found.low):
        assert not found.significant
    elif abs(found.p - (1 - level)) > 1e-9:
        assert found.significant == (found.low > 0 or found.high < 0)
        assert found.low <= found.difference <= found.high


@given(PAIRS)
def test_a_ratio_and_a_difference_agree(values: list[tuple[float, float]]) -> None:
    a, b = np.abs(np.array(values)).T + 1
    low, high = fieller(a, b)
    difference = compare_means(a, b)
    assert ratio(a, b).significant == difference.significant
    if not math.isnan(low) and abs(difference.p - 0.05) > 1e-6 and not difference.tied:
        assert difference.significant == (low > 1 or high < 1)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_level_of_a_step_decides_as_the_adjusted_p(p: list[float]) -> None:
    adjusted, levels = holm(p), holm_levels(p)
    for one, of_family, level in zip(p, adjusted, levels, strict=True):
        if abs(one - (1 - level)) > 1e-9:
            assert (of_family <= 0.05) == (one <= 1 - level)


def test_levels_by_hand() -> None:
    # 0.01 is tested at 0.05 / 3, then 0.03 at 0.05 / 2 fails: it and 0.04 keep that level.
    assert holm_levels([0.04, 0.01, 0.03]).tolist() == pytest.approx([0.975, 1 - 0.05 / 3, 0.975])


@given(st.lists(PAIRS, min_size=2, max_size=4))
def test_no_family_contradicts_its_intervals(families: list[list[tuple[float, float]]]) -> None:
    n = min(map(len, families))
    samples = {str(k): np.array(f)[:n, 0] for k, f in enumerate(families)}
    for one in compare_all(samples):
        d = one.difference
        excluded = d.low > 0 or d.high < 0
        if abs(one.adjusted - 0.05) > 1e-9:
            assert one.significant == excluded
            assert ("no difference shown" in one.sentence()) == (not excluded)
            assert one.direction == d.direction


def test_too_few_repetitions_are_named() -> None:
    assert too_few(compare_means([1.0], [2.0])) == "1 repetition is too few for this test: at least 2"
    assert too_few(compare_means([1.0, 1.0], [2.0, 2.0])).endswith("at least 4")
    assert too_few(compare_means([1.0, 1.0], [2.0, 3.0])) == ""
    assert too_few(compare_means([1.0, 1.0], [1.0, 1.0])) == ""
    # The smallest n with 4 ** (1 - n) <= 0.05 / 20 = 0.0025 is 6: 4 ** -5 = 0.00098.
    assert least_repetitions(1 - 0.05 / 20, tied=True) == 6


def test_a_pair_that_lacks_a_value_is_left_out() -> None:
    nan = math.nan
    assert paired([1.0, nan, 3.0, 5.0], [1.5, 2.0, nan, 5.7]).n == 2
    assert compare_means([1.0, nan, 3.0], [2.0, 2.5], pairs=False).n == 2
    with pytest.raises(DumbbellError, match="3 values against 2"):
        p_value([1.0, 2.0, 3.0], [1.0, 2.0])
