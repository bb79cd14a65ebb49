"""The settings that the report leaves out of experiment 1, fitted to its printed CBR rates.

The report prints no throughput, latency or drop rate, only three places on the axis of the CBR rate: throughput falls
beyond 7.2 Mbit/s, latency and drop rate are alike up to 7.5 Mbit/s and rise then. The error of a setting is the mean
distance of its own three places from these, over the four variants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell import _core, registry
from dumbbell.metrics import knee
from dumbbell.plots.spec import Grid, Panel, Picture
from dumbbell.report.finding import Note, Table
from dumbbell.results import Results
from dumbbell.scenario import Scenario
from dumbbell.studies.cells import Cells
from dumbbell.studies.ns2_cbr.data import METRICS, RATE, mbps
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["REPORTED", "Fit", "Setting", "fit_note", "fit_picture", "fit_sentence", "fit_table", "rise", "used_setting"]

REPORTED = {"throughput": 7.2, "latency": 7.5, "drop rate": 7.5}
"""The printed CBR rates, Mbit/s, from which throughput falls, latency and drop rate rise [4 Result]."""
LEVEL_UNTIL = 5.0
"""CBR rate up to which a curve is taken to be on its level, Mbit/s: half the link."""
CHANGE = 0.1
"""Change of throughput and latency, as a part of the level, that a printed curve shows."""
DROPS = 0.5
"""Drop rate that a printed curve shows, %; as in the claim exp1-drops-alike."""
NEAR = 0.5
"""Error up to which the printed rates allow a setting, Mbit/s: half of the report's step."""
CONGESTED = (8.0, 9.0, 10.0)
"""The report's CBR rates past its knee, Mbit/s."""
QUEUE, CBR, STACK, VARIANT = (
    "network.bottleneck.queue.limit", "flows.cbr.application.packet", "flows.tcp.stack", "flows.tcp.variant",
)  # fmt: skip
BEST = {"throughput": 1, "latency": -1, "drop rate": -1}
"""Sign with which the largest value is the best one."""


class Setting(NamedTuple):
    """One setting: window and queue in packets, sizes of the packets of TCP and CBR in bytes."""

    window: int
    packet: int
    cbr: int
    queue: int

    @property
    def words(self) -> str:
        """All of it in words."""
        return (
            f"a window of {self.window} packets of {self.packet} bytes, CBR packets of {self.cbr} bytes, a queue of "
            f"{self.queue} packets"
        )


def rise(x: npt.ArrayLike, y: npt.ArrayLike, threshold: float) -> float:
    """Find where a curve rises above a threshold for good.

    Parameters
    ----------
    x : (n,) float64, any unit
        Increasing.
    y : (n,) float64, any unit
    threshold : float, the unit of `y`

    Returns
    -------
    float, the unit of `x`
        Interpolated between the points beside the last crossing; the first x if all points lie above, NaN if the last
        one doesn't.
    """
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    below = np.flatnonzero(ys <= threshold)
    if not below.size:
        return float(xs[0])
    last = int(below[-1])
    if last == xs.size - 1:
        return float("nan")
    part = (threshold - ys[last]) / (ys[last + 1] - ys[last])
    return float(xs[last] + part * (xs[last + 1] - xs[last]))


def used_setting(scenario: Scenario) -> Setting:
    """Read the setting of an experiment that doesn't sweep it."""
    tcp, cbr = ({f["name"]: f for f in scenario.to_dict()["flows"]}[name] for name in ("tcp", "cbr"))
    limit = scenario.to_dict()["network"]["bottleneck"]["queue"]["limit"]
    return setting_of({STACK: tcp["stack"], CBR: cbr["application"]["packet"], QUEUE: limit})


def setting_of(cell: Mapping[str, Any]) -> Setting:
    """Read a setting from the swept values of a cell."""
    stack = cell[STACK]
    given = stack if isinstance(stack, Mapping) else {"preset": str(stack)}
    return Setting(
        int(_core.parse("packets", str(given.get("window", _default(given, "window"))))),
        _bytes(str(given.get("mss", _default(given, "mss")))),
        _bytes(str(cell[CBR])),
        int(_core.parse("packets", str(cell[QUEUE]))),
    )


