"""Section 6: gain of a variant and loss of standard TCP, fairness, several bottlenecks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.plots.ellipse import ellipse_of
from dumbbell.plots.spec import Curve, Panel, Picture, sampled
from dumbbell.report.finding import Table
from dumbbell.results import Results
from dumbbell.studies.shared import Floats
from dumbbell.studies.tcpeval.data import LABELS, Part

__all__ = ["Fairness", "evenness"]

BASE = "sack"
LOADS = {"20 Mbit/s": "50 %", "10 Mbit/s": "100 %"}
"""Offered loads of §6.1, by the central link's rate."""
SIZES = {"": "all", "s": "10 kB", "m": "100 kB", "l": "1 MB"}
"""Bursts of §6.1 by the flows' names."""
ROUND_TRIPS = {"1.5 ms": 10, "4 ms": 20, "9 ms": 40, "19 ms": 80, "39 ms": 160}
"""Round trips of §6.2, ms, by the access delays that make them."""
BUFFERS = {"21 packets": "25 %", "42 packets": "50 %", "83 packets": "100 %", "167 packets": "200 %"}
"""Buffers of §6.2 as a part of the bandwidth-delay product of 100 ms."""
LINKS = {"33.3 Mbit/s": 60, "25 Mbit/s": 80, "20 Mbit/s": 100}
"""Offered loads of §6.3 on each link, %, by the links' rate."""
GROUPS = ("one", "two", "three")
"""The groups of §6.3 that cross one bottleneck."""


def evenness(first: Floats, second: Floats) -> Floats:
    """Return the smaller of two goodputs over the larger, pair by pair: 1 is even."""
    return np.asarray(np.minimum(first, second) / np.maximum(np.maximum(first, second), 1e-9))


