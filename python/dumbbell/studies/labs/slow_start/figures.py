"""The figures of the lab on slow start."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.studies.labs.own_runs import OwnRun

PACKET_BITS = 1500 * 8


def figures(runs: Mapping[str, OwnRun]) -> dict[str, float]:
    """Compute the figure of each question."""
    base = runs["base"]
    flow, capacity = base.flow("a"), base.queue()["capacity_bps"]
    idle_ms, mss = flow["idle_rtt_ms"], flow["snd_mss_bytes"]
    cwnd = base.series("cwnd", "a")
    falls = cwnd["cwnd"].diff() < 0
    short, slow = (runs[name].flow("a")["completion_time_s"] for name in ("short", "iw2"))
    return {
        "q1": idle_ms,
        "q2": capacity * idle_ms / 1e3 / PACKET_BITS,
        "q3": cwnd["cwnd"].max() / mss,
        "q4": cwnd["time_s"].filter(falls)[0],
        "q5": flow["dropped_packets"],
        "q6": short,
        "q7": slow / short,
    }
