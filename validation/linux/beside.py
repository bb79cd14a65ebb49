#!/usr/bin/env python3
"""Compare the stack presets `linux-tuned` and `linux` with the kernel's stored results (cases.jsonl).

python validation/linux/beside.py                 # table on the terminal, the furthest first
python validation/linux/beside.py --write-docs    # and renew docs/data/linux, docs/data/fairness/linux.csv

The kernel's side is measured again with `dumbbell validate --store validation/linux` (an hour; needs the kernel that
`dumbbell kernel build` makes).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from dumbbell.backends import Simulator
from dumbbell.common.processors import cores
from dumbbell.kernel.validate import Case, Comparison, Measured, compare, load, measure
from dumbbell.kernel.validate.deviations import Difference
from dumbbell.kernel.validate.figures import FIGURES
from dumbbell.plan.build import build
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.plots.draw import draw
from dumbbell.report.tables import OUTSIDE, Table, write_tables

Floats = npt.NDArray[np.float64]

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[1] / "docs"
DATA = DOCS / "data"
SHOWN = {
    "goodput_bps": "goodput",
    "cwnd_mean_packets": "cwnd",
    "srtt_mean_ms": "srtt",
    "retransmitted_packets": "retransmitted",
}
PERCENT = [f"{title} (%)" for title in SHOWN.values()]
OVERLAYS = (
    "single/reno/10M40/1bdp",
    "single/cubic/10M40/1bdp",
    "single/bbr/10M40/1bdp",
    "single/htcp/10M40/1bdp",
    "single/illinois/10M40/4bdp",
    "single/westwood/10M40/4bdp",
    "single/cubic/1M100/4bdp",
    "single/reno/100M20/4bdp",
    "single/westwood/1M100/0.25bdp",
)
"""Cases whose curves the page shows: of each kind one that agrees, and at the end one that doesn't."""


@dataclass(frozen=True)
class Side:
    """The results of all comparisons."""

    sim: dict[str, Measured]
    kernel: dict[str, Measured]
    rows: list[Comparison]
    near: list[Ensemble]
    shares: list[Share]


def both() -> Side:
    """Run every stored case in the simulator."""
    held = load(HERE)
    kernel = {case.name: measured for case, measured in held}
    sim = measure([case for case, _ in held], Simulator(), jobs=cores())
    rows = [c for case, measured in held for c in compare(case.name, sim[case.name], measured)]
    rows = [c for c in rows if "cwnd_mean_packets" in c.differences]
    single = [c for c in rows if not c.case.startswith(("near/", "shares/"))]
    return Side(sim, kernel, single, ensembles(rows), shares(held, sim))


def apart(c: Comparison) -> float:
    """Return how far a flow is outside, in multiples of the tolerance; 0: it is within."""
    return max((abs(c.differences[f].relative) / FIGURES[f].tolerance for f in c.outside), default=0.0)


def percent(c: Comparison, figure: str) -> str:
    """Write a difference; empty if it isn't defined."""
    d = c.differences.get(figure)
    return "" if d is None or not np.isfinite(d.relative) else f"{100 * d.relative:+.1f}"


def marked(outside: Sequence[str]) -> str:
    """Write the titles of the figures that are outside of their tolerance."""
    return "; ".join(f"{title} (%)" for figure, title in SHOWN.items() if figure in outside)


def line(c: Comparison) -> list[str]:
    """Write a row of the table of flows."""
    cwnd, resent = c.differences["cwnd_mean_packets"], c.differences["retransmitted_packets"]
    return [
        c.case,
        c.flow,
        *(percent(c, f) for f in SHOWN),
        *(f"{value:.1f}" for value in (cwnd.sim, cwnd.kernel)),
        *(f"{value:.0f}" for value in (resent.sim, resent.kernel)),
        marked(c.outside),
    ]


def table(rows: Sequence[Comparison]) -> Table:
    """Write the table of flows, the furthest first."""
    head = ["case", "flow", *PERCENT, "cwnd", "cwnd, Linux", "retransmitted", "retransmitted, Linux", OUTSIDE]
    return Table(head, [line(c) for c in sorted(rows, key=lambda c: (-apart(c), c.case, c.flow))])


@dataclass(frozen=True)
class Ensemble:
    """One flow of nearly the same cases: each figure's means, and how much the runs differ.

    Attributes
    ----------
    differences : dict of figure to Difference
        Of the means; its spread is the standard error of their difference.
    spreads : dict of figure to (float, float)
        Standard deviation of a run in parts of its mean, simulator and kernel.
    """

    case: str
    differences: dict[str, Difference]
    spreads: dict[str, tuple[float, float]]

    @property
    def outside(self) -> list[str]:
        """The figures whose means differ by more than the tolerance and two standard errors."""
        return [name for name, d in self.differences.items() if not d.within]


