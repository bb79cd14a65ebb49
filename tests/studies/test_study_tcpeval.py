"""The study tcpeval: its measures with made-up series, the parameters of its scenarios, and the quick study."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dumbbell.studies import Done, study
from dumbbell.studies.tcpeval.data import BDP, largest_rise, reached, time_until
from dumbbell.studies.tcpeval.fairness import BUFFERS, LINKS, ROUND_TRIPS, evenness
from dumbbell.studies.tcpeval.latency import BUFFERS as TRADE_BUFFERS
from dumbbell.studies.tcpeval.latency import PAIRS
from quick import check_quick, table

T = np.linspace(0.0, 10.0, 101)
"""Every 100 ms."""


def test_reached() -> None:
    assert reached(T, 1000 * T, 2500) == pytest.approx(2.5)
    assert math.isnan(reached(T, 1000 * T, 20_000))


def test_time_until() -> None:
    assert time_until(T, 100 * T, 800, 5.0) == pytest.approx(3.0)
    assert time_until(T, 100 * T, 400, 5.0) == 0.0  # delivered from the start
    falls = np.where(T < 5, 1000.0, 100.0)
    assert math.isnan(time_until(T, falls, 500, 6.0))  # it was above once, before


def test_largest_rise() -> None:
    # One segment each 100 ms, and a jump of 20 at 7 s: 1 until then, 20 + 1 in the round trip around it.
    climbs = 10 * T + np.where(T >= 7.0, 20.0, 0.0)
    assert largest_rise(T + 1e-6, climbs, 2.0, 6.0, 0.1) == pytest.approx(1.0)
    assert largest_rise(T + 1e-6, climbs, 2.0, 9.0, 0.1) == pytest.approx(21.0)
    assert largest_rise(T, np.flip(T), 2.0, 9.0, 0.1) == 0.0


def test_evenness() -> None:
    assert evenness(np.array([1.0, 4.0, 0.0]), np.array([2.0, 4.0, 0.0])).tolist() == [0.5, 1.0, 0.0]


def ms(text: str) -> float:
    return float(text.split(maxsplit=1)[0])


def load(name: str, beginning: str = "") -> float:
    """Offered load of a scenario's on/off flows, Mbit/s."""
    suite = study("tcpeval")
    scenario = suite.scenario(next(e for e in suite.experiments if e.name == name))
    total = 0.0
    for flow in scenario.flows:
        app = flow.application
        if app.kind == "onoff" and flow.name.startswith(beginning):
            total += app.rate.bps * app.on.ns / (app.on.ns + app.off.ns)
    return total * 1e-6


def test_offered_loads_are_the_suites() -> None:
    assert load("5.1") == pytest.approx(0.85 * 20, rel=0.001)
    assert load("5.2") == pytest.approx(0.5 * 10, rel=0.001)
    assert load("6.1", "a-") == pytest.approx(5, rel=0.001)  # 50 % of 20 Mbit/s and 100 % of 10 with camp B's
    assert load("6.1", "b-") == pytest.approx(5, rel=0.001)
    for name in ("6.2-intra", "6.2-inter"):
        assert load(name) == pytest.approx(5, rel=0.001)
    for group in ("long", "one", "two", "three"):
        for rate, percent in LINKS.items():  # two groups meet on each link
            assert 2 * load("6.3", group) / ms(rate) * 100 == pytest.approx(percent, rel=0.005)


def test_round_trips_and_buffers_are_the_suites() -> None:
    for access, rtt in ROUND_TRIPS.items():
        assert 4 * ms(access) + 2 * 2 == rtt
    for (existing, new), words in PAIRS.items():
        assert f"{4 * ms(existing) + 4:g}, {4 * ms(new) + 4:g}" == words
    for packets, percent in TRADE_BUFFERS.items():
        assert ms(packets) == pytest.approx(percent / 100 * 20e6 * 0.1 / 8 / 1500, abs=0.5)
    for packets, share in BUFFERS.items():
        assert ms(packets) == pytest.approx(ms(share) / 100 * 10e6 * 0.1 / 8 / 1500, abs=0.5)
    assert pytest.approx(833.3 * 1448, rel=0.001) == BDP
    suite = study("tcpeval")
    trade = suite.scenario(suite.experiments[0])
    # Edges of 0, 12, 25 ms left and 2, 37, 75 ms right: in both directions, and the central link's 2 ms.
    wanted = sorted(2 * (left + right + 2) for left in (0, 12, 25) for right in (2, 37, 75))
    found = sorted(4 * ms(str(f.access.delay)) + 4 for f in trade.flows if f.access)
    assert found == pytest.approx(wanted)


def test_all_flows_of_a_case_have_its_variant() -> None:
    suite = study("tcpeval")
    for experiment in suite.experiments:
        if experiment.name.startswith("5.3"):
            continue
        for cell in suite.scenario(experiment).cells:
            fixed = {f.name for f in cell.scenario.flows if f.name.startswith("a-")}
            variants = {f.variant.name for f in cell.scenario.flows if f.variant and f.name not in fixed}
            assert len(variants) == 1


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("tcpeval"))


def test_tables(done: Callable[[str], Done]) -> None:
    assert {t.name for t in done("tcpeval").analysis.tables} == {
        "s5-1", "s5-2", "s5-3-release", "s5-3-arrival", "s6-1", "s6-2-intra", "s6-2-inter", "s6-3",
    }  # fmt: skip


def test_physics(done: Callable[[str], Done]) -> None:
    # A larger buffer: more throughput, more delay, fewer drops.
    trade = {(r["variant"], r["buffer, % of BDP"]): r for r in table(done("tcpeval"), "s5-1")}
    small, large = (trade["standard TCP", b] for b in ("10", "100"))
    for column, sign in (("throughput, Mbit/s", 1), ("queueing delay, ms", 1), ("drop rate, %", -1)):
        assert sign * (ms(large[column]) - ms(small[column])) > 0
    # Standard TCP grows by a segment a round trip, and a fifth more while the round trip shrinks with the queue.
    release = {r["variant"]: r for r in table(done("tcpeval"), "s5-3-release")}
    assert ms(release["standard TCP"]["largest rise in a round trip, segments"]) == pytest.approx(1, abs=0.3)
    assert 0 < ms(release["standard TCP"]["window 60 % of BDP, s"]) < 30
    assert ms(release["CUBIC"]["window 60 % of BDP, s"]) < ms(release["standard TCP"]["window 60 % of BDP, s"])
    # A shorter round trip gets more.
    for row in table(done("tcpeval"), "s6-2-inter"):
        assert ms(row["ratio"]) > 1
