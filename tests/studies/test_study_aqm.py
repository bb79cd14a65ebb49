"""The study aqm: its rules with made-up numbers, the parameters of its scenarios, and the quick study."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dumbbell.studies import Done, Verdict, study
from dumbbell.studies.aqm import claims_codel, claims_pie_fq_codel
from dumbbell.studies.aqm.data import RTTS, page_times
from dumbbell.studies.aqm.phases import CONGESTION, Phases, alternating, at
from quick import check_quick, table, verdicts

Floats = npt.NDArray[np.float64]
N = 10
NOISE = np.random.default_rng(3).normal(size=(20, N)) * 0.01


def around(value: float, row: int = 0) -> Floats:
    return np.asarray(value * (1 + NOISE[row]))


def made(values: dict[tuple[str, str], float], others: tuple[str, ...] = ("",)) -> Any:
    """Return a section with made-up metrics: (metric, discipline) -> value; goodput by flow."""
    names = list(dict.fromkeys(name for _, name in values))

    def get(metric: str, name: str) -> Floats:
        return around(values[metric, name], names.index(name))

    return SimpleNamespace(
        values=values,
        names=names,
        others=list(others),
        queue=get,
        delay=lambda name: get("delay", name),
        goodput=lambda name, other=None, flow=None: get(f"{flow or 'all'}{other or ''}", name),
        flow=lambda metric, flow, name: get(f"{flow} {metric}", name),
    )


def made_phases(delays: dict[str, list[float]], goodputs: dict[str, list[float]]) -> Any:
    """Return phases with made-up means: (discipline, number of the phase) -> delay, goodput."""

    def delay(name: str, phase: Any) -> Floats:
        number = CONGESTION.index(phase)
        return around(delays[name][number], number)

    def goodput(name: str, phase: Any) -> Floats:
        number = CONGESTION.index(phase)
        return around(goodputs[name][number], 2 * number + (name == "droptail"))

    return SimpleNamespace(
        phases=CONGESTION,
        delay=delay,
        delays=lambda name, phase: np.repeat(delay(name, phase)[:, None], 50, axis=1),
        goodput=goodput,
        use=lambda name: around(float(np.mean(goodputs[name])) / 10, int(name == "droptail")),
    )


def phases(codel: list[float], pie: list[float], share: float = 0.97) -> Any:
    goodputs = {"droptail": [9.6] * 4, "codel": [9.6 * share] * 4, "pie": [9.6 * share] * 4}
    return made_phases({"codel": codel, "pie": pie}, goodputs)


def test_the_formula() -> None:
    # f = 1, a full bandwidth-delay product: (3 + 6 - 1) / (4 x 2) = 1. f = 0: 3/4, a sawtooth from 1/2 to 1.
    assert claims_codel.reno_goodput(1.0) == pytest.approx(1.0)
    assert claims_codel.reno_goodput(0.0) == pytest.approx(0.75)
    assert claims_codel.reno_goodput(0.05) == pytest.approx((3 + 0.3 - 0.0025) / 4.2)


def one(utilization: float, delay: float = 3.0) -> dict[str, Any]:
    metrics = {"utilization": utilization, "p50_sojourn_ms": delay}
    both = {(m, d): v for d in ("codel", "pie") for m, v in metrics.items()}
    return {"5.1.1": made(both), "5.2": made(both)}


@pytest.mark.parametrize(
    ("utilization", "mild", "overload", "verdicts"),
    [
        (0.785, 4.0, 60.0, "agrees agrees agrees differs agrees"),
        (0.97, 15.0, 60.0, "differs agrees differs agrees agrees"),
        (0.785, 4.0, 4.0, "agrees differs agrees differs agrees"),
    ],
)
def test_codel(utilization: float, mild: float, overload: float, verdicts: str) -> None:
    sections = one(utilization) | {"5.3.1": made({("p50_sojourn_ms", d): overload for d in ("codel", "pie")})}
    congestion = phases([mild, 9.0, 15.0, mild], [15.0] * 4)
    found = claims_codel.codel(sections, congestion, congestion, congestion)
    assert " ".join(f.verdict.value for f in found) == verdicts


def test_codel_and_pie_near_a_threshold_are_not_shown() -> None:
    # With a spread of 1 % the interval of ten repetitions is some 0.7 % to either side: it holds the thresholds.
    near = phases([10.0, 9.0, 15.0, 10.0], [20.0, 15.0, 15.0, 15.0], share=0.95)
    sections = one(0.95) | {
        "5.3.1": made({(m, d): 60.0 for m in ("p50_sojourn_ms", "delay") for d in ("codel", "pie")})
    }
    sections["5.1.1"].values["delay", "pie"] = 10.0
    found = {
        f.claim: f for f in (*claims_codel.codel(sections, near, near, near), *claims_pie_fq_codel.pie(sections, near))
    }
    for claim in ("codel-median", "codel-utilization", "codel-rates", "pie-target", "pie-utilization"):
        assert found[claim].verdict is Verdict.UNDECIDED, claim
        assert (found[claim].needs or 0) > N


def test_a_quick_verdict_needs_stronger_evidence() -> None:
    # Ten repetitions with a standard deviation of about 1 %: a difference of 7 % exceeds the 5 % that counts by a few
    # standard errors of 0.45 %, which the interval of the whole study allows, and that of 99.9 % doesn't.
    long = {("delay", "droptail"): 50.0, ("delay", "pie"): 46.6}
    sections = {"5.1.1": made(long), "5.2": made(long)}
    (whole,) = claims_pie_fq_codel.droptail(sections)
    (quick,) = claims_pie_fq_codel.droptail(sections, quick=True)
    assert (whole.verdict, quick.verdict) == (Verdict.AGREES, Verdict.UNDECIDED)


def test_codel_that_loses_much() -> None:
    poor = phases([4.0] * 4, [15.0] * 4, share=0.5)
    sections = one(0.785) | {"5.3.1": made({("p50_sojourn_ms", d): 60.0 for d in ("codel", "pie")})}
    assert claims_codel.codel(sections, poor, poor, poor)[-1].verdict is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("means", "utilization", "verdicts"),
    [
        ([16, 15, 15, 14], 0.97, (Verdict.AGREES, Verdict.AGREES)),
        ([16, 15, 22, 14], 0.90, (Verdict.DIFFERS, Verdict.DIFFERS)),
    ],
)
def test_pie(means: list[float], utilization: float, verdicts: tuple[Verdict, Verdict]) -> None:
    section = {(m, "pie"): v for m, v in (("utilization", utilization), ("delay", 10.0))}
    sections = {"5.1.1": made(section), "5.3.1": made(section)}
    found = claims_pie_fq_codel.pie(sections, phases([4.0] * 4, means))
    assert tuple(f.verdict for f in found) == verdicts


def test_droptail() -> None:
    long = {("delay", "droptail"): 50.0, ("delay", "codel"): 3.0, ("delay", "pie"): 9.0}
    assert claims_pie_fq_codel.droptail({"5.1.1": made(long), "5.2": made(long)})[0].verdict is Verdict.AGREES
    bad = long | {("delay", "pie"): 60.0}
    assert claims_pie_fq_codel.droptail({"5.1.1": made(long), "5.2": made(bad)})[0].verdict is Verdict.DIFFERS


def test_flow_queueing() -> None:
    bursts = made({("cbr owd_mean_ms", "droptail"): 90.0, ("cbr owd_mean_ms", "fq_codel"): 53.0})
    shared = {("tcp", "droptail"): 2.4, ("tcp", "fq_codel"): 3.8, ("udp", "droptail"): 7.5, ("udp", "fq_codel"): 6.0}
    found = claims_pie_fq_codel.flow_queueing({"7.2-IV": bursts, "5.3.2": made(shared)})
    assert [f.verdict for f in found] == [Verdict.AGREES] * 2
    taken = made(shared | {("tcp", "fq_codel"): 2.0})
    worse = claims_pie_fq_codel.flow_queueing({"7.2-IV": bursts, "5.3.2": taken})
    assert [f.verdict for f in worse] == [Verdict.AGREES, Verdict.DIFFERS]


def test_unevenness() -> None:
    # Ratios of 4 and 1/4 are both two doublings away from one.
    values = {("category-24.5 ms", "codel"): 4.0, ("category-14.5 ms", "codel"): 1.0,
              ("category-299.5 ms", "codel"): 1.0, ("category-199.5 ms", "codel"): 4.0}  # fmt: skip
    section = made(values, ("4.5 ms", "99.5 ms"))
    assert claims_pie_fq_codel.unevenness(section, "codel") == pytest.approx(np.full(N, 2.0))


def test_phases_of_capacity() -> None:
    fast, slow = alternating(20.0)
    t = np.array([9.9, 10.0, 29.9, 30.0, 49.9, 50.0])
    assert fast.holds(t).tolist() == [False, True, True, False, False, True]
    assert slow.holds(t).tolist() == [False, False, False, True, True, False]
    fast, _ = alternating(0.1)
    assert fast.holds(np.linspace(10, 10.295, 60)).reshape(3, 20)[:, 0].tolist() == [True, False, True]


def test_steps() -> None:
    assert at(np.array([1.0, 2.0]), np.array([5.0, 7.0]), np.array([0.5, 1.0, 1.5, 3.0])).tolist() == [0, 5, 5, 7]


def test_pages() -> None:
    class Run:
        flows = ({"name": "web-1"}, {"name": "web-2"}, {"name": "cbr"})
        transfers = (
            {"flow": "web-1", "number": 0, "start_s": 5.0, "end_s": 6.0},
            {"flow": "web-2", "number": 0, "start_s": 5.1, "end_s": 7.5},
            {"flow": "web-1", "number": 1, "start_s": 8.0, "end_s": 9.0},
            {"flow": "web-2", "number": 1, "start_s": 8.0, "end_s": None},
        )

    run: Any = Run()
    assert page_times(run).tolist() == [2.5]


def test_parameters_are_the_rfcs() -> None:
    suite = study("aqm")
    scenarios = {e.name: suite.scenario(e) for e in suite.experiments}
    for name, scenario in scenarios.items():
        limits = {cell.values["network.bottleneck.queue"]["limit"] for cell in scenario.cells}
        kinds = {cell.values["network.bottleneck.queue"]["discipline"] for cell in scenario.cells}
        assert len(limits) == 1, "the same room for all [§3.2]"
        assert "droptail" in kinds
        rate = 100e6 if name.startswith("8.2.6") else 10e6
        longest = 0.56 if name == "6.2" else 0.1
        assert int(limits.pop().split()[0]) == math.ceil(rate * longest / 8 / 1500)
    # Base round trips of §6.2: two of the bottleneck (1 ms in each direction), four of the access links.
    for access, rtt in RTTS.items():
        assert 2 * 1 + 4 * float(access.split()[0]) == rtt
    # §8.2.1: S = 83.3 + 84 packets.
    s = 10e6 * 0.1 / 8 / 1500 + 84
    assert [round(k * s) for k in (0.036, 0.081, 0.114)] == [6, 14, 19]
    flows = [f.name[0] for f in scenarios["8.2.5"].flows]
    assert [flows.count(group) for group in "abc"] == [6, 8, 5]


def test_quick_study(done: Callable[[str], Done]) -> None:
    check_quick(done("aqm"))


def test_verdicts(done: Callable[[str], Done]) -> None:
    found = verdicts(done("aqm"))
    for claim in ("droptail-fills", "codel-overload", "codel-formula", "pie-target", "fq-sparse", "fq-own-queue"):
        assert found[claim] == "agrees"


def test_physics(done: Callable[[str], Done]) -> None:
    ran = done("aqm")
    one = {r["discipline"]: r for r in table(ran, "s5-1-1")}
    # One NewReno flow over a queue of one bandwidth-delay product: the sawtooth of the queue runs from 0 to 100 ms.
    assert 35 < float(one["DropTail"]["mean delay, ms"].split()[0]) < 65
    assert float(one["DropTail"]["utilization"].split()[0]) > 0.97
    # A packet in six is dropped of UDP at 1.2 times the capacity.
    for row in table(ran, "s5-3-1"):
        assert float(row["dropped, %"].split()[0]) == pytest.approx(100 / 6, abs=0.6)
    slow = Phases(ran.results["8.2.6-1"], alternating(20.0), 0.05)
    for name in slow.names:
        for phase in slow.phases:
            assert 0 < float(np.median(slow.goodput(name, phase))) < phase.rate
