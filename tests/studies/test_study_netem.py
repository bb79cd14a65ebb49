"""Windows of the netem study, worked by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from dumbbell.studies.netem_iperf.data import MSS
from dumbbell.studies.netem_iperf.inflight import Windows


def windows() -> Windows:
    """Four reductions: 100 to 50 at 2 s, 70 to 35 at 4 s, 80 to 60 at 9 s, and 90 to 60, as before, at 15 s."""
    rows = [  # s, cwnd, ssthresh, packets in flight, phase
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
    t, cwnd, ssthresh, inflight, phase = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    delivered = t * 100 * MSS
    return Windows(
        pl.DataFrame(
            {
                "t_ns": (t * 1e9).astype(np.uint64),
                "cwnd": cwnd * MSS,
                "ssthresh": ssthresh * MSS,
                "inflight": (inflight * MSS).astype(np.uint64),
                "delivered": delivered.astype(np.uint64),
                "phase": phase.astype(np.uint8),
                "timeouts": np.zeros(t.size, dtype=np.uint64),
            }
        )
    )


def test_windows_by_hand() -> None:
    found = windows()
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
    # s, cwnd, ssthresh, phase; a round trip of 0.2 s. Recoveries begin at 1.2 and 5.2 s.
    rows = [
        (0.0, 20, 1e6, 0),
        (0.9, 40, 1e6, 1),
        (1.2, 30, 20, 2),
        (1.4, 20, 20, 1),
        (5.0, 40, 20, 1),
        (5.2, 30, 20, 2),
        (5.6, 20, 20, 1),
        (9.0, 30, 20, 1),
    ]
    t, cwnd, ssthresh, phase = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    table = pl.DataFrame(
        {
            "t_ns": (t * 1e9).astype(np.uint64),
            "cwnd": cwnd * MSS,
            "ssthresh": ssthresh * MSS,
            "srtt_ns": np.full(t.size, 200_000_000),
            "phase": phase.astype(np.uint8),
            "timeouts": np.zeros(t.size, dtype=np.uint64),
            "inflight": cwnd * MSS,
            "delivered": (t * 1e5).astype(np.uint64),
        }
    )
    # The losses at 1.0 and 1.1 s are one event; that at 1.3 s, in the recovery, has no reduction. The second
    # reduction, which answers the loss at 5.0 s, leaves ssthresh as it was.
    assert Windows(table, np.array([1.0, 1.1, 5.0])).answered == pytest.approx(100)
    assert Windows(table, np.array([1.0, 1.1, 1.3, 5.0])).answered == pytest.approx(100 * 2 / 3)
    assert np.isnan(Windows(table).answered)


def test_a_transfer_without_losses_has_no_reduction() -> None:
    table = pl.DataFrame(
        {
            "t_ns": [0, 10**9],
            "cwnd": [1e4, 2e4],
            "ssthresh": [1e9, 1e9],
            "inflight": [0, 1],
            "delivered": [0, 9],
            "phase": [0, 0],
            "timeouts": [0, 0],
        }
    )
    found = Windows(table)
    assert found.reductions == 0
    for metric in ("kept", "taken", "taken_again", "growth", "overshoot"):
        assert np.isnan(getattr(found, metric))
