"""A figure for each case: the model's rates and the data in flight, over BBR's states."""

from __future__ import annotations

import numpy as np

from dumbbell.plots.downsample import thin
from dumbbell.plots.spec import Curve, Panel, Picture, Span
from dumbbell.studies.bbr_cases.case import MSS, Case
from dumbbell.studies.shared import Floats

__all__ = ["picture"]

COLUMNS = 400
"""Columns that a panel of half a figure's width shows."""
TIME = "time (s)"
SHOWN = 3.0
"""Values above so many times the largest data in flight would flatten the rest: they are left out."""


def _spans(case: Case) -> list[Span]:
    return [Span(case.at("t", a), case.at("t", b), name, name) for name, a, b in case.spans()]


def _rates(case: Case) -> Panel:
    t = case.trace["t"]
    shown = (
        ("max_bw", "max_bw", "cubic"),
        ("bw, within the bounds", "bw", "red"),
        ("bw_shortterm", "bw_shortterm", "sack"),
    )
    curves = [_steps(label, look, t, case.trace[column] * 8e-6) for label, column, look in shown]
    return Panel("rates of the model", TIME, "payload (Mbit/s)", [c for c in curves if _any(c)], spans=_spans(case))


def _window(case: Case) -> Panel:
    t = case.trace["t"]
    outstanding = np.asarray(case.trace["inflight"], dtype=np.float64) / MSS
    most = SHOWN * float(np.max(outstanding))
    curves = [_steps("outstanding", "droptail", t, outstanding)]
    for label, column, look in (("cwnd", "cwnd", "bbr3"), ("inflight_longterm", "inflight_longterm", "newreno")):
        values = np.asarray(case.trace[column], dtype=np.float64) / MSS
        curves.append(_steps(label, look, t, np.where(values > most, np.nan, values)))
    return Panel("data in flight", TIME, "segments", [c for c in curves if _any(c)], spans=_spans(case))


def _steps(label: str, look: str, t: Floats, values: Floats) -> Curve:
    """Draw a step function: only its changes, thinned to the number that can be seen."""
    changed = (values[1:] != values[:-1]) & ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    keep = np.flatnonzero(np.concatenate(([True], changed[:-1], [True]))) if values.size > 1 else np.arange(values.size)
    return Curve(label, look, *thin(t[keep], values[keep], COLUMNS), kind="steps")


def _any(curve: Curve) -> bool:
    return bool(np.isfinite(curve.y).any())


def picture(case: Case, text: str) -> Picture:
    """Draw a case; ``text`` is its title and the expected behavior."""
    title, _, expected = text.partition(": ")
    seen = "; ".join(what for what, _ in case.seen)
    return Picture(
        f"a{case.number:02d}",
        title,
        f"Expected: {expected.rstrip('.')}. Seen: {seen}.",
        [_rates(case), _window(case)],
        columns=2,
        markers=False,
    )
