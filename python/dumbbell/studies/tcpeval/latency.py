"""Section 5: delay and throughput, ramp-up, transients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.plots.spec import Curve, Mark, Panel, Picture, sampled
from dumbbell.report.finding import Table
from dumbbell.results import Results
from dumbbell.studies.shared import Floats
from dumbbell.studies.tcpeval.data import BDP, LABELS, Part, largest_rise, reached, time_until

__all__ = ["PAIRS", "Latency"]

BUFFERS = {"17 packets": 10, "33 packets": 20, "83 packets": 50, "167 packets": 100, "333 packets": 200}
"""Buffers of §5.1 as a part of the bandwidth-delay product of 100 ms, %."""
PAIRS: dict[tuple[str, ...], str] = {
    ("19 ms", "19 ms"): "80, 80",
    ("29 ms", "6.5 ms"): "120, 30",
    ("6.5 ms", "29 ms"): "30, 120",
}
"""Round trips of the existing and the new flow in §5.2, ms, by the access delays that make them."""
MILESTONES = (1, 2, 3, 4)
"""n of 1500 x 10^n bytes."""
CHANGE, RTT = 40.0, 0.1
"""Time of the change of the cross traffic in §5.3, and the path's round trip, s."""
LEVELS = (60, 80, 90)
"""Parts of the bandwidth-delay product that the window has to reach, %."""
MSS = 1448