def _bytes(text: str) -> int:
    return int(_core.parse("bytes", text))


def _default(given: Mapping[str, Any], name: str) -> str:
    return str(next(p.default for p in registry.stack(str(given["preset"])).params if p.name == name))


class Fit:
    """The sweep, with the error of each setting.

    Parameters
    ----------
    results : Results
    used : Setting
        The setting of the experiment by which the claims are judged.

    Attributes
    ----------
    rates : (m,) float64, Mbit/s
    variants : tuple of str
        Those of the report that were run: a real kernel has no Tahoe.
    n : int
        Repetitions.
    """

    def __init__(self, results: Results, used: Setting) -> None:
        names = {run.index: setting_of(run.cell) for run in results.runs}
        flows = mbps(results.flows).filter(pl.col("name") == "tcp")
        settings = list(dict.fromkeys(names.values()))
        number = {run: settings.index(s) for run, s in names.items()}
        flows = flows.with_columns(pl.col("run").replace_strict(number, return_dtype=pl.Int64).alias("setting"))
        self._cells = Cells(flows, ["setting", VARIANT, RATE])
        self._order = settings
        self.rates = np.array(sorted(flows[RATE].unique()))
        self.variants = tuple(v for v in LABELS if v in set(flows[VARIANT]))
        self.n = results.scenario.repetitions
        self.used = used

    def curve(self, setting: Setting, metric: str, variant: str) -> Floats:
        """Return the medians of a metric by CBR rate; (m,) float64, NaN where no packet was acknowledged."""
        column, factor, _unit = METRICS[metric]
        key = self._order.index(setting)
        rows = [self._cells.get(column, key, variant, float(r)) for r in self.rates]
        return np.array([factor * float(np.median(x[~np.isnan(x)])) if (~np.isnan(x)).any() else np.nan for x in rows])

    def place(self, setting: Setting, metric: str, variant: str) -> float:
        """Return the CBR rate from which a curve falls or rises, Mbit/s; the largest rate if it never does."""
        y = self.curve(setting, metric, variant)
        if metric == "drop rate":
            found = rise(self.rates, y, DROPS)
        else:
            level = y if metric == "throughput" else 1 / y
            fall = CHANGE if metric == "throughput" else CHANGE / (1 + CHANGE)
            found = knee(self.rates, level, level_until=LEVEL_UNTIL, fall=fall)
        return float(self.rates[-1]) if np.isnan(found) else found

    def places(self, setting: Setting) -> dict[str, float]:
        """Return the mean place over the variants by metric, Mbit/s."""
        return {m: float(np.mean([self.place(setting, m, v) for v in self.variants])) for m in REPORTED}

    @cached_property
    def errors(self) -> dict[Setting, float]:
        """The mean distance from the report's places by setting, Mbit/s, the smallest first."""
        found = {
            s: float(np.mean([abs(self.place(s, m, v) - r) for m, r in REPORTED.items() for v in self.variants]))
            for s in self._order
        }
        return dict(sorted(found.items(), key=lambda item: item[1]))

    @property
    def best(self) -> Setting:
        """The setting with the smallest error."""
        return next(iter(self.errors))

    @property
    def rank(self) -> int | None:
        """The place of the used setting, from 1; None if it wasn't run."""
        return list(self.errors).index(self.used) + 1 if self.used in self.errors else None

    def firsts(self, setting: Setting) -> list[str]:
        """Return the metrics in which Vegas is best in the mean over the congested rates."""
        chosen = np.isin(self.rates, CONGESTED)
        found = []
        for metric, sign in BEST.items():
            means = {v: sign * float(np.nanmean(self.curve(setting, metric, v)[chosen])) for v in self.variants}
            if max(means, key=lambda v: means[v]) == "vegas":
                found.append(metric)
        return found


