#!/usr/bin/env python3
"""Compare single flows with ns-3's recorded ones: window over time, goodput, mean window and queue, drops.

    python validation/ns3/ns3_compare.py                 # a table for each variant, one row a setting
    python validation/ns3/ns3_compare.py --write-docs    # and renew docs/data/ns3 and the figure

Needs no ns-3: its results are in data/. A cell is within if goodput and mean window differ by at most 10 %, the mean
queue by 10 % or one packet, and the drops by 10 % or three. The first quarter of a run isn't counted.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import polars as pl

import dumbbell
from dumbbell import Scenario
from dumbbell.report.tables import Table, write_tables
from ns3_runs import WARM_UP

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "docs" / "data" / "ns3"
FIGURE = HERE.parents[1] / "docs" / "img" / "ns3-windows.png"
MSS = 1448
SHARE = 0.1
NAMES = ("goodput", "window", "queue", "drops")
"""The compared quantities."""
SHOWN = (10.0, 40.0, 1.0, 0.0, 1.0)
"""The setting of the overlays in the figure."""
SETTINGS: dict[str, dict[str, Any]] = {
    "reno": {"slow_start_limit": 2},
    "newreno": {"increase": "ack"},
    "veno": {"increase": "ack"},
    "westwood": {"increase": "ack"},
    "lp": {"increase": "ack"},
}
"""The unit that ns-3's types count: LinuxReno counts segments, types based on NewReno count ACKs."""
VARIANTS: dict[str, Any] = {
    "reno": "sack",
    "newreno": "sack",
    "bic": {"name": "bic", "s_max": 16, "s_min": 0.8, "beta": 0.8, "b": 4},
    "scalable": {"name": "scalable", "a": 0.02},
    "hybla": {"name": "hybla", "rtt0": "50 ms"},
    "illinois": {"name": "illinois", "window_threshold": 15},
    "ledbat": {"name": "ledbat", "slow_start": True},
}
"""The parameters of ns-3 that differ from Dumbbell's. In ns-3 Reno has SACK, and LEDBAT has a slow start."""
Key = tuple[float, float, float, float, float]
"""Rate in Mbit/s, RTT in ms, buffer in BDP, loss, segments for one ACK."""

Curve = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One simulator's run.

    Attributes
    ----------
    goodput, cwnd, queue, drops : float
        Mbit/s; segments; packets, mean over the run; packets.
    curve : array
        Window in segments, one value a step.
    """

    goodput: float
    cwnd: float
    queue: float
    drops: float
    curve: Curve


@dataclass(frozen=True)
class Cell:
    """One setting on both sides."""

    variant: str
    key: Key
    step: float
    ours: Side
    theirs: Side

    @property
    def outside(self) -> list[str]:
        """The quantities outside of the rule."""
        o, t = self.ours, self.theirs
        allowed = {
            "goodput": (o.goodput, t.goodput, 0.0),
            "window": (o.cwnd, t.cwnd, 0.0),
            "queue": (o.queue, t.queue, 1.0),
            "drops": (o.drops, t.drops, 3.0),
        }
        return [name for name, (a, b, least) in allowed.items() if abs(a - b) > max(SHARE * b, least)]

    @property
    def measured(self) -> tuple[Curve, Curve]:
        """Both windows after the warm-up."""
        n = min(len(self.ours.curve), len(self.theirs.curve))
        return self.ours.curve[int(WARM_UP * n) : n], self.theirs.curve[int(WARM_UP * n) : n]

    @property
    def distance(self) -> float:
        """Mean difference of the two windows at the same time, as a share of ns-3's mean."""
        a, b = self.measured
        return float(np.abs(a - b).mean() / b.mean())

    @property
    def shape(self) -> float:
        """The same with both windows sorted by size: equal sawteeth that are not in step have no difference."""
        a, b = (np.sort(c) for c in self.measured)
        return float(np.abs(a - b).mean() / b.mean())


def scenario(variant: str, key: Key, seconds: float, packets: int) -> Scenario:
    """ns-3's network (flow.cc) with our sender: PPP adds two bytes."""
    rate, rtt, _, loss, ack_every = key
    middle = {
        "rate": f"{rate} Mbit/s",
        "delay": f"{rtt / 2 - 0.2} ms",
        "overhead": "2 bytes",
        "queue": {"limit": f"{packets} packets"},
        "loss": f"{100 * loss} %",
        "reverse": {"loss": "0 %", "queue": {"limit": "100000 packets"}},
    }
    stack: dict[str, Any] = {
        "preset": "rfc",
        "rto_min": "200 ms",
        "ack_every": int(ack_every),
        **SETTINGS.get(variant, {}),
    }
    return Scenario.from_dict(
        {
            "name": "ns3",
            "duration": f"{seconds} s",
            "measure_from": f"{WARM_UP * seconds} s",
            "repetitions": 5 if loss else 1,
            "network": {
                "bottleneck": middle,
                "access": {
                    "rate": f"{10 * rate} Mbit/s",
                    "delay": "0.1 ms",
                    "overhead": "2 bytes",
                    "queue": {"limit": "100000 packets"},
                },
            },
            "flows": [{"name": "a", "variant": VARIANTS.get(variant, variant), "stack": stack}],
            "trace": {"series": ["flows"]},
        }
    )


