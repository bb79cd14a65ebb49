"""The study quickstart: its rules with made-up numbers, and the quick study from beginning to end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from dumbbell.studies import Done, Verdict, study
from dumbbell.studies.quickstart import claims_one
from dumbbell.studies.quickstart.data import Series, Stage, stages
from quick import check_quick, table, verdicts

Floats = npt.NDArray[np.float64]


def cubic_stage(w_max: float = 1000.0, c: float = 0.4, length: float = 2.0) -> Stage:
    """W(t) = C (t - K)^3 + W_max with K = cbrt(0.3 W_max / C), for `length` times K: 9.09 s for 1000 segments."""
    k = float(np.cbrt(0.3 * w_max / c))
    t = np.linspace(0, length * k, 2000)
    return Stage(t + 5.0, c * (t - k) ** 3 + w_max, np.full(t.size, 0.1), w_max, w_max)


def test_a_cubic_curve_reaches_its_plateau_after_k() -> None:
    took, k = claims_one.crossing(cubic_stage())
    assert k == pytest.approx(9.0856, abs=1e-3)  # cbrt(0.3 * 1000 / 0.4) = cbrt(750)
    assert took == pytest.approx(k, rel=2e-3)
    before, around, beyond = claims_one.curve(cubic_stage())
    # Around: C (K/4)^3 / (K/4) = C K^2 / 16 = 2.06; before: C (K^3 - (K/4)^3) / (3K/4) = 1.3125 C K^2 = 43.3.
    assert around == pytest.approx(0.4 * k**2 / 16, rel=0.01)
    assert before == pytest.approx(1.3125 * 0.4 * k**2, rel=0.01)
    assert beyond == pytest.approx(before, rel=0.01)


def test_an_epoch_that_ends_at_its_plateau_has_nothing_beyond() -> None:
    before, _, beyond = claims_one.curve(cubic_stage(length=1.01))
    assert before > 0
    assert np.isnan(beyond)


def test_a_line_has_no_plateau() -> None:
    t = np.linspace(0, 20, 2000)
    line = Stage(t, 700 + 30 * t, np.full(t.size, 0.1), 1000.0, 1000.0)
    before, around, beyond = claims_one.curve(line)
    assert before == pytest.approx(around, rel=0.01)
    assert beyond == pytest.approx(around, rel=0.01)


class Made(Series):
    """A sawtooth from 40 down to `low`, a segment each 0.1 s."""

    def __init__(self, low: float, *, teeth: int = 5, utilization: float = 1.0) -> None:
        climb: Floats = np.arange(low, 41.0, dtype=np.float64)
        self.cwnd: Floats = np.concatenate([np.append(climb, low) for _ in range(teeth)])
        self.phase = (["congestion avoidance"] * climb.size + ["recovery"]) * teeth
        self.t: Floats = np.linspace(0, 0.1 * (self.cwnd.size - 1), self.cwnd.size)
        self.srtt = np.full(self.cwnd.size, 0.1)
        self.w_max = np.full(self.cwnd.size, np.nan)
        self.utilization = utilization


def test_a_sawtooth_is_cut_at_its_losses() -> None:
    found = stages(Made(20))
    assert len(found) == 4  # five teeth: the first has no loss before it
    assert claims_one.kept(found) == pytest.approx([0.5] * 4)
    assert claims_one.growth(found) == pytest.approx([1.0] * 4)


@pytest.mark.parametrize(("low", "verdict"), [(20, Verdict.AGREES), (28, Verdict.DIFFERS), (10, Verdict.DIFFERS)])
def test_halving(low: float, verdict: Verdict) -> None:
    halves, grows, busy = claims_one.reno(Made(low))
    assert halves.verdict is verdict
    assert grows.verdict is Verdict.AGREES
    assert busy.verdict is Verdict.AGREES
    assert claims_one.reno(Made(low, utilization=0.9))[2].verdict is Verdict.DIFFERS


def test_three_equal_reductions_are_too_few() -> None:
    halves = claims_one.reno(Made(20, teeth=4))[0]
    assert (halves.verdict, halves.needs) == (Verdict.UNDECIDED, 4)


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("quickstart"))


def test_textbooks_are_right(done: Callable[[str], Done]) -> None:
    assert verdicts(done("quickstart")) == dict.fromkeys((c.id for c in study("quickstart").paper.claims), "agrees")


def test_physics(done: Callable[[str], Done]) -> None:
    rows = {q["queue"]: q for q in table(done("quickstart"), "queues")}
    # 200 packets x 1500 bytes x 8 / 5 Mbit/s = 480 ms on top of 30; CUBIC's queue is between full and 0.7 of full.
    ping = float(rows["200 packets"]["ping, median ms"].split()[0])
    assert 30 + 0.6 * 480 < ping < 515
    assert float(rows["FQ-CoDel, 200"]["ping, median ms"].split()[0]) < 35