class Fairness:
    """The experiments of section 6."""

    def __init__(self, results: Mapping[str, Results]) -> None:
        self.impact = Part(results["6.1"], "flows.b-s1.variant", ["network.bottleneck.rate"])
        buffer = "network.bottleneck.queue.limit"
        self.intra = Part(results["6.2-intra"], "flows.first.variant", [buffer, "flows.second.access.delay"])
        self.inter = Part(results["6.2-inter"], "flows.first.variant", [buffer, "flows.second.access.delay"])
        self.several = Part(results["6.3"], "flows.long-s.variant", ["network.bottleneck.rate"])

    def pictures(self) -> list[Picture]:
        """Draw section 6."""
        return [self._impact_picture(), self._ratios("intra"), self._ratios("inter"), self._several_picture()]

    def tables(self) -> list[Table]:
        """List section 6."""
        return [self._impact_table(), self._ratio_table("intra"), self._ratio_table("inter"), self._several_table()]

    # ------------------------------------------------------------ 6.1

    def gain(self, variant: str, rate: str, size: str = "") -> Floats:
        """Return G: goodput of camp B with the variant over that with standard TCP, on the same seeds; (n,)."""
        flow = f"b-{size}"
        return self.impact.goodput(variant, rate, flow=flow) / self.impact.goodput(BASE, rate, flow=flow)

    def loss(self, variant: str, rate: str, size: str = "") -> Floats:
        """Return L: goodput of camp A, standard TCP, beside the variant over that beside standard TCP; (n,)."""
        flow = f"a-{size}"
        return self.impact.goodput(variant, rate, flow=flow) / self.impact.goodput(BASE, rate, flow=flow)

    def _impact_picture(self) -> Picture:
        panels, parts = [], []
        new = [v for v in self.impact.variants if v != BASE]
        for rate in self.impact.values(0):
            curves = [
                Curve("no change", "total", np.array([1.0, 1.0]), np.array([0.0, 1.0])),
                Curve("no change", "total", np.array([0.0, 1.0]), np.array([1.0, 1.0])),
            ]
            for v in new:
                x, y = self.gain(v, rate), self.loss(v, rate)
                curves.append(Curve(LABELS[v], v, np.array([np.median(x)]), np.array([np.median(y)]), kind="points"))
                curves.append(Curve(LABELS[v], v, x, y, kind="dots"))
                around = ellipse_of(x, y)
                if around is not None:
                    curves.append(Curve(LABELS[v], v, *around))
            low = 0.9 * min(float(np.min(f(v, rate))) for v in new for f in (self.gain, self.loss))
            curves[0] = Curve("no change", "total", np.array([1.0, 1.0]), np.array([low, 1.05]))
            curves[1] = Curve("no change", "total", np.array([low, 1.05]), np.array([1.0, 1.0]))
            title = f"offered load {LOADS[rate]}"
            panels.append(Panel(title, "G: the variant's gain", "L: standard TCP's", curves, y_from_zero=False))
            parts.append(
                f"at {LOADS[rate]} "
                + ", ".join(
                    f"{LABELS[v]} G {np.median(self.gain(v, rate)):.2f}, L {np.median(self.loss(v, rate)):.2f}"
                    for v in new
                )
            )
        reading = "; ".join(parts)
        title = "§6.1: gain of a variant, and the rest for standard TCP"
        return Picture("s6-1-impact", title, f"{reading[:1].upper()}{reading[1:]}.", panels, columns=2, markers=False)

    def _impact_table(self) -> Table:
        rows = [
            {
                "load": LOADS[rate],
                "variant of B": LABELS[v],
                "bursts": words,
                "G": summarize(self.gain(v, rate, size)).text(),
                "L": summarize(self.loss(v, rate, size)).text(),
                "utilization": summarize(self.impact.queue("utilization", v, rate)).text() if not size else "",
            }
            for rate in self.impact.values(0)
            for v in self.impact.variants
            if v != BASE
            for size, words in SIZES.items()
        ]
        title = f"§6.1, gain and loss by mean size of bursts: median [95 % interval] of {self.impact.n}"
        return Table("s6-1", title, pl.DataFrame(rows))

    # ------------------------------------------------------------ 6.2

    def ratio(self, which: str, variant: str, buffer: str, delay: str) -> Floats:
        """Return the ratio of goodputs: smaller over larger (intra), second over first (inter); (n,)."""
        part: Part = getattr(self, which)
        first, second = (part.goodput(variant, buffer, delay, flow=f) for f in ("first", "second"))
        return evenness(first, second) if which == "intra" else np.asarray(second / first)

    def _ratios(self, which: str) -> Picture:
        part: Part = getattr(self, which)
        delays = part.values(1)
        x = np.array([ROUND_TRIPS[d] for d in delays], dtype=np.float64)
        panels = []
        for buffer in part.values(0):
            curves = [
                sampled(LABELS[v], v, [self.ratio(which, v, buffer, d) for d in delays], x, dots=False)
                for v in part.variants
            ]
            words = "smaller over larger" if which == "intra" else "second over first, 160 ms"
            axis = "round trip of both (ms)" if which == "intra" else "round trip of the second (ms)"
            label = f"goodput, {words}"
            title = f"buffer {BUFFERS[buffer]} of BDP"
            panels.append(Panel(title, axis, label, curves, x_log=True, y_log=which == "inter"))
        middle = part.values(0)[len(part.values(0)) // 2]
        least, most = delays[0], delays[-1]
        reading = ", ".join(
            f"{LABELS[v]} {np.median(self.ratio(which, v, middle, least)):.2f} and "
            f"{np.median(self.ratio(which, v, middle, most)):.2f}"
            for v in part.variants
        )
        title = {
            "intra": "§6.2.2.1: two flows of one variant with the same round trip",
            "inter": "§6.2.2.2: two flows of one variant, the first with 160 ms",
        }[which]
        return Picture(
            f"s6-2-{which}",
            title,
            f"Ratio at {ROUND_TRIPS[least]} and {ROUND_TRIPS[most]} ms with a buffer of {BUFFERS[middle]} of BDP: "
            f"{reading}.",
            panels,
            columns=2,
            share_y=True,
        )

    def _ratio_table(self, which: str) -> Table:
        part: Part = getattr(self, which)
        rows = [
            {
                "variant": LABELS[v],
                "buffer, of BDP": BUFFERS[buffer],
                "round trip, ms": str(ROUND_TRIPS[delay]),
                "ratio": summarize(self.ratio(which, v, buffer, delay)).text(),
                "drop rate, %": summarize(part.drop_rate(v, buffer, delay)).text(),
            }
            for v in part.variants
            for buffer in part.values(0)
            for delay in part.values(1)
        ]
        what = "smaller over larger goodput" if which == "intra" else "goodput over that of the flow with 160 ms"
        title = f"§6.2, {what}: median [95 % interval] of {part.n}"
        return Table(f"s6-2-{which}", title, pl.DataFrame(rows))

    # ------------------------------------------------------------ 6.3

    def advantage(self, variant: str, rate: str) -> Floats:
        """Return the mean throughput of the groups over one bottleneck over that of the group over three; (n,)."""
        short = np.mean([self.several.goodput(variant, rate, flow=g) for g in GROUPS], axis=0)
        return np.asarray(short / self.several.goodput(variant, rate, flow="long"))

    def _several_picture(self) -> Picture:
        data = self.several
        rates = data.values(0)
        x = np.array([LINKS[r] for r in rates], dtype=np.float64)
        panels = []
        for label, value in (
            ("throughput, one hop over three", self.advantage),
            ("drop rate of the first link (%)", data.drop_rate),
        ):
            curves = [sampled(LABELS[v], v, [value(v, r) for r in rates], x, dots=False) for v in data.variants]
            panels.append(Panel("", "offered load of each link (%)", label, curves, y_from_zero=False))
        last = rates[-1]
        reading = ", ".join(f"{LABELS[v]} {np.median(self.advantage(v, last)):.2f}" for v in data.variants)
        return Picture(
            "s6-3-several",
            "§6.3: three bottlenecks in a row",
            f"At {LINKS[last]} % ratio of the goodput over one bottleneck to that over three: {reading}.",
            panels,
            columns=2,
        )

    def _several_table(self) -> Table:
        data = self.several
        rows = [
            {
                "variant": LABELS[v],
                "load, %": str(LINKS[rate]),
                "one hop over three": summarize(self.advantage(v, rate)).text(),
                "three hops, Mbit/s": summarize(data.goodput(v, rate, flow="long")).text(),
                "drop rate, %": summarize(data.drop_rate(v, rate)).text(),
            }
            for rate in data.values(0)
            for v in data.variants
        ]
        title = f"§6.3, throughput over one bottleneck and over three: median [95 % interval] of {data.n}"
        return Table("s6-3", title, pl.DataFrame(rows))
