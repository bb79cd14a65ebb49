"""Response functions: the mean window that a share of lost packets leaves, in theory and in the simulator.

The loss is that of the theory: exactly one packet of each 1/p, on a path without a queue, with a base RTT of 100 ms
and an ACK per segment. Between two losses an algorithm repeats one cycle. The mean window is the 1/p packets of a
cycle divided by its number of round trips. The published formulas leave out the round trip of loss recovery, in which
the window doesn't grow. Where a cycle is short, as Scalable TCP's always is, this matters; so each mean is calculated
with that round trip too. Windows are in segments, times in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import dumbbell
from dumbbell import Scenario

RTT = 0.1
MSS = 1448
"""Payload of a segment with timestamps."""
CYCLES = 40
"""Counted, after a quarter as many."""


@dataclass(frozen=True)
class Cycle:
    """One cycle: from one loss, at which the window is cut, to the next.

    Attributes
    ----------
    packets, rounds, bottom : float
        Packets while it grows, round trips that it takes, and the window after the cut.
    """

    packets: float
    rounds: float
    bottom: float


def top_of(cycle: Callable[[float], Cycle], p: float) -> float:
    """The top where growth and the round trip of recovery together hold 1/p packets; by halving."""
    low, high = 1.0, 1e8
    for _ in range(100):
        top = math.sqrt(low * high)
        c = cycle(top)
        low, high = (top, high) if c.packets + c.bottom < 1 / p else (low, top)
    return low


def solved(cycle: Callable[[float], Cycle], p: float) -> float:
    """The mean window of that cycle."""
    return 1 / p / (cycle(top_of(cycle, p)).rounds + 1)


def reno(p: float) -> float:
    """From W/2 to W by one segment a round trip: 3/8 W^2 = 1/p in W/2 round trips, sqrt(3/2 / p) in the mean.

    That holds with delayed ACKs as well, since bytes are counted [RFC 5681 §3.1].
    """
    return math.sqrt(1.5 / p)


def reno_cycle(top: float) -> Cycle:
    """The same in whole segments: W/2 + ... + W = 3/8 W^2 + 3/4 W packets in W/2 + 1 round trips."""
    return Cycle(0.375 * top**2 + 0.75 * top, top / 2 + 1, top / 2)


def cubic(p: float, c: float = 0.4, beta: float = 0.7) -> float:
    """RFC 9438 §5: the concave half of the curve, from beta W to W in K = cbrt(W (1 - beta) / C).

    Packets: K / RTT (W - C K^3 / 4) = 1/p, and C K^3 = W (1 - beta), so that the mean is W (3 + beta) / 4 and
    W^(4/3) = 4 RTT / (p (3 + beta)) cbrt(C / (1 - beta)). Where Reno has more, CUBIC does as Reno (§4.3).
    """
    curve = math.pow(c * (3 + beta) / (4 * (1 - beta)), 0.25) * math.pow(RTT / p, 0.75)
    return max(curve, reno(p))


def cubic_cycle(top: float, c: float = 0.4, beta: float = 0.7) -> Cycle:
    """The same cycle by its top."""
    rounds = (top * (1 - beta) / c) ** (1 / 3) / RTT
    return Cycle(rounds * top * (3 + beta) / 4, rounds, beta * top)


def highspeed(p: float) -> float:
    """RFC 3649 §5: a line in logarithms through 38 segments at 1e-3 and 83000 at 1e-7; above 1e-3 as Reno."""
    slope = math.log(83000 / 38) / math.log(1e-7 / 1e-3)
    return 38 * (p / 1e-3) ** slope if p < 1e-3 else reno(p)


def highspeed_cycle(top: float) -> Cycle:
    """From (1 - b(W)) W to W by a(w) a round trip: dw / a(w) round trips, w dw / a(w) packets, in 2000 steps."""

    def part(w: float) -> float:
        return max(math.log(w / 38) / math.log(83000 / 38), 0.0)

    def b(w: float) -> float:
        return 0.5 - 0.4 * part(w)

    def a(w: float) -> float:
        return max(w**2 * 1e-3 * 1e-4 ** part(w) * 2 * b(w) / (2 - b(w)), 1.0) if w > 38 else 1.0

    bottom = (1 - b(top)) * top
    step = (top - bottom) / 2000
    windows = [bottom + (i + 0.5) * step for i in range(2000)]
    return Cycle(sum(w / a(w) for w in windows) * step, sum(1 / a(w) for w in windows) * step, bottom)


def scalable(p: float, a: float = 0.01, b: float = 0.125) -> float:
    """Kelly 2003: from (1 - b) W to W by `a` for each packet, b W / a = 1/p, which takes b / a round trips about.

    Exactly ln(1 / (1 - b)) / ln(1 + a), as the window is (1 + a) times as large after each.
    """
    return math.log(1 + a) / -math.log(1 - b) / p


def scalable_cycle(top: float, a: float = 0.01, b: float = 0.125) -> Cycle:
    """The same cycle by its top."""
    return Cycle(b * top / a, -math.log(1 - b) / math.log(1 + a), (1 - b) * top)


def htcp(p: float) -> float:
    """Leith and Shorten 2004, the cycle below without its recovery."""

    def without(top: float) -> Cycle:
        c = htcp_cycle(top)
        return Cycle(c.packets, c.rounds - 1, 0.0)

    return solved(without, p)


def htcp_cycle(top: float, beta: float = 0.8) -> Cycle:
    """From beta W to W by 2 (1 - beta) f(t) a round trip: W RTT = 2 F(T), with F the integral of f.

    f = 1 for a second, then 1 + 10 (t - 1) + ((t - 1) / 2)^2. Without a queue all round trips are alike, so beta is
    at its upper bound. T is found by halving; packets: (beta W T + 2 (1 - beta) / RTT times the integral of F) / RTT.
    """

    def grown(t: float) -> float:
        late = max(t - 1, 0.0)
        return t + 5 * late**2 + late**3 / 12

    low, high = 1e-6, 1e4
    for _ in range(100):
        t = math.sqrt(low * high)
        low, high = (t, high) if 2 * grown(t) < top * RTT else (low, t)
    late = max(low - 1, 0.0)
    area = low**2 / 2 + 5 * late**3 / 3 + late**4 / 48
    return Cycle((beta * top * low + 2 * (1 - beta) * area / RTT) / RTT, low / RTT, beta * top)


@dataclass(frozen=True)
class Form:
    """A variant's response function.

    Attributes
    ----------
    published : callable
        The published formula: mean window by the share lost.
    cycle : callable
        A cycle by its top, for the mean with the round trip of recovery.
    shares : tuple of float
        Where it is measured.
    params : dict
        The variant's parameters.
    """

    published: Callable[[float], float]
    cycle: Callable[[float], Cycle]
    shares: tuple[float, ...]
    params: dict[str, bool] = field(default_factory=dict)

    def expected(self, p: float) -> float:
        """The mean window with the round trip of recovery."""
        return solved(self.cycle, p)

    def tolerance(self, p: float) -> float:
        """One segment, since the window grows by whole segments, and 1 % for a cycle that is counted in part."""
        return 0.01 + 1 / self.expected(p)


FORMS = {
    "reno": Form(reno, reno_cycle, (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)),
    # Where its curve has more than Reno; fast convergence is for several flows (§4.7) and not in the formula.
    "cubic": Form(cubic, cubic_cycle, (3e-4, 1e-4, 3e-5, 1e-5), {"fast_convergence": False}),
    "highspeed": Form(highspeed, highspeed_cycle, (3e-4, 1e-4, 3e-5, 1e-5)),
    # Below 16 segments it is Reno: the first is where the bottom of the cycle is 20.
    "scalable": Form(scalable, scalable_cycle, (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)),
    "htcp": Form(htcp, htcp_cycle, (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)),
}


def scenario(variant: str, p: float, window: float) -> Scenario:
    """One flow that loses each 1/p-th data packet, the first when slow start has led it to the top of its cycle.

    The start matters for CUBIC: it ends each cycle on its plateau, so that a top that is too high by x decreases by
    C (K - t)^3, some x^3 of itself, and is still there after hundreds of cycles.
    """
    every = round(1 / p)
    top = max(round(top_of(FORMS.get(variant, FORMS["reno"]).cycle, p)), 4)
    cycle = every / window * RTT
    start = CYCLES / 4 * cycle + 3.0
    stack = {"preset": "rfc", "ack_every": 1, "initial_ssthresh": f"{top} packets", "window": "1 GiB"}
    params = FORMS[variant].params if variant in FORMS else {}
    wide = {"rate": "100 Gbit/s", "queue": {"limit": "1000000 packets"}}
    drops = [{"packets": [2 * top + every * n for n in range(4 * CYCLES)]}]
    return Scenario.from_dict(
        {
            "name": "response",
            "duration": f"{start + CYCLES * cycle} s",
            "measure_from": f"{start} s",
            "network": {"bottleneck": {**wide, "delay": "48 ms", "drops": drops}, "access": {**wide, "delay": "1 ms"}},
            "flows": [{"name": "a", "variant": {"name": variant, **params}, "stack": stack}],
        }
    )


def measured(variant: str, p: float) -> float:
    """The mean window over the counted time: segments delivered in a round trip."""
    flow = dumbbell.run(scenario(variant, p, FORMS[variant].expected(p))).flows.row(0, named=True)
    return float(flow["goodput_bps"]) / 8 / MSS * RTT


def random_constant(p: float, repetitions: int = 10) -> float:
    """The constant C of C / sqrt(p) for Reno (with SACK) where each packet is lost by chance; mean over seeds."""
    document = scenario("sack", p, reno(p)).to_dict()
    del document["network"]["bottleneck"]["drops"]
    document["network"]["bottleneck"]["loss"] = f"{100 * p} %"
    document["repetitions"] = repetitions
    goodput = dumbbell.run(Scenario.from_dict(document)).flows["goodput_bps"].to_list()
    return float(sum(goodput)) / len(goodput) / 8 / MSS * RTT * math.sqrt(p)