class Latency:
    """The experiments of section 5."""

    def __init__(self, results: Mapping[str, Results]) -> None:
        self.trade = Part(results["5.1"], "flows.s1.variant", ["network.bottleneck.queue.limit"])
        paths = ["flows.existing.access.delay", "flows.new.access.delay"]
        self.ramp = Part(results["5.2"], "flows.new.variant", paths)
        self.release, self.arrival, self.steps = (
            Part(results[f"5.3-{name}"], "flows.tcp.variant") for name in ("release", "arrival", "steps")
        )

    def pictures(self) -> list[Picture]:
        """Draw section 5."""
        return [self._trade_picture(), self._ramp_picture(), self._transient_picture()]

    def tables(self) -> list[Table]:
        """List section 5."""
        return [self._trade_table(), self._ramp_table(), self._release_table(), self._arrival_table()]

    # ------------------------------------------------------------ 5.1

    def _trade_picture(self) -> Picture:
        data = self.trade
        buffers = data.values(0)
        panels = []
        for label, value in (("throughput (Mbit/s)", data.goodput), ("drop rate (%)", data.drop_rate)):
            curves = []
            for v in data.variants:
                x = np.array([np.median(data.queue("mean_sojourn_ms", v, b)) for b in buffers])
                curves.append(sampled(LABELS[v], v, [value(v, b) for b in buffers], x, dots=False))
            panels.append(Panel("", "mean queueing delay (ms)", label, curves, x_log=True, y_from_zero=False))
        first, last = buffers[0], buffers[-1]
        reading = ", ".join(
            f"{LABELS[v]} {np.median(data.goodput(v, first)):.1f} to {np.median(data.goodput(v, last)):.1f} Mbit/s "
            f"at {np.median(data.queue('mean_sojourn_ms', v, first)):.1f} to "
            f"{np.median(data.queue('mean_sojourn_ms', v, last)):.1f} ms"
            for v in data.variants
        )
        title = "§5.1: throughput and drop rate over queueing delay, buffers of " + ", ".join(
            str(BUFFERS[b]) for b in buffers
        )
        words = f"From the smallest to the largest buffer: {reading}."
        return Picture("s5-1-trade", f"{title} % of BDP", words, panels, columns=2)

    def _trade_table(self) -> Table:
        data = self.trade
        rows = [
            {
                "variant": LABELS[v],
                "buffer, % of BDP": str(BUFFERS[b]),
                "throughput, Mbit/s": summarize(data.goodput(v, b)).text(),
                "drop rate, %": summarize(data.drop_rate(v, b)).text(),
                "queueing delay, ms": summarize(data.queue("mean_sojourn_ms", v, b)).text(),
                "utilization": summarize(data.queue("utilization", v, b)).text(),
            }
            for v in data.variants
            for b in data.values(0)
        ]
        return Table("s5-1", f"§5.1, 85 % of 20 Mbit/s: median [95 % interval] of {data.n}", pl.DataFrame(rows))

    # ------------------------------------------------------------ 5.2

    def ramp_times(self, variant: str, pair: tuple[str, ...], n: int) -> Floats:
        """Return the time until the new flow has received 1500 x 10^n bytes, s; NaN where it hasn't."""
        begin = self.ramp.start("new", variant, *pair)
        found = self.ramp.series("delivered_in_order", "new", variant, *pair)
        return np.array([reached(t, y, 1500 * 10**n) - b for (t, y), b in zip(found, begin, strict=True)])

    def _ramp_picture(self) -> Picture:
        panels, parts = [], []
        x = np.array([1500 * 10.0**n / 1e6 for n in MILESTONES])
        for pair in self.ramp.cells():
            curves = [
                sampled(LABELS[v], v, [self.ramp_times(v, pair, n) for n in MILESTONES], x, dots=False)
                for v in self.ramp.variants
            ]
            title = f"round trips {PAIRS[pair]} ms (existing, new)"
            panels.append(Panel(title, "received (MB)", "time (s)", curves, x_log=True, y_log=True))
            times = {v: self.ramp_times(v, pair, 3) for v in self.ramp.variants}
            parts.append(f"{PAIRS[pair]} ms: " + ", ".join(f"{LABELS[v]} {_middle(t)}" for v, t in times.items()))
        reading = "1.5 MB are received after (round trips) " + "; ".join(parts) + "."
        return Picture("s5-2-ramp-up", "§5.2: ramp-up of a new flow", reading, panels, columns=2, share_y=True)

    def _ramp_table(self) -> Table:
        rows = []
        for pair in self.ramp.cells():
            for v in self.ramp.variants:
                row = {"round trips, ms": PAIRS[pair], "variant": LABELS[v]}
                for n in MILESTONES:
                    count = f"{1500 * 10**n:,}".replace(",", " ")
                    row[f"{count} bytes, s"] = _of_all(self.ramp_times(v, pair, n))
                rows.append(row)
        title = f"§5.2, time until so much is received: median [95 % interval] of {self.ramp.n}"
        return Table("s5-2", title, pl.DataFrame(rows))

    # ------------------------------------------------------------ 5.3

    def release_times(self, variant: str, percent: int) -> Floats:
        """Return the time from the release until the window is so much of the bandwidth-delay product, s."""
        found = self.release.series("cwnd", "tcp", variant)
        return np.array([time_until(t, y, percent / 100 * BDP, CHANGE) for t, y in found])

    def release_rise(self, variant: str) -> Floats:
        """Return the largest rise of the window in a round trip until it is 90 % of the product, segments; (n,)."""
        rises = []
        for t, y in self.release.series("cwnd", "tcp", variant):
            took = time_until(t, y, LEVELS[-1] / 100 * BDP, CHANGE)
            end = float(t[-1]) if np.isnan(took) else CHANGE + took
            rises.append(largest_rise(t, y, CHANGE, end, RTT) / MSS)
        return np.array(rises)

    def _transient_picture(self) -> Picture:
        panels = []
        for part, title, marks in (
            (self.release, "75 Mbit/s of cross traffic end", [Mark(CHANGE)]),
            (self.arrival, "75 Mbit/s of cross traffic begin", [Mark(CHANGE)]),
            (self.steps, "30 steps of 2.5 Mbit/s", [Mark(CHANGE), Mark(CHANGE + 29)]),
        ):
            curves = []
            for v in part.variants:
                t, y = part.series("cwnd", "tcp", v)[0]
                shown = t > CHANGE - 20
                curves.append(Curve(LABELS[v], v, t[shown], y[shown] / MSS, kind="steps"))
            panels.append(Panel(title, "time (s)", "cwnd (segments)", curves, marks=marks))
        dropped = ", ".join(
            f"{LABELS[v]} {np.median(self.arrival.dropped(v, flow='udp')):.0f}" for v in self.arrival.variants
        )
        return Picture(
            "s5-3-transients",
            "§5.3: transients, the window of the flow under test; first repetition",
            f"When 75 Mbit/s begin, the cross traffic loses packets: {dropped} (100 Mbit/s, 100 ms).",
            panels,
            markers=False,
        )

    def _release_table(self) -> Table:
        rows = []
        for v in self.release.variants:
            row = {"variant": LABELS[v]}
            for percent in LEVELS:
                row[f"window {percent} % of BDP, s"] = _of_all(self.release_times(v, percent))
            row["largest rise in a round trip, segments"] = summarize(self.release_rise(v)).text()
            rows.append(row)
        title = f"§5.3, 75 Mbit/s end: time until the window has grown; median [95 % interval] of {self.release.n}"
        return Table("s5-3-release", title, pl.DataFrame(rows))

    def _arrival_table(self) -> Table:
        rows = [
            {
                "variant": LABELS[v],
                "75 Mbit/s at once": summarize(self.arrival.dropped(v, flow="udp")).text(),
                "30 steps of 2.5 Mbit/s": summarize(self.steps.dropped(v, flow="udp")).text(),
            }
            for v in self.arrival.variants
        ]
        title = f"§5.3, cross traffic's packets dropped until 100 s later: median [95 % interval] of {self.arrival.n}"
        return Table("s5-3-arrival", title, pl.DataFrame(rows))


def _of_all(times: Floats) -> str:
    """Summarize, with the number of runs that reached it if not all did."""
    found = summarize(times)
    if found.n == 0:
        return "in no run"
    return found.text() + (f" ({found.n} of {times.size} runs)" if found.n < times.size else "")


def _middle(times: Floats) -> str:
    found = summarize(times)
    return "not in time" if found.n == 0 else f"{found.median:.1f} s"
