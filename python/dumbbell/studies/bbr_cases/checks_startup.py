"""Checks of the cases about startup and drain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell.studies.bbr_cases.case import MSS, Case, link

__all__ = ["CHECKS"]


def _a1(c: Case) -> None:
    after, _, end = c.first("startup")
    error = c.mbps("max_bw", end) / link(10) - 1
    c.check(f"max_bw {100 * error:+.2f} % off the link's rate (within 2 %)", abs(error) < 0.02)
    c.check(f"full_bw_count reaches {c.at('full_bw_count', end):.0f} (3)", c.at("full_bw_count", end) == 3)
    c.check("full_bw_now and full_bw_reached", c.at("full_bw_now", end) == c.at("full_bw_reached", end) == 1)
    c.check(f"startup → {after} at {c.at('t', end):.3f} s, round trip {c.at('round_count', end):.0f}", after == "drain")


def _a2(c: Case) -> None:
    _, _, end = c.first("startup")
    c.check(
        f"startup left at {c.at('t', end):.3f} s with full_bw_count {c.at('full_bw_count', end):.0f} (less than 3)",
        c.at("full_bw_count", end) < 3,
    )
    c.check("full_bw_now and full_bw_reached", c.at("full_bw_now", end) == c.at("full_bw_reached", end) == 1)
    longterm = c.at("inflight_longterm", end) / MSS
    c.check(f"inflight_longterm {longterm:.0f} segments (the path's volume, 333)", abs(longterm - 333) < 7)


def _a3(c: Case) -> None:
    after, a, b = c.first("drain")
    c.check(f"pacing_gain {c.at('pacing_gain', a):.2f} (0.5)", c.at("pacing_gain", a) == 0.5)
    c.check(
        f"{after} with {c.at('inflight', b) / MSS:.0f} outstanding, {c.target(b) / MSS:.1f} allowed",
        c.at("inflight", b) <= c.target(b) < c.at("inflight", b - 2),
    )


def _a4(c: Case) -> None:
    after, a, b = c.first("drain")
    rounds = c.at("round_count", b) - c.at("round_count", a)
    c.check(f"{rounds:.0f} round trips in drain (more than 3)", rounds == 4)
    c.check(
        f"then {after}, with {c.at('inflight', b) / MSS:.0f} outstanding, {c.target(b) / MSS:.1f} aimed at",
        after == "probe down" and c.at("inflight", b) > c.target(b),
    )


def _a12(c: Case) -> None:
    _, _, end = c.first("startup")
    bdp = link(10) * 1e6 / 8 * 0.0401
    c.check(
        f"extra_acked up to {np.max(c.trace['extra_acked'][:end]) / MSS:.0f} segments",
        np.max(c.trace["extra_acked"][:end]) > 0.015 * link(10) * 1e6 / 8,
    )
    c.check(f"cwnd {c.at('cwnd', end - 1) / bdp:.1f} BDP (more than 2)", c.at("cwnd", end - 1) > 2 * bdp)
    over = c.mbps("max_bw", end) / link(10)
    c.check(
        f"max_bw {over:.2f} of the link's rate (at least 0.98; bunched ACKs overstate it, less than by 2.77)",
        0.98 < over < 2.77,
    )


def _a20(c: Case) -> None:
    names = [name for name, _, _ in c.spans()]
    c.check(" → ".join(names), names[:3] == ["startup", "probe RTT", "startup"])
    c.check("full_bw_reached stays 0", not np.any(c.trace["full_bw_reached"]))


CHECKS: dict[int, Callable[[Case], None]] = {1: _a1, 2: _a2, 3: _a3, 4: _a4, 12: _a12, 20: _a20}
"""Checks of each case."""
