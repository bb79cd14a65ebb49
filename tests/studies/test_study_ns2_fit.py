"""The fit of the ns-2 report's open settings, and the growth of a window in slow start, with made-up numbers."""

from __future__ import annotations

import numpy as np
import pytest

from dumbbell.studies import study
from dumbbell.studies.ns2_cbr.data import growth_of
from dumbbell.studies.ns2_cbr.fits import (
    REPORTED,
    Fit,
    Setting,
    fit_note,
    fit_picture,
    fit_table,
    rise,
    setting_of,
    used_setting,
)

NEAR, FAR = Setting(20, 1000, 1000, 10), Setting(40, 1460, 500, 50)


class Made(Fit):
    """Two settings: one is 0.1 Mbit/s from every printed rate, the other one 2."""

    def __init__(self, used: Setting = NEAR) -> None:
        self._order = [FAR, NEAR]
        self.variants = ("reno", "vegas")
        self.rates = np.array([1.0, 8.0, 9.0, 10.0])
        self.n, self.used = 3, used

    def place(self, setting: Setting, metric: str, variant: str) -> float:
        del variant
        return REPORTED[metric] + {NEAR: 0.1, FAR: -2.0}[setting]

    def curve(self, setting: Setting, metric: str, variant: str) -> np.ndarray:
        # Vegas has more of everything near; far it has less.
        more = (variant == "vegas") == (setting == NEAR)
        return np.full(4, 2.0 if more else 1.0) if metric == "throughput" else np.full(4, 1.0 if more else 2.0)


def test_a_rise_is_where_the_curve_last_crosses_the_threshold() -> None:
    # From 0.3 at 3 to 0.7 at 4 it crosses 0.5 half way; the crossing before doesn't count.
    assert rise([1, 2, 3, 4], [0.0, 0.6, 0.3, 0.7], 0.5) == pytest.approx(3.5)
    assert rise([1, 2], [0.6, 0.7], 0.5) == 1
    assert np.isnan(rise([1, 2], [0.6, 0.4], 0.5))


def test_a_setting_is_read_with_the_defaults_of_its_stack() -> None:
    cell = {
        "flows.tcp.stack": {"preset": "ns2", "window": "40 packets"},
        "flows.cbr.application.packet": "500 bytes",
        "network.bottleneck.queue.limit": "50 packets",
    }
    assert setting_of(cell) == Setting(40, 1000, 500, 50)
    found = study("ns2-cbr")
    by_name = {e.name: e for e in found.experiments}
    used = used_setting(found.scenario(by_name["exp1"]))
    assert used == NEAR
    for quick in (True, False):
        assert used in {setting_of(cell.values) for cell in found.scenario(by_name["fit"], quick=quick).cells}


def test_the_error_is_the_mean_distance_from_the_printed_rates() -> None:
    fit = Made()
    assert fit.errors == pytest.approx({NEAR: 0.1, FAR: 2.0})
    assert list(fit.errors) == [NEAR, FAR]
    assert (fit.best, fit.rank) == (NEAR, 1)
    rows = fit_table(fit).frame.rows(named=True)
    assert [row["error (Mbit/s)"] for row in rows] == ["0.10 *", "2.00"]
    assert rows[0]["throughput: CBR rate (report 7.2)"] == "7.30"
    assert rows[0]["Vegas is best in"] == "throughput, latency, drop rate"
    assert rows[1]["Vegas is best in"] == "none"


def test_the_note_states_best_fit_and_rank_of_the_used_setting() -> None:
    note = fit_note(Made())
    assert note.headline == f"The best fit to the printed CBR rates: {NEAR.words}"
    assert "The claims are judged with it." in note.text
    assert "at 1 of 2 settings Vegas is best in all three" in note.text
    assert "judged with number 2" in fit_note(Made(FAR)).text
    assert "which this sweep doesn't have" in fit_note(Made(FAR._replace(window=1))).text


def test_the_picture_has_a_panel_for_each_queue_and_stream() -> None:
    panels = {panel.title: panel.grid for panel in fit_picture(Made()).panels}
    assert len(panels) == 2
    grid = panels["queue of 10 packets, CBR packets of 1000 bytes"]
    assert grid is not None
    assert grid.values[0][0] == pytest.approx(0.1)
    assert np.isnan(grid.values[1][1])


def test_growth_in_slow_start_by_hand() -> None:
    # The window doubles each 0.1 s after the first row; the round trip is 0.05 s. The last row is after slow start.
    t = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    cwnd = np.array([9.0, 2.0, 4.0, 8.0, 8.5])
    assert growth_of(t, cwnd, np.array([True, True, True, True, False]), 0.05) == pytest.approx(2**0.5)
    assert np.isnan(growth_of(t, cwnd, np.array([True, True, False, True, True]), 0.05))
