"""Windows of the netem study, worked by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell.studies.netem_iperf.data import MSS
from dumbbell.studies.netem_iperf.inflight import Windows

COLUMNS = {"cwnd": MSS, "ssthresh": MSS, "inflight": MSS, "phase": 1}
"""Columns of the rows below after the time in s, and their units in the series."""


def windows(rows: Sequence[tuple[float, ...]], rate: float = 100 * MSS, losses: Any = None) -> Windows:
    """Return the windows of a series with these rows: s, cwnd, ssthresh, packets in flight, phase."""
    t, *columns = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    series = {name: x * unit for x, (name, unit) in zip(columns, COLUMNS.items(), strict=True)}
    constant = {"timeouts": np.zeros(t.size), "srtt_ns": np.full(t.size, 200_000_000)}
    frame = pl.DataFrame({"t_ns": t * 1e9, "delivered": t * rate, **series, **constant})
    whole = [pl.col(name).cast(pl.UInt64) for name in ("t_ns", "inflight", "delivered", "timeouts")]
    return Windows(frame.with_columns(*whole, pl.col("phase").cast(pl.UInt8)), losses)


FOUR = [
    (0, 10, 1e6, 10, 0),
    (1, 100, 1e6, 100, 0),
    (1.5, 100, 100, 100, 1),  # the end of slow start is no reduction
    (2, 50, 50, 60, 2),
    (3, 70, 50, 50, 1),
    (4, 35, 35, 40, 2),
    (8, 80, 35, 40, 1),
    (9, 60, 60, 40, 2),
    (12, 80, 60, 60, 1),
    (14, 90, 60, 50, 1),
    (15, 60, 60, 40, 2),
    (16, 60, 60, 40, 2),
]
"""Four reductions: 100 to 50 at 2 s, 70 to 35 at 4 s, 80 to 60 at 9 s, and 90 to 60, as before, at 15 s."""


def test_windows_by_hand() -> None:
    found = windows(FOUR)
    # 50/100, 35/70, 60/80, 60/90: the median lies between a half and two thirds.
    assert found.kept == pytest.approx(350 / 6)
    assert found.taken == pytest.approx(250 / 6)
    # Only the second comes before the window has regained its size (70 < 100; 80 > 70, 90 > 80).
    assert found.taken_again == pytest.approx(50)
    # From 50 to 70 in 2 s, from 35 to 80 in 5 s, from 60 to 90 in 6 s: 10, 9 and 5 packets/s.
    assert found.growth == pytest.approx(9)
    assert found.reductions == pytest.approx(15)  # four in 16 s
    # In flight from 12 s on, 10 s after the first reduction: 60 for 2 s, 50 and 40 for 1 s; the largest window is 90.
    assert found.overshoot == pytest.approx(90 / 52.5)


def test_a_reduction_answers_one_loss_event() -> None:
    # A round trip of 0.2 s. Recoveries begin at 1.2 and 5.2 s.
    rows = [
        (0.0, 20, 1e6, 20, 0),
        (0.9, 40, 1e6, 40, 1),
        (1.2, 30, 20, 30, 2),
        (1.4, 20, 20, 20, 1),
        (5.0, 40, 20, 40, 1),
        (5.2, 30, 20, 30, 2),
        (5.6, 20, 20, 20, 1),
        (9.0, 30, 20, 30, 1),
    ]
    # The losses at 1.0 and 1.1 s are one event; that at 1.3 s, in the recovery, has no reduction. The second
    # reduction, which answers the loss at 5.0 s, leaves ssthresh as it was.
    assert windows(rows, losses=np.array([1.0, 1.1, 5.0])).answered == pytest.approx(100)
    assert windows(rows, losses=np.array([1.0, 1.1, 1.3, 5.0])).answered == pytest.approx(100 * 2 / 3)
    assert np.isnan(windows(rows).answered)


def test_a_transfer_without_losses_has_no_reduction() -> None:
    found = windows([(0, 7, 1e6, 0, 0), (1, 14, 1e6, 1, 0)])
    assert found.reductions == 0
    for metric in ("kept", "taken", "taken_again", "growth", "overshoot"):
        assert np.isnan(getattr(found, metric))
