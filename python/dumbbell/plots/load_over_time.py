"""The figure of a load in both directions: downloads, uploads and round-trip times on one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of, mean_per_window, rate_per_window
from dumbbell.plots.flows_over_time import MOST, WINDOWS, span_of, title_of
from dumbbell.plots.spec import Curve, Panel, Picture
from dumbbell.plots.style import distinct
from dumbbell.registry import unknown

if TYPE_CHECKING:
    from dumbbell.plots.spec import Floats
    from dumbbell.results import Results, Run

__all__ = ["load"]

SCALED = 95.0
"""Percentile of the values that sets the upper end of an axis, so that single peaks don't."""
MARGIN = 1.25
"""Upper end of an axis / that percentile."""
BRIDGED = 2.5
"""Longest time between two replies over which a curve continues / its median: the windows are shorter than a ping's
interval, and one lost reply is no gap."""


def _downloads(results: Results, run: Run) -> dict[str, bool]:
    """Return the flows; True for one from the right to the left, or from a preset's server to its client."""
    cell = next(cell for cell in results.scenario.cells if cell.values == run.cell).scenario
    client = cell.preset.client if cell.preset is not None else None
    return {f.name: f.to == client if client is not None else f.direction == "reverse" for f in cell.flows}


def _bridged(y: Floats, middle: Floats, when: Floats) -> Floats:
    """Fill the windows between two successive replies, linearly; where replies are missing, gaps remain."""
    known = np.isfinite(y)
    if known.sum() < 2:
        return y
    ordered = np.sort(when)
    after = np.searchsorted(ordered, middle)
    inside = (after > 0) & (after < ordered.size)
    apart = np.full(middle.shape, np.inf)
    apart[inside] = ordered[after[inside]] - ordered[after[inside] - 1]
    usual = apart <= BRIDGED * np.median(np.diff(ordered))
    return np.where(usual & ~known, np.interp(middle, middle[known], y[known]), y)


def _panel(unit: str, curves: list[Curve], middle: Floats, span: tuple[float, float], *, common: bool) -> Panel:
    """Return a panel with the mean of its curves; `common`: only where all of them have values."""
    values = np.array([curve.y for curve in curves])
    known = values[np.isfinite(values)]
    some = np.isfinite(values).all(axis=0) if common else np.isfinite(values).any(axis=0)
    mean = np.full(middle.shape, np.nan)
    mean[some] = np.nanmean(values[:, some], axis=0)
    top = float(np.percentile(known, SCALED)) * MARGIN if known.size else 0.0
    shown = [*curves[:MOST], *([Curve("mean", "total", middle, mean)] if len(curves) > 1 else [])]
    return Panel("", "time, s", unit, shown, x_range=span, height=0.7, y_top=top or None)


def load(results: Results, run: Run, *, flow: Sequence[str] | None = None, window_s: float | None = None) -> Picture:
    """Draw the goodput of downloads and uploads and the RTTs of pings on one time axis (flent's all_scaled)."""
    downloads = _downloads(results, run)
    tables = set(results.tables(run))
    for name in flow or ():
        if name not in downloads:
            raise ResultsError(unknown("flow", name, list(downloads)))
    names = [name for name in flow or downloads if {f"flow/{name}", f"ping/{name}"} & tables]
    if not names:
        raise ResultsError("no series of flows or pings were kept: set trace.series = true (--trace)")
    begin, end = span = span_of(results, run)
    edges = edges_of(begin, end, window_s or (end - begin) / WINDOWS)
    middle = (edges[:-1] + edges[1:]) / 2
    groups: dict[str, list[str]] = {"download": [], "upload": [], "ping": []}
    for name in names:
        kind = "ping" if f"ping/{name}" in tables else "download" if downloads[name] else "upload"
        groups[kind].append(name)
    most = max(map(len, groups.values()))
    looks = distinct([f"load {n}" for n in range(most)])
    curves: dict[str, list[Curve]] = {kind: [] for kind in groups}
    for kind, members in groups.items():
        for name, style in zip(members, looks, strict=False):
            if kind == "ping":
                table = results.table(run, f"ping/{name}")
                when = table["t_ns"].to_numpy() * 1e-9
                y = _bridged(mean_per_window(when, table["rtt_ns"].to_numpy() * 1e-6, edges), middle, when)
            else:
                table = results.table(run, f"flow/{name}")
                y = rate_per_window(table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), edges) * 1e-6
            curves[kind].append(Curve(name, style, middle, y))
    units = {"download": "download, Mbit/s", "upload": "upload, Mbit/s", "ping": "RTT, ms"}
    panels = [_panel(units[kind], curves[kind], middle, span, common=kind == "ping") for kind in groups if curves[kind]]
    rows = {row["name"]: row for row in run.flows}
    sums = {k: sum(rows[n]["goodput_bps"] for n in groups[k]) * 1e-6 for k in ("download", "upload") if groups[k]}
    pings = [rows[n]["rtt_p50_ms"] for n in groups["ping"] if rows[n]["rtt_p50_ms"] is not None]
    parts = [f"{kind} {total:.3g} Mbit/s in all" for kind, total in sums.items()]
    parts += [f"median RTT of the pings {np.median(pings):.3g} ms"] if pings else []
    reading = f"{', '.join(parts)[:1].upper()}{', '.join(parts)[1:]}." if parts else ""
    note = f"Axes end at {MARGIN:g} times the {SCALED:.0f}th percentile."
    note += f" At most {MOST} flows of a kind are drawn; the mean is that of all." if most > MOST else ""
    what = "Load and latency"
    return Picture("load", title_of(run, what), reading, panels, markers=False, note=note)
