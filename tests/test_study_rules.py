"""The rules behind the verdicts, with made-up numbers for and against each claim."""

# ruff: noqa: ARG002 - the stand-ins for an experiment take the same arguments

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from dumbbell.studies import Finding, Verdict, rules
from dumbbell.studies.ns2_cbr import claims_exp1, claims_exp2, claims_exp3
from dumbbell.studies.ns2_cbr.data import Experiment1, Experiment2
from dumbbell.studies.ns2_cbr.data_exp3 import Experiment3

Floats = npt.NDArray[np.float64]
N = 10
NOISE = np.random.default_rng(7).normal(size=(20, N)) * 0.01


def around(value: float, row: int = 0) -> Floats:
    return np.asarray(value * (1 + NOISE[row]))


def test_verdict_of_several_statements() -> None:
    yes, no, unknown = rules.Ruling(True), rules.Ruling(False), rules.Ruling(None)
    assert rules.verdict(yes, yes) is Verdict.AGREES
    assert rules.verdict(yes, no, unknown) is Verdict.DIFFERS
    assert rules.verdict(yes, unknown) is Verdict.NOT_MEASURED
    assert rules.verdict() is Verdict.NOT_MEASURED
    assert (yes & no).holds is False
    assert (yes & unknown).holds is None
    assert (yes & yes).holds is True


def test_higher() -> None:
    assert rules.higher(around(2), around(1, 1), "a less b").holds is True
    assert rules.higher(around(1), around(2, 1), "a less b").holds is False
    assert rules.higher(NOISE[0], NOISE[1], "no difference").holds is False
    assert rules.higher([], [], "nothing").holds is None
    (measured,) = rules.higher(around(2), around(1, 1), "a less b", "Mbit/s").measured
    assert measured.value == pytest.approx(1, rel=0.05)
    assert measured.unit == "Mbit/s"


def test_extreme() -> None:
    samples = {"a": around(3), "b": around(2, 1), "c": around(1, 2)}
    assert rules.extreme(samples, "a", highest=True).holds is True
    assert rules.extreme(samples, "b", highest=True).holds is False
    assert rules.extreme(samples, "c", highest=False).holds is True
    assert rules.extreme(samples, "a", highest=False).holds is False
    # First, but not shown against one of them.
    close = {"a": around(3), "b": around(3, 1), "c": around(1, 2)}
    assert rules.extreme(close, "a", highest=True).holds is False
    assert rules.extreme({"a": around(1)}, "a", highest=True).holds is None


def test_alike() -> None:
    assert rules.alike({"a": np.array([1.0, 2.0]), "b": np.array([1.0, 2.1])}, 0.1, "gap").holds is True
    far = rules.alike({"a": np.array([1.0, 2.0]), "b": np.array([1.0, 3.0])}, 0.1, "gap")
    assert far.holds is False
    assert far.measured[0].value == pytest.approx(40)  # (3 - 2) / 2.5
    assert rules.alike({"a": np.array([np.nan])}, 0.1, "gap").holds is None


def test_equal() -> None:
    points = ["low", "high"]
    fair = np.array([around(1), around(2, 1)])
    assert rules.equal(fair, np.array([around(1, 2), around(2, 3)]), points).holds is True
    # One side ahead by a third of the sum.
    assert rules.equal(2 * fair, fair, points).holds is False
    # No side ahead over the seeds, but each run is lopsided.
    swings = np.where(np.arange(N) % 2 == 0, 3.0, 1.0) * fair
    assert rules.equal(swings, 4 * fair - swings, points).holds is False
    assert rules.equal(fair[:, :3], fair[:, :3], points).holds is None


class One(Experiment1):
    """Throughput falls by half from the knee to the end; made-up numbers for the rest."""

    def __init__(self, knees: dict[str, float], past: dict[str, dict[str, float]], window: int = 20) -> None:
        self.rates, self.n, self.window = np.arange(1.0, 11.0), N, window
        self._knees, self._past = knees, past

    def get(self, metric: str, variant: str, rate: float, jitter: float = 0.5) -> Floats:
        row = ["tahoe", "reno", "newreno", "sack", "vegas"].index(variant)
        level = {"throughput": 2.5, "latency": 62.7}.get(metric, 0.0)
        if rate <= self._knees.get(variant, 7.2):
            return np.asarray(level + NOISE[row] * 0.01)
        return around(self._past.get(metric, {}).get(variant, 1.0 if metric == "throughput" else 90.0), row)


FOUR = ("tahoe", "reno", "newreno", "vegas")


def exp1(knee: float, **past: dict[str, float]) -> dict[str, Finding]:
    data = One(dict.fromkeys([*FOUR, "sack"], knee), past)
    return {f.claim: f for f in claims_exp1.claims(data, One(dict.fromkeys(FOUR, 2.0), past, window=1000))}


