"""The figure of voice calls: delays of the packets, packets that were not played, and the quality over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import edges_of, mos, r_factor
from dumbbell.metrics.speech import BPL
from dumbbell.plots.flows_over_time import span_of, title_of
from dumbbell.plots.spec import Curve, Panel, Picture
from dumbbell.plots.style import distinct
from dumbbell.registry import unknown
from dumbbell.scenario.flow.application import Voice

if TYPE_CHECKING:
    from dumbbell.plots.spec import Floats
    from dumbbell.results import Results, Run

__all__ = ["voice"]

WINDOWS = 40
"""Windows of a run in which the quality is computed."""
PLAYED = 0
"""The code of a packet that was played."""


def _calls(results: Results, run: Run, flow: Sequence[str] | None) -> list[str]:
    known = [t.removeprefix("voice/") for t in results.tables(run) if t.startswith("voice/")]
    if not known:
        raise ResultsError(
            'no series of voice calls: a flow needs application = { kind = "voice", ... }, and trace.series'
        )
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("voice call", name, known))
    return list(flow) if flow else known


def _scores(table: pl.DataFrame, edges: Floats, call: Voice) -> Floats:
    """Return the mean opinion score in each window; NaN where no packet was due. Losses count as random ones."""
    sent = table["t_ns"].to_numpy() * 1e-9
    playout = table["playout_ns"].to_numpy() * 1e-6
    missing = table["fate"].to_numpy() != PLAYED
    places = np.clip(np.searchsorted(edges, sent, side="right") - 1, 0, len(edges) - 2)
    scores = np.full(len(edges) - 1, np.nan)
    for n in range(len(scores)):
        here = places == n
        if here.any():
            delay = float(playout[here].mean()) + call.packetization.ns * 1e-6
            scores[n] = mos(r_factor(min(delay, 10_000.0), float(missing[here].mean()), bpl=BPL[call.concealment]))
    return scores


def voice(results: Results, run: Run, *, flow: Sequence[str] | None = None) -> Picture:
    """Draw the packets of voice calls: their delays, the playout delay, missing ones, and the MOS over time."""
    names = _calls(results, run, flow)
    looks = dict(zip(names, distinct([f"voice {n}" for n in range(len(names))]), strict=True))
    span = span_of(results, run)
    edges = edges_of(*span, (span[1] - span[0]) / WINDOWS)
    cell = next(cell for cell in results.scenario.cells if cell.values == run.cell)
    calls = {f.name: f.application for f in cell.scenario.single_flows}
    delays, missing, scores = [], [], []
    for name in names:
        table = results.table(run, f"voice/{name}")
        call = calls[name]
        assert isinstance(call, Voice)
        t = table["t_ns"].to_numpy() * 1e-9
        playout = table["playout_ns"].to_numpy() * 1e-6
        delays.append(Curve(name, looks[name], t, table["delay_ns"].to_numpy() * 1e-6))
        delays.append(Curve(f"{name}: playout", "limit", t, playout, kind="steps"))
        gone = table["fate"].to_numpy() != PLAYED
        share = np.histogram(t[gone], edges)[0] / np.maximum(np.histogram(t, edges)[0], 1)
        middles = (edges[:-1] + edges[1:]) / 2
        missing.append(Curve(name, looks[name], middles, 100 * share))
        scores.append(Curve(name, looks[name], middles, _scores(table, edges, call)))
    panels = [
        Panel("", "time, s", "one-way delay, ms", delays, x_range=span),
        Panel("", "time, s", "not played, %", missing, x_range=span, height=0.6),
        Panel("", "time, s", "MOS", scores, x_range=span, height=0.6, y_top=4.6),
    ]
    rows = {row["name"]: row for row in run.flows}
    heard = [f"{n}: MOS {rows[n]['mos']:.2f}, R {rows[n]['r_factor']:.0f}" for n in names if rows[n]["mos"] is not None]
    reading = f"{'; '.join(heard)}." if heard else ""
    return Picture("voice", title_of(run, "Voice calls"), reading, panels, markers=False)