def ensembles(rows: Sequence[Comparison]) -> list[Ensemble]:
    """Put the cases of the group ``near`` together that differ in the last part of their name only."""
    groups: dict[str, list[Comparison]] = {}
    for c in rows:
        if c.case.startswith("near/"):
            groups.setdefault(c.case.rsplit("/", 1)[0], []).append(c)
    found = []
    for case, group in groups.items():
        differences, spreads = {}, {}
        for figure in SHOWN:
            sim = np.array([c.differences[figure].sim for c in group])
            kernel = np.array([c.differences[figure].kernel for c in group])
            error = float(np.sqrt((sim.var(ddof=1) + kernel.var(ddof=1)) / len(group)))
            differences[figure] = Difference(figure, float(sim.mean()), float(kernel.mean()), error)
            spreads[figure] = (
                float(sim.std(ddof=1) / max(sim.mean(), 1e-9)),
                float(kernel.std(ddof=1) / max(kernel.mean(), 1e-9)),
            )
        found.append(Ensemble(case, differences, spreads))
    return found


def sensitive(found: Sequence[Ensemble]) -> Table:
    """Write the table of ensembles: differences of means, and how far single runs of each side vary."""
    rows = []
    for e in sorted(found, key=lambda e: (not e.outside, e.case)):
        cells = [e.case.removeprefix("near/")]
        cells += [f"{100 * e.differences[figure].relative:+.1f}" for figure in SHOWN]
        for figure in ("cwnd_mean_packets", "retransmitted_packets"):
            cells += [f"{100 * side:.1f}" for side in e.spreads[figure]]
        rows.append([*cells, marked(e.outside)])
    spreads = ["spread of cwnd (%)", "of cwnd, Linux (%)", "of retransmitted (%)", "of retransmitted, Linux (%)"]
    return Table(["cell", *PERCENT, *spreads, OUTSIDE], rows)


PART = 0.05
"""How far shares may be apart, in parts of the bottleneck's rate: 0.5 of 10 Mbit/s."""
RESENT = "retransmitted_packets"


@dataclass(frozen=True)
class Share:
    """The goodput of one of several flows, over many runs of each side.

    Attributes
    ----------
    rate_bps : float
        Of the bottleneck.
    goodput, resent : (array, array)
        Run by run, simulator and kernel; bit/s and packets.
    """

    case: str
    flow: str
    variant: str
    rate_bps: float
    goodput: tuple[Floats, Floats]
    resent: tuple[Floats, Floats]

    @property
    def apart(self) -> float:
        """Difference of the mean goodputs in parts of the rate."""
        sim, kernel = self.goodput
        return float(sim.mean() - kernel.mean()) / self.rate_bps

    @property
    def outside(self) -> list[str]:
        """Figures whose means differ by more than the tolerance and two standard errors of the difference."""
        found = []
        if abs(self.apart) * self.rate_bps > max(PART * self.rate_bps, 2 * standard_error(*self.goodput)):
            found.append("goodput_bps")
        sim, kernel = self.resent
        difference = Difference(RESENT, float(sim.mean()), float(kernel.mean()), standard_error(sim, kernel))
        return found if difference.within else [*found, RESENT]


def standard_error(sim: Floats, kernel: Floats) -> float:
    """Return the standard error of the difference of two means."""
    return float(np.sqrt(sim.var(ddof=1) / len(sim) + kernel.var(ddof=1) / len(kernel)))


def shares(held: Sequence[tuple[Case, Measured]], sim: dict[str, Measured]) -> list[Share]:
    """Pair the goodput of each flow of the group ``shares`` with its goodput on the kernel."""
    found = []
    for case, kernel in held:
        if not case.name.startswith("shares/"):
            continue
        rate = min(link["rate_bps"] for link in build(case.scenario.cells[0].scenario)["links"])
        for ours, theirs in zip(sim[case.name].flows, kernel.flows, strict=True):
            goodput, resent = ((ours.values(f), theirs.values(f)) for f in ("goodput_bps", RESENT))
            found.append(Share(case.name, theirs.name, theirs.variant, rate, goodput, resent))
    return found


