"""Figures of two captures of one path: one-way delays and losses over time, the distribution of delays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from dumbbell.capture.figures import LOOKS
from dumbbell.capture.output import name_of
from dumbbell.capture.two_points import Pair
from dumbbell.plots.spec import Curve, Panel, Picture

__all__ = ["pair_pictures"]


def pair_pictures(pair: Pair) -> Iterator[Picture]:
    """Draw delays and losses over time, and the distribution of delays."""
    rows = list(pair.busy(len(LOOKS)).iter_rows(named=True))
    if not rows:
        return
    yield _delays(pair, rows)
    yield _losses(pair, rows)
    if pair.matches is not None:
        yield _spread(pair, rows)


def _of(table: pl.DataFrame, row: dict[str, object]) -> pl.DataFrame:
    return table.filter((pl.col("flow") == row["flow"]) & (pl.col("direction") == row["direction"]))


def _delays(pair: Pair, rows: list[dict[str, object]]) -> Picture:
    curves = []
    for n, row in enumerate(rows):
        table = _of(pair.series, row).filter(pl.col("delay_mean_ms").is_not_null()).sort("t_ns")
        x = np.asarray(table["t_ns"].to_numpy() * 1e-9 + pair.interval_s / 2)
        mean, low, high = (table[f"delay_{c}_ms"].to_numpy() for c in ("mean", "min", "max"))
        curves.append(Curve(name_of(row), LOOKS[n], x, mean, low, high))
    words = "absolute" if pair.same_clock else "relative"
    panel = Panel("", "time, s", f"one-way delay ({words}), ms", curves)
    reading = "Line: mean of an interval; band: smallest to largest. The part above the smallest delay is queueing."
    return Picture("delay", "One-way delay over time", reading, [panel], markers=False)


def _losses(pair: Pair, rows: list[dict[str, object]]) -> Picture:
    curves = []
    for n, row in enumerate(rows):
        table = _of(pair.series, row).sort("t_ns")
        x = np.asarray(table["t_ns"].to_numpy() * 1e-9 + pair.interval_s / 2)
        curves.append(Curve(name_of(row), LOOKS[n], x, table["lost"].to_numpy() / pair.interval_s, kind="steps"))
    panel = Panel("", "time, s", f"lost packets/s per {pair.interval_s:.3g} s", curves)
    lost = int(pair.flows["lost"].sum())
    return Picture("lost", "Packets lost between A and B", f"{lost} in all.", [panel], markers=False)


def _spread(pair: Pair, rows: list[dict[str, object]]) -> Picture:
    curves = []
    for n, row in enumerate(rows):
        assert pair.matches is not None
        delays = np.sort(_of(pair.matches, row)["delay_ms"].to_numpy())
        if delays.size:
            # A thousand points show the curve; each is a quantile.
            share = np.linspace(0.0, 1.0, min(1000, delays.size))
            curves.append(Curve(name_of(row), LOOKS[n], np.quantile(delays, share), share))
    panel = Panel("", "one-way delay, ms", "share of packets", curves, y_top=1.0)
    return Picture("delay-spread", "Distribution of one-way delays", "Cumulative.", [panel], markers=False)
