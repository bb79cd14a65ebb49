"""Checks of the cases about probing for the round trip, and paths that change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell import registry
from dumbbell.studies.bbr_cases.case import MSS, Case, link

__all__ = ["CHECKS"]


def _a10(c: Case) -> None:
    dips = [(a, b) for name, a, b in c.spans() if name == "probe RTT"]
    begins = np.array([c.at("t", a) for a, _ in dips])
    lengths = [c.at("t", b) - c.at("t", a) for a, b in dips]
    c.check(
        f"dips at {', '.join(f'{t:.2f}' for t in begins)} s (5 s after the last)",
        len(dips) == 3 and all(5.0 < g < 5.4 for g in np.diff(begins)),
    )
    c.check(f"cwnd_gain {c.at('cwnd_gain', dips[0][0]):.1f} (0.5)", c.at("cwnd_gain", dips[0][0]) == 0.5)
    c.check(f"lasting {1000 * min(lengths):.0f} to {1000 * max(lengths):.0f} ms (at least 200)", min(lengths) >= 0.2)
    c.check(f"→ {c.first('probe RTT')[0]}", c.first("probe RTT")[0] == "cruise")


def _a11(c: Case) -> None:
    row = int(np.searchsorted(c.trace["t"], 10.0))
    window = c.trace["idle_restart"][row : row + 5]
    c.check("idle_restart when sending continues at 10 s", bool(np.any(window == 1)))
    late = [name for name, a, b in c.spans() if c.at("t", b - 1) >= 9.9 and c.at("t", a) < 10.3]
    c.check(f"no dip then ({', '.join(late)})", "probe RTT" not in late)


def _a13(c: Case) -> None:
    t = c.trace["t"]
    cruise = (t > 6) & (c.trace["state"] == registry.phases().index("cruise"))
    extra, cwnd = c.trace["extra_acked"][cruise], c.trace["cwnd"][cruise]
    model = 2 * c.trace["bw"][cruise] * c.trace["min_rtt"][cruise]
    c.check(
        f"extra_acked {np.median(extra) / MSS:.0f} segments (15 ms are {0.015 * link(10) * 1e6 / 8 / MSS:.0f})",
        np.median(extra) > 0.015 * link(10) * 1e6 / 8,
    )
    c.check("cwnd = 2 BDP + extra_acked", abs(float(np.median(cwnd - model - extra))) < 2 * MSS)
    late = t > 6
    rate = (c.trace["delivered"][-1] - c.trace["delivered"][late][0]) * 8e-6 / (t[-1] - t[late][0])
    c.check(f"{100 * rate / link(10):.1f} % of the link's rate, dips included (at least 95)", rate > 0.95 * link(10))


def _a14(c: Case) -> None:
    t = c.trace["t"]
    least = np.min(c.trace["cwnd"][t > 1]) / MSS
    c.check(f"cwnd {least:.0f} segments or more (4)", least >= 4)
    c.check(f"bw {c.mbps('bw', len(t) - 1):.3f} Mbit/s (0.965)", abs(c.mbps("bw", len(t) - 1) / link(1) - 1) < 0.02)
    c.check(f"goodput {c.flow['goodput_bps'] * 1e-6:.3f} Mbit/s", c.flow["goodput_bps"] * 1e-6 > 0.95 * link(1))


def _a15(c: Case) -> None:
    _, a, _ = c.first("probe up", 3.0)
    full = int(np.flatnonzero(c.trace["max_bw"] * 8e-6 > 0.98 * link(100))[0])
    rounds = c.at("round_count", full) - c.at("round_count", a)
    c.check(
        f"full rate {rounds:.0f} round trips after the probe begins (log2 of 10 x 33 segments is 8.4; some 3 more)",
        rounds <= 24,
    )
    bounds, by_round = [], c.trace["round_count"][a:full]
    for r in np.unique(by_round):
        bounds.append(c.trace["inflight_longterm"][a:full][by_round == r][-1] / MSS)
    steps = np.diff(bounds)
    growing = [float(s) for s in steps if s >= 1]
    c.check(
        f"inflight_longterm grows by {', '.join(f'{s:.0f}' for s in growing)} segments a round trip",
        len(growing) >= 4 and growing[-1] > 3 * growing[0],
    )


def _a16(c: Case) -> None:
    t = c.trace["t"]
    low = np.flatnonzero((t > 3) & (c.trace["bw_shortterm"] * 8e-6 < 50))
    c.check(f"bw_shortterm below half at {t[low[0]]:.2f} s" if low.size else "bw_shortterm never halves", low.size > 0)
    adapted = np.flatnonzero((t > 3) & (c.trace["max_bw"] * 8e-6 < 1.1 * link(10)))
    c.check(
        f"max_bw at the new rate from {t[adapted[0]]:.1f} s on" if adapted.size else "max_bw never adapts",
        adapted.size > 0,
    )


def _a17(c: Case) -> None:
    bounded = ~np.isnan(c.trace["bw_shortterm"])
    c.check(
        "bw_shortterm and inflight_shortterm react",
        bool(np.any(bounded)) and bool(np.any(~np.isnan(c.trace["inflight_shortterm"]))),
    )
    share = c.flow["goodput_bps"] * 1e-6 / link(10)
    c.check(f"goodput {100 * share:.0f} % of the tokens' rate (more than 50)", share > 0.5)
    # A sender that always paces at ProbeBW_UP's 1.25 times the rate loses 1 - 1 / 1.25 = 20 %.
    c.check(f"{100 * c.flow['drop_rate']:.1f} % lost, the start included (below 20)", c.flow["drop_rate"] < 0.2)


def _a18(c: Case) -> None:
    before, found = c.row(3.92), c.row(3.95)
    back = int(np.flatnonzero((c.trace["t"] > 3.95) & np.isnan(c.trace["inflight_longterm"]))[0])
    names = [name for name, a, _ in c.spans() if c.at("t", a) > 3.93]
    c.check(
        f"{c.flow['retransmitted_packets']} packets sent again, none lost",
        c.flow["retransmitted_packets"] > 0 and not c.flow["dropped_packets"],
    )
    c.check(
        f"taken for losses at {c.at('t', found):.2f} s: inflight_longterm "
        f"{c.at('inflight_longterm', found) / MSS:.0f} "
        "segments, unset before",
        np.isnan(c.at("inflight_longterm", before)) and np.isfinite(c.at("inflight_longterm", found)),
    )
    c.check(
        f"all bounds unset again at {c.at('t', back):.2f} s, after the D-SACKs",
        all(np.isnan(c.at(f"{what}", back)) for what in ("inflight_longterm", "inflight_shortterm", "bw_shortterm")),
    )
    c.check(
        f"cwnd back to {c.at('cwnd', back) / MSS:.0f} segments (at least {c.at('cwnd', before) / MSS:.0f}, as before)",
        c.at("cwnd", back) >= c.at("cwnd", before),
    )
    c.check(f"the probe begins again: {' → '.join(names[:4])}", names[2:4] == ["refill", "probe up"])


def _a19(c: Case) -> None:
    before, during = c.row(3.94), c.row(5.0)
    back = int(np.flatnonzero((c.trace["t"] > 5.0) & np.isnan(c.trace["inflight_longterm"]))[0])
    _, _, end = c.first("probe RTT", 5.0)
    c.check(
        f"cwnd {c.at('cwnd', during) / MSS:.0f} segment, inflight_longterm "
        f"{c.at('inflight_longterm', during) / MSS:.0f} segments after the timeout",
        c.at("cwnd", during) == MSS and np.isfinite(c.at("inflight_longterm", during)),
    )
    c.check(
        f"all bounds unset again at {c.at('t', back):.2f} s, with the first late ACK",
        all(np.isnan(c.at(f"{what}", back)) for what in ("inflight_longterm", "inflight_shortterm", "bw_shortterm")),
    )
    c.check(f"{c.flow['retransmitted_packets']} packet sent again (1)", c.flow["retransmitted_packets"] == 1)
    c.check(
        f"cwnd {c.at('cwnd', end) / MSS:.0f} segments after the dip that was due (at least "
        f"{c.at('cwnd', before) / MSS:.0f}, as before)",
        c.at("cwnd", end) >= c.at("cwnd", before),
    )


CHECKS: dict[int, Callable[[Case], None]] = {
    10: _a10,
    11: _a11,
    13: _a13,
    14: _a14,
    15: _a15,
    16: _a16,
    17: _a17,
    18: _a18,
    19: _a19,
}
"""Checks of each case."""
