"""Figures 7 to 12 of the report: how pairs of flows share, and their drop rates."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import jain, shares
from dumbbell.plots import Panel, Picture, sampled
from dumbbell.studies.ns2_cbr.data import Experiment2
from dumbbell.studies.ns2_cbr.figures_exp1 import AXES, CBR_AXIS
from dumbbell.studies.shared import LABELS

__all__ = ["PAIRS", "pictures"]

PAIRS = {
    ("reno", "reno"): "fig07-reno-reno",
    ("vegas", "vegas"): "fig08-vegas-vegas",
    ("newreno", "reno"): "fig09-newreno-reno",
    ("newreno", "vegas"): "fig11-newreno-vegas",
}
"""The four pairs, in the order of the report, and their files."""
DROPS = {("newreno", "reno"): "fig10-newreno-reno-drops", ("newreno", "vegas"): "fig12-newreno-vegas-drops"}
"""The pairs of which the report draws the drop rate."""


def pictures(data: Experiment2) -> list[Picture]:
    """Draw experiment 2."""
    shared = [_pair(data, a, b, name) for (a, b), name in PAIRS.items()]
    drops = [_drops(data, a, b, name) for (a, b), name in DROPS.items()]
    return sorted([*shared, *drops], key=lambda picture: picture.name)


def _drops(data: Experiment2, a: str, b: str, name: str) -> Picture:
    both = data.both(a, b, metric="drop rate")
    curves = [sampled(LABELS[v], v, x, data.rates) for v, x in zip((a, b), both, strict=True)]
    last = {v: float(np.median(x[-1])) for v, x in zip((a, b), both, strict=True)}
    reading = (
        f"At CBR {data.rates[-1]:g} Mbit/s {LABELS[a]} loses {last[a]:.1f} % of its packets, {LABELS[b]} "
        f"{last[b]:.1f} %."
    )
    return Picture(
        name,
        f"Figure {int(name[3:5])}: drop rate of {LABELS[a]} and {LABELS[b]} side by side against CBR",
        reading,
        [Panel("drop rate of each flow", CBR_AXIS, AXES["drop rate"], curves)],
    )


def _pair(data: Experiment2, a: str, b: str, name: str) -> Picture:
    first, second = data.both(a, b)
    share = 100 * shares(np.stack([first, second], axis=-1))[..., 0]
    same = a == b
    names = (f"first {LABELS[a]}", f"second {LABELS[b]}") if same else (LABELS[a], LABELS[b])
    looks = (a, f"{b}:2" if same else b)
    throughput = Panel(
        "throughput of each flow",
        CBR_AXIS,
        AXES["throughput"],
        [sampled(n, look, x, data.rates) for n, look, x in zip(names, looks, (first, second), strict=True)],
    )
    part = Panel(
        f"share of {names[0]} in their sum, each run a dot",
        CBR_AXIS,
        "share (%)",
        [sampled(f"share of {names[0]}", "total", share, data.rates)],
        y_top=100.0,
    )
    number = int(name[3:5])
    return Picture(
        name,
        f"Figure {number}: {LABELS[a]} and {LABELS[b]} side by side against CBR",
        _reading(data, a, b, names),
        [throughput, part],
        columns=2,
    )


def _reading(data: Experiment2, a: str, b: str, names: tuple[str, str]) -> str:
    first, second = data.both(a, b)
    hot = data.contested(a, b)
    if not hot.any():
        return "The flows never contend."
    both = np.stack([first[hot], second[hot]], axis=-1)
    runs = 100 * shares(both)[..., 0]
    together = 100 * float(np.median(shares(both.mean(axis=0))[..., 0]))
    index = np.median(jain(np.stack([first, second], axis=-1)), axis=1)
    where = int(index.argmin())
    return (
        f"From CBR {data.rates[hot][0]:g} Mbit/s on the two contend: {names[0]} then gets {together:.0f} % of "
        f"their sum, {runs.min():.0f} to {runs.max():.0f} % in single runs; Jain's index is lowest at "
        f"{data.rates[where]:g} Mbit/s (median {index[where]:.3f})."
    )
