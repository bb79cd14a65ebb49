"""The window over time, RED's average and CUBIC's functions, on made-up series with numbers worked by hand."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from dumbbell.studies.bufferbloat.cubic import Epoch, bend, middle_bend, plateau_time, share
from dumbbell.studies.bufferbloat.data import Teeth
from dumbbell.studies.ns2_cbr.data_exp3 import Average
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.windows import Window, early_repairs

Floats = npt.NDArray[np.float64]
START, AVOID, RECOVER, LOSS = 0, 1, 2, 3


def window(cwnd: list[float], phase: list[int], **more: list[float]) -> Window:
    """Return a window in bytes; columns that are not given are constant."""
    n = len(cwnd)
    columns = {"ssthresh": [20_000.0] * n, "snd_una": [0.0] * n, "snd_nxt": [0.0] * n, "timeouts": [0.0] * n} | more
    return Window.read(pl.DataFrame({"cwnd": cwnd, "phase": phase, **columns}))


def test_cuts_without_a_loss_are_distinguished_from_reactions_to_one() -> None:
    # 10 -> 9 without a loss; a fast recovery, whose end takes 12 -> 5; a timeout.
    made = window(
        [8000, 10000, 9000, 12000, 12000, 5000, 1000, 2000],
        [START, AVOID, AVOID, RECOVER, RECOVER, AVOID, LOSS, START],
        timeouts=[0, 0, 0, 0, 0, 0, 1, 1],
    )
    assert made.cuts.tolist() == [False, True, False, False, False, False, False]
    assert made.losses == 2
    assert made.without_loss == pytest.approx(100 / 3)


def test_tahoe_falls_to_one_segment_by_a_loss() -> None:
    made = window([8000, 1000, 2000], [AVOID, START, START])
    assert (made.losses, made.without_loss) == (1, 0.0)
    assert np.isnan(window([1000, 2000], [START, START]).without_loss)


def test_slow_start_ends_early_only_below_ssthresh_and_without_a_loss() -> None:
    assert window([4000, 8000, 7000], [START, START, AVOID]).start_ends_early == 100
    assert window([10000, 20000, 20050], [START, START, AVOID]).start_ends_early == 0
    assert window([4000, 8000, 8000], [START, START, RECOVER]).start_ends_early == 0
    assert np.isnan(window([4000, 8000], [START, START]).start_ends_early)


def test_rises_and_cuts_by_the_base_rtt() -> None:
    # Four round trips end: two above the base RTT, of which one cuts. Three rises, one of them below it.
    made = window([4000, 5000, 6000, 5000, 6000], [AVOID] * 5, base_rtt=[0.05] * 5, rtt=[0.05, 0.049, 0.06, 0.07, 0.05])
    assert made.rises_below_base == pytest.approx(100 / 3)
    assert made.cuts_above_base == 50.0
    assert np.isnan(window([4000, 5000], [AVOID] * 2).rises_below_base)


def test_additive_increase_and_multiplicative_decrease() -> None:
    # A window of 10 kB is acknowledged, and the window grows by 1 kB; then 4 of 8 kB in use are left.
    made = window(
        [10000, 10500, 11000, 14000, 4000],
        [AVOID, AVOID, AVOID, RECOVER, AVOID],
        ssthresh=[20000, 20000, 20000, 4000, 4000],
        snd_una=[0, 5000, 10250, 10250, 30000],
    )
    assert made.growth(1000.0) == pytest.approx(1.0)
    assert made.kept(8000.0) == 50.0
    assert np.isnan(window([1000, 2000], [START] * 2).growth(1000.0))


def test_recoveries_that_outlast_a_partial_ack() -> None:
    # The first ends at its first ACK of new data, with 2 kB open; the second continues, and ends complete.
    made = window(
        [9000, 5000, 6000, 4000, 9000, 5000, 5000, 4000],
        [AVOID, RECOVER, RECOVER, AVOID, AVOID, RECOVER, RECOVER, AVOID],
        snd_una=[0, 0, 0, 6000, 8000, 8000, 9000, 17000],
        snd_nxt=[8000, 8000, 8000, 9000, 17000, 17000, 17000, 18000],
    )
    assert made.outlast_partial == 50.0
    # Only the second one shows that several segments were lost.
    assert made.end_complete == 100.0
    timed_out = window(
        [9000, 5000, 5000, 1000],
        [AVOID, RECOVER, RECOVER, LOSS],
        snd_una=[0, 0, 1000, 1000],
        snd_nxt=[8000, 8000, 8000, 1000],
        timeouts=[0, 0, 0, 1],
    )
    assert timed_out.end_complete == 0.0
    assert np.isnan(window([9000, 10000], [AVOID, AVOID]).end_complete)
    assert made.starts_and_recovers
    assert not window([9000, 1000], [AVOID, LOSS]).starts_and_recovers
    assert not window([9000, 10000], [START, AVOID]).starts_and_recovers


def test_a_series_without_a_sender_is_named() -> None:
    with pytest.raises(NotRunError, match="the series has no phase, snd_nxt"):
        Window.read(pl.DataFrame({"cwnd": [1.0], "ssthresh": [1.0], "snd_una": [0.0], "timeouts": [0]}))


def test_repairs_before_the_third_duplicate_ack() -> None:
    ms = 1_000_000
    rows = [  # t_ns, len, seq, ack, data
        *((0, 1000, 1000 * k, 0, True) for k in range(6)),
        (10 * ms, 0, 0, 1000, False),
        (11 * ms, 0, 0, 1000, False),  # first duplicate: repaired at once
        (11 * ms, 1000, 1000, 0, True),
        (20 * ms, 0, 0, 3000, False),
        *((t * ms, 0, 0, 3000, False) for t in (21, 22, 23)),  # third duplicate
        (23 * ms, 1000, 3000, 0, True),
        (30 * ms, 0, 0, 5000, False),
        (31 * ms, 0, 0, 5000, False),
        (900 * ms, 1000, 5000, 0, True),  # a timer, not an ACK
    ]
    frame = pl.DataFrame(rows, schema=["t_ns", "len", "seq", "ack", "data"], orient="row")
    assert early_repairs(frame) == 50.0
    assert np.isnan(early_repairs(frame.head(7)))


def test_likelihood_of_early_drops_by_the_average() -> None:
    # Eight packets enter, four at an average of 1 and four at 3; one more is dropped at 1, three at 3. Of these 12
    # the median is 3, and none lies above it.
    time = np.arange(9.0)
    packets = np.arange(9.0)
    average = np.array([1.0, 1, 1, 1, 1, 3, 3, 3, 3])
    made = Average(time, average, packets, np.array([2.5, 5.5, 6.5, 7.5]))
    lower, upper = made.likelihoods()
    assert lower == pytest.approx(100 * 4 / 12)
    assert np.isnan(upper)
    rising = Average(time, np.array([1.0, 1, 1, 1, 1, 3, 3, 4, 4]), packets, np.array([2.5, 7.5, 7.6]))
    # Arrivals at 1: four and a drop; at 3: two; above: two and two drops. The median of 11 is 3.
    assert np.array(rising.likelihoods()) == pytest.approx([100 / 7, 50.0])


def test_time_between_thresholds() -> None:
    made = Average(np.array([0.0, 1, 4, 5]), np.array([1.0, 2, 9, 9]), np.zeros(4), np.array([]))
    assert made.between(2, 8) == pytest.approx(60.0)


def test_a_window_on_the_cubic_function() -> None:
    time = np.linspace(0, 6, 61)
    cubic = 100 + 0.4 * (time - 3) ** 3
    low = np.full(61, 1.0)
    made = Epoch(time, cubic, low, 100.0, 3.0)
    every = [made]
    assert share(every, Epoch.on_cubic, lambda one: np.ones(one.time.size, dtype=bool)) == pytest.approx(100.0)
    assert np.isnan(share(every, Epoch.on_reno, lambda one: one.friendly))
    # (x - 3)^3 over [0, 3]: -27, -3.375, 0, so (0 + 3.375 - 23.625) / 27; above it is the mirror image.
    assert middle_bend(every, above=False) == pytest.approx(-0.75, abs=0.05)
    assert middle_bend(every, above=True) == pytest.approx(0.75, abs=0.05)
    straight = Epoch(time, 150 + time, 150 + time, 100.0, 3.0)
    assert share([straight], Epoch.on_reno, lambda one: one.friendly) == pytest.approx(100.0)
    assert share([straight], Epoch.on_cubic, lambda one: np.ones(one.time.size, dtype=bool)) == 0.0
    assert np.isnan(middle_bend([straight], above=True))


def test_the_time_to_the_plateau() -> None:
    # (100 * 0.3 / 0.4)^(1/3) = 75^(1/3), and twice that for eight times the window.
    top = np.array([100.0, 800.0])
    assert plateau_time(top) == pytest.approx([4.2172, 8.4343], abs=1e-4)
    none = np.zeros(2)
    assert Teeth(np.array([2.1086, 8.4343]), none, top, none, none).of_k == pytest.approx([0.5, 1.0], abs=1e-4)


def test_a_bend_needs_a_rise() -> None:
    assert np.isnan(bend(np.arange(9.0), np.linspace(0, 2.9, 9)))
    assert bend(np.arange(9.0), np.linspace(0, 9, 9)) == pytest.approx(0.0)