def ours(variant: str, key: Key, seconds: float, packets: int, step: float) -> Side:
    """Run our side; means over the repetitions, the curve of the first."""
    results = dumbbell.run(scenario(variant, key, seconds, packets))
    flows = results.flows
    queues = results.queues.filter(pl.col("name") == "r1->r2")
    series = results.series(0, "cwnd", flow="a")
    times, windows = series["time_s"].to_numpy(), series["cwnd"].to_numpy() / MSS
    at = np.searchsorted(times, np.arange(0, seconds, step), side="right") - 1
    curve = np.where(at >= 0, windows[np.maximum(at, 0)], 0.0)

    def mean(column: pl.Series) -> float:
        return float(column.to_numpy().astype(float).mean())

    return Side(
        mean(flows["goodput_bps"]) / 1e6,
        mean(flows["cwnd_mean_packets"]),
        mean(queues["mean_backlog_packets"]),
        mean(queues["drops"]),
        curve,
    )


def recorded() -> dict[tuple[str, Key], tuple[float, int, float, Side]]:
    """ns-3's runs: seconds, queue limit, step of the curve, results."""
    curves = {}
    names = ("rate_mbps", "rtt_ms", "buffer_bdp", "loss", "ack_every")

    def key_of(row: dict[str, str]) -> tuple[str, Key]:
        rate, rtt, buffer, loss, ack_every = (float(row[n]) for n in names)
        return row["variant"], (rate, rtt, buffer, loss, ack_every)

    with (HERE / "data" / "curves.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            curves[key_of(row)] = (float(row["step_s"]), np.array([float(w) for w in row["windows"].split()]))
    found = {}
    with (HERE / "data" / "flows.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            step, curve = curves[key_of(row)]
            cwnd, queue, drops = (float(row[n]) for n in ("mean_cwnd", "mean_queue", "drops"))
            side = Side(float(row["goodput_bps"]) / 1e6, cwnd, queue, drops, curve)
            found[key_of(row)] = (float(row["seconds"]), int(row["queue_packets"]), step, side)
    return found


def cells(variants: list[str] | None = None) -> list[Cell]:
    """Every setting on both sides."""
    return [
        Cell(variant, key, step, ours(variant, key, seconds, packets, step), side)
        for (variant, key), (seconds, packets, step, side) in recorded().items()
        if variants is None or variant in variants
    ]


def setting(key: Key) -> str:
    """A setting in words."""
    rate, rtt, buffer, loss, ack_every = key
    path = f"{rate:g} Mbit/s, {rtt:g} ms, {buffer:g} BDP"
    return path + (f", loss {100 * loss:g} %" if loss else "") + (", delayed ACKs" if ack_every > 1 else "")


def table(found: list[Cell]) -> Table:
    """One row per setting."""
    rows = []
    for c in found:
        pairs = [(getattr(c.ours, n), getattr(c.theirs, n)) for n in ("goodput", "cwnd", "queue", "drops")]
        numbers = [f"{value:.4g}" for pair in pairs for value in pair]
        ends = [f"{c.distance:.2f}", f"{c.shape:.2f}", ", ".join(c.outside)]
        rows.append([c.variant, setting(c.key), *numbers, *ends])
    head = [title for name in NAMES for title in (name, f"{name}, ns-3")]
    return Table(["variant", "setting", *head, "curve", "shape", "beyond"], rows)


def summary(found: list[Cell]) -> Table:
    """One row per variant: settings within the rule, by quantity; medians of the curves' distances."""
    rows = []
    for variant in dict.fromkeys(c.variant for c in found):
        own = [c for c in found if c.variant == variant]
        within = [sum(name not in c.outside for c in own) for name in NAMES]
        counts = [len(own), sum(not c.outside for c in own), *within]
        curves = [float(np.median([getattr(c, n) for c in own])) for n in ("distance", "shape")]
        rows.append([variant, *(str(n) for n in counts), *(f"{value:.2f}" for value in curves)])
    return Table(["variant", "settings", "all four", *NAMES, "curve", "shape"], rows)


def figure(found: list[Cell]) -> None:
    """Windows over time, both simulators, one panel a variant."""
    shown = [c for c in found if c.key == SHOWN]
    fig, axes = plt.subplots(4, 4, figsize=(12, 9), sharex=True, constrained_layout=True)
    for ax, c in zip(axes.flat, shown, strict=False):
        ax.plot(np.arange(len(c.theirs.curve)) * c.step, c.theirs.curve, color="0.6", label="ns-3.37")
        ax.plot(np.arange(len(c.ours.curve)) * c.step, c.ours.curve, color="C0", linewidth=1, label="Dumbbell")
        ax.set_title(f"{c.variant}: {c.distance:.2f}, shape {c.shape:.2f}", fontsize=9)
        ax.set_ylim(0, 160)
        ax.grid(alpha=0.3)
    axes[0, 0].legend(fontsize=8)
    fig.suptitle(f"Window (segments) over time (s): {setting(SHOWN)}", fontsize=11)
    fig.savefig(FIGURE, dpi=90, metadata={"Software": None})


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="VARIANT", help="this variant only (may be repeated)")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/ns3 and the figure")
    options = parser.parse_args()
    found = cells(options.only)
    print(table(found).markdown(), summary(found).markdown(), sep="\n\n")
    if options.write_docs and not options.only:
        write_tables(DATA, {"summary": summary(found), "settings": table(found)})
        figure(found)


if __name__ == "__main__":
    main()
