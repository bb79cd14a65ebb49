"""Checks of the cases about probing for bandwidth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell.studies.bbr_cases.case import MSS, Case

__all__ = ["CHECKS"]


def _a5(c: Case) -> None:
    after, a, b = c.first("probe up")
    rounds = c.at("round_count", b) - c.at("round_count", a)
    c.check(
        f"full_bw_count {c.at('full_bw_count', b):.0f}, full_bw_now {c.at('full_bw_now', b):.0f} after {rounds:.0f} "
        "round trips (3, 1)",
        c.at("full_bw_count", b) == 3 and c.at("full_bw_now", b) == 1,
    )
    c.check(
        f"→ {after}, {c.flow['dropped_packets']} packets lost", after == "probe down" and not c.flow["dropped_packets"]
    )


def _a6(c: Case) -> None:
    after, a, b = c.first("probe up", 2.0)
    c.check(
        f"in probe up from {c.at('t', a):.2f} s until the losses of 6 s are seen at {c.at('t', b):.3f} s",
        6.0 < c.at("t", b) < 6.1,
    )
    c.check("full_bw_now 0: not for a plateau", c.at("full_bw_now", b) == 0)
    c.check(
        f"→ {after}; inflight_longterm unset, since the application limits",
        after in ("probe down", "cruise") and np.isnan(c.at("inflight_longterm", b)),
    )


def _a7(c: Case) -> None:
    after, a, _ = c.first("probe up", 2.0)
    c.check(f"in probe up from {c.at('t', a):.2f} s to the end at 20 s", after == "end")
    other = c.other(20)
    names = {name for name, _, _ in other.spans()}
    c.check("A.20's startup, application-limited, is left for dips only", names == {"startup", "probe RTT"})


def _a8(c: Case) -> None:
    after, a, b = c.first("probe down", 3.0)
    c.check(f"pacing_gain {c.at('pacing_gain', a):.2f} (0.90)", c.at("pacing_gain", a) == 0.9)
    longterm = c.at("inflight_longterm", b)
    headroom = longterm - max(MSS, 0.15 * longterm)
    c.check(
        f"{after} with {c.at('inflight', b) / MSS:.0f} outstanding: {headroom / MSS:.1f} leave headroom, "
        f"{c.target(b) / MSS:.1f} fill the path",
        after == "cruise" and c.at("inflight", b) <= min(headroom, c.target(b)) < c.at("inflight", b - 2),
    )


def _a9(c: Case) -> None:
    after, a, b = c.first("probe down")
    took, wait = c.at("t", b) - c.at("t", a), c.at("bw_probe_wait", a)
    c.check(f"→ {after} after {took:.3f} s, bw_probe_wait {wait:.3f} s", after == "refill" and 0 < took - wait < 0.05)


def _a21(c: Case) -> None:
    after, a, b = c.first("probe up", 2.0)
    before, bound = c.at("inflight_longterm", a) / MSS, c.at("inflight_longterm", b) / MSS
    floor = 0.7 * min(c.at("bw", b - 1) * c.at("min_rtt", b - 1), c.at("cwnd", b - 1)) / MSS
    spans = [(x, y) for name, x, y in c.spans() if name == "probe up" and np.isfinite(c.at("inflight_longterm", x))]
    lossy = [(x, y) for x, y in spans if c.at("full_bw_now", y) == 0]
    c.check(f"bound set before the probe: {before:.0f} segments", np.isfinite(before))
    c.check(f"{len(lossy)} of {len(spans)} probes end for losses, before a plateau", bool(lossy))
    c.check(f"→ {after}, the bound {bound:.1f} (at least 0.7 of the path: {floor:.1f})", bound >= floor - 0.1)


def _a22(c: Case) -> None:
    after, a, b = c.first("refill")
    rates, least = c.trace["max_bw"][a : b + 1], np.min(c.trace["inflight"][a : b + 1]) / MSS
    c.check(
        f"outstanding falls to {least:.0f} segments in the refill of {1000 * (c.at('t', b) - c.at('t', a)):.0f} ms",
        least <= 3,
    )
    c.check(f"max_bw unchanged at {c.mbps('max_bw', a):.2f} Mbit/s", float(np.ptp(rates)) == 0.0)
    c.check(f"→ {after}", after == "probe up")


CHECKS: dict[int, Callable[[Case], None]] = {5: _a5, 6: _a6, 7: _a7, 8: _a8, 9: _a9, 21: _a21, 22: _a22}
"""Checks of each case."""