def fit_table(fit: Fit) -> Table:
    """List every setting with its error and its three places, the best first."""
    rows = []
    for setting, error in fit.errors.items():
        mark = " *" if setting == fit.best else ""
        row = {
            "window (packets)": f"{setting.window}",
            "TCP packet (bytes)": f"{setting.packet}",
            "CBR packet (bytes)": f"{setting.cbr}",
            "queue (packets)": f"{setting.queue}",
            "error (Mbit/s)": f"{error:.2f}{mark}",
        }
        places = fit.places(setting)
        row |= {f"{m}: CBR rate (report {r:g})": f"{places[m]:.2f}" for m, r in REPORTED.items()}
        rows.append({**row, "Vegas is best in": ", ".join(fit.firsts(setting)) or "none"})
    title = (
        "Fit of the settings that the report leaves out of experiment 1: mean distance of the CBR rates (Mbit/s) "
        "from "
        f"which throughput falls, latency and drop rate rise; medians of {fit.n} repetitions. *: the best fit"
    )
    return Table("fit", title, pl.DataFrame(rows))


def fit_sentence(fit: Fit) -> str:
    """State the best fit in one sentence."""
    return (
        f"The best fit of the settings that the report leaves out of experiment 1 is {fit.best.words}: "
        f"{fit.errors[fit.best]:.2f} Mbit/s from its three printed CBR rates in the mean."
    )


def fit_note(fit: Fit) -> Note:
    """State the best setting, its error and the rank of the one that the claims use."""
    worst = next(reversed(fit.errors))
    places = fit.places(fit.best)
    listed = ", ".join(f"{m} {places[m]:.2f} (report {r:g})" for m, r in REPORTED.items())
    if fit.rank is None:
        used = f"The claims are judged with {fit.used.words}, which this sweep doesn't have"
    elif fit.rank == 1:
        used = "The claims are judged with it"
    else:
        used = (
            f"The claims are judged with number {fit.rank} ({fit.used.words}), which has "
            f"{fit.errors[fit.used]:.2f} Mbit/s"
        )
    count = len(fit.errors)
    three = sum(len(fit.firsts(s)) == len(BEST) for s in fit.errors)
    near = [s for s, error in fit.errors.items() if error <= NEAR and s.queue == fit.used.queue]
    best = ", ".join(fit.firsts(fit.best)) or "none of the three"
    return Note(
        f"The best fit to the printed CBR rates: {fit.best.words}",
        f"The report states neither the TCP window of experiment 1 nor the sizes of packets, and calls the limit of "
        f"the queue an estimation. Over {count} settings the mean distance from its three printed CBR rates is "
        f"{fit.errors[fit.best]:.2f} to {fit.errors[worst]:.2f} Mbit/s. With the best fit the places are, in Mbit/s: "
        f"{listed}. {used}. {len(near)} settings with the stated queue have at most {NEAR:g} Mbit/s, half of the "
        f"report's step: the claims are judged at each of these. The best fit predicts that Vegas is best in: {best}; "
        f"at {three} of {count} settings Vegas is best in "
        "all three.",
    )


def fit_picture(fit: Fit) -> Picture:
    """Draw the error of each setting: a panel for each queue and CBR packet."""
    windows, packets, pairs = (
        sorted({s.window for s in fit.errors}),
        sorted({s.packet for s in fit.errors}),
        sorted({(s.queue, s.cbr) for s in fit.errors}),
    )
    most = float(np.median(list(fit.errors.values())))
    panels = []
    for queue, cbr in pairs:
        values = np.array([[fit.errors.get(Setting(w, p, cbr, queue), np.nan) for p in packets] for w in windows])
        texts = [[f"{x:.2f}" for x in line] for line in values]
        grid = Grid(_texts(windows), _texts(packets), values, texts, "error (Mbit/s)", low=0.0, high=most)
        title = f"queue of {queue} packets, CBR packets of {cbr} bytes"
        panels.append(Panel(title, "TCP packet (bytes)", "window (packets)", [], grid=grid))
    reading = (
        f"Nearest to the printed CBR rates: {fit.best.words}, {fit.errors[fit.best]:.2f} Mbit/s in the mean. Half "
        f"of all "
        f"{len(fit.errors)} settings exceed {most:.2f}, where the color ends."
    )
    title = "The settings that the report leaves out: error against its printed CBR rates"
    return Picture("extra0-fit", title, reading, panels, columns=2)


def _texts(values: Sequence[int]) -> list[str]:
    return [str(v) for v in values]