def test_knee_claim_holds_or_fails() -> None:
    assert exp1(7.0)["exp1-knee"].verdict is Verdict.AGREES
    early = exp1(5.0)["exp1-knee"]
    assert early.verdict is Verdict.DIFFERS
    assert "not near 7.2" in early.why
    flat = dict.fromkeys([*FOUR, "sack"], 62.7)
    assert exp1(7.0, latency=flat)["exp1-knee"].verdict is Verdict.DIFFERS


def test_vegas_claims_hold_or_fail() -> None:
    up = dict(zip([*FOUR, "sack"], (1.0, 1.1, 1.2, 1.5, 1.3), strict=True))
    down = dict(zip([*FOUR, "sack"], (1.5, 1.4, 1.3, 1.0, 1.2), strict=True))
    best = exp1(7.0, throughput=up, latency=down, **{"drop rate": down})
    worst = exp1(7.0, throughput=down, latency=up, **{"drop rate": up})
    for claim in ("exp1-vegas-throughput", "exp1-vegas-latency", "exp1-vegas-drops"):
        assert best[claim].verdict is Verdict.AGREES
        assert worst[claim].verdict is Verdict.DIFFERS
        assert "number 4 of four" in worst[claim].why
        assert best[claim].rule


class Two(Experiment2):
    """Pairs get 2.5 Mbit/s each up to 4 Mbit/s of CBR, then `first` and `second` by pair, rate and repetition."""

    def __init__(self, first: dict[str, Floats], second: dict[str, Floats]) -> None:
        self.rates, self.n = np.arange(1.0, 11.0), N
        self._got = first, second

    def both(self, first: str, second: str, jitter: float = 0.5, metric: str = "throughput") -> tuple[Floats, Floats]:
        name, hot = f"{first}/{second}", self.rates > 4

        def of(which: int) -> Floats:
            past = self._got[which].get(name, np.ones((6, N)))
            rows = 2.5 * (1 + NOISE[which * 10 : which * 10 + 10] / 100)
            rows[hot] = past * (1 + NOISE[which * 6 : which * 6 + 6])
            return np.asarray(rows)

        return of(0), of(1)


def exp2(**first: Floats) -> dict[str, Finding]:
    pairs = {name.replace("_", "/"): values for name, values in first.items()}
    return {f.claim: f for f in claims_exp2.claims(Two(pairs, {}))}


def test_pair_claims_hold_or_fail() -> None:
    ahead, behind, equal = np.full((6, N), 1.5), np.full((6, N), 0.6), np.ones((6, N))
    ranges = np.vstack([ahead[:3], behind[3:]])
    good = exp2(newreno_reno=ahead, newreno_vegas=ahead, vegas_vegas=ranges, reno_reno=equal)
    assert {f.verdict for f in good.values()} == {Verdict.AGREES}
    bad = exp2(newreno_reno=equal, newreno_vegas=behind, vegas_vegas=equal, reno_reno=ahead)
    assert {f.verdict for f in bad.values()} == {Verdict.DIFFERS}
    one_sided = exp2(vegas_vegas=ahead)
    assert one_sided["exp2-vegas-vegas-fair"].verdict is Verdict.DIFFERS


class Three(Experiment3):
    """One number for each metric, variant and queue."""

    def __init__(self, numbers: dict[tuple[str, str, str], float], before: float = 9.0, after: float = 2.0) -> None:
        self.n, self._numbers, self._spans = N, numbers, {3.0: before, 5.1: after}

    def get(self, metric: str, variant: str, queue: str) -> Floats:
        row = ("reno", "sack").index(variant) * 2 + ("red" in queue)
        return around(self._numbers.get((metric, variant, queue), 1.0), row)

    def drops(self, kind: str, variant: str, queue: str) -> Floats:
        return np.zeros(N)

    def largest(self, column: str, queue: str) -> float:
        return 5.0

    def throughput_in(self, span: tuple[float, float], variant: str, queue: str) -> Floats:
        return around(self._spans[span[0]], ("reno", "sack").index(variant))


def exp3(sack_red: float, red_latency: float, after: float) -> dict[str, Finding]:
    numbers = {
        ("throughput", "reno", "droptail"): 3.0,
        ("throughput", "reno", "red"): 2.0,
        ("throughput", "sack", "droptail"): 4.0,
        ("throughput", "sack", "red"): sack_red,
        **{("latency", v, "droptail"): 70.0 for v in ("reno", "sack")},
        **{("latency", v, "red"): red_latency for v in ("reno", "sack")},
    }
    return {f.claim: f for f in claims_exp3.claims(Three(numbers, after=after))}


def test_queue_claims_hold_or_fail() -> None:
    assert {f.verdict for f in exp3(1.0, 90.0, 2.0).values()} == {Verdict.AGREES}
    assert {f.verdict for f in exp3(3.5, 60.0, 11.0).values()} == {Verdict.DIFFERS}
    # No difference is not the difference that is claimed.
    assert exp3(1.0, 70.0, 2.0)["exp3-red-latency"].verdict is Verdict.DIFFERS