def shared(found: Sequence[Share]) -> Table:
    """Write the table of shares: mean and standard deviation of a run."""
    difference, resent = "difference, % of the rate", "retransmitted"
    titles = {"goodput_bps": difference, RESENT: resent}
    rows = []
    for s in found:
        cells = [s.case.removeprefix("shares/"), s.flow, s.variant]
        for side in s.goodput:
            cells += [f"{side.mean() / 1e6:.2f}", f"{side.std(ddof=1) / 1e6:.2f}"]
        cells.append(f"{100 * s.apart:+.1f}")
        for side in s.resent:
            cells += [f"{side.mean():.0f}", f"{side.std(ddof=1):.0f}"]
        rows.append([*cells, "; ".join(titles[figure] for figure in s.outside)])
    head = ["cell", "flow", "variant", "goodput (Mbit/s)", "goodput (Mbit/s) ±", "Linux (Mbit/s)", "Linux (Mbit/s) ±"]
    resents = [resent, f"{resent} ±", "retransmitted, Linux", "retransmitted, Linux ±"]
    return Table([*head, difference, *resents, OUTSIDE], rows)


def summary(rows: Sequence[Comparison]) -> Table:
    """Count the flows that are within, by group and by variant of the single flows."""
    lines = []
    groups: dict[str, list[Comparison]] = {}
    for c in rows:
        groups.setdefault(c.case.split("/")[0], []).append(c)
    for c in rows:
        if c.case.startswith("single/"):
            groups.setdefault(f"single, {c.variant}", []).append(c)
    for name, group in groups.items():
        cwnd = [abs(c.differences["cwnd_mean_packets"].relative) for c in group]
        within = sum(not c.outside for c in group)
        lines.append([name, str(len(group)), str(within), f"{100 * float(np.median(cwnd)):.2f}"])
    lines.append(["all", str(len(rows)), str(sum(not c.outside for c in rows)), ""])
    return Table(["group", "flows", "within", "median difference of cwnd (%)"], lines)


def pairs(rows: Sequence[Comparison]) -> Table:
    """Write the pairs of the group ``fair``: goodput of first and second on both sides."""
    cells: dict[tuple[str, str], dict[str, Difference]] = {}
    for c in rows:
        group, _, case = c.case.partition("/")
        if group == "fair":
            first, _, second = case.partition(",")
            cells.setdefault((first, second), {})[c.flow] = c.differences["goodput_bps"]
    names = list(dict.fromkeys(first for first, _ in cells))
    lines = []
    for first in names:
        for second in names:
            a, b = (cells[first, second][flow] for flow in ("first", "second"))
            lines.append([first, second, *(f"{value / 1e6:.0f}" for value in (a.sim, b.sim, a.kernel, b.kernel))])
    flows = ("first (Mbit/s)", "second (Mbit/s)", "first on Linux (Mbit/s)", "second on Linux (Mbit/s)")
    return Table(["first", "second", *flows], lines)


def picture(side: Side) -> Picture:
    """Make a figure with both sides' curves of some cases."""
    panels = []
    for name in OVERLAYS:
        ours, theirs = side.sim[name].flows[0].thinned(5), side.kernel[name].flows[0]
        curves = [
            Curve(label, look, flow.step_s * (np.arange(len(flow.cwnd), dtype=np.float64) + 0.5), flow.cwnd)
            for label, look, flow in (("simulator", ours.variant, ours), ("kernel", "kernel", theirs))
        ]
        panels.append(Panel(name.removeprefix("single/"), "time (s)", "cwnd (segments)", curves))
    return Picture(
        "validation-linux-cwnd", "cwnd over time, kernel and simulator", "", panels, columns=3, markers=False
    )


def write_docs(side: Side) -> None:
    """Write each table, and draw the figure."""
    tables = {"summary": summary(side.rows), "flows": table(side.rows), "sensitive": sensitive(side.near)}
    tables["shares"] = shared(side.shares)
    write_tables(DATA / "linux", tables)
    write_tables(DATA / "fairness", {"linux": pairs(side.rows)})
    draw(picture(side)).savefig(DOCS / "img" / "validation-linux-cwnd.png", dpi=80, metadata={"Software": None})


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--write-docs", action="store_true", help="renew docs/data/linux and docs/data/fairness/linux.csv"
    )
    options = parser.parse_args()
    side = both()
    found = (table(side.rows), summary(side.rows), sensitive(side.near), shared(side.shares))
    print("\n\n".join(t.markdown() for t in found))
    if options.write_docs:
        write_docs(side)


if __name__ == "__main__":
    main()
