"""A sentence on a figure that has none: its largest and its smallest value, with their places."""

from __future__ import annotations

import numpy as np

from dumbbell import registry
from dumbbell.metrics import number
from dumbbell.plots import Panel, Picture

__all__ = ["extremes"]


def extremes(picture: Picture) -> str:
    """Name the largest and the smallest value of a figure, such as "18.4 Mbit/s (bbr1, rate 20 Mbit/s)".

    Returns an empty text for figures of fewer than two curves, of several quantities, and for a plane of two.
    """
    if any(panel.x_reversed for panel in picture.panels):
        return ""
    found: list[tuple[float, str]] = []
    for panel in picture.panels:
        for curve in panel.curves:
            if curve.kind in {"steps", "events", "outline"} or np.isnan(curve.y).all():
                continue
            for pick in (np.nanargmax, np.nanargmin):
                k = int(pick(curve.y))
                at = _place(panel, float(curve.x[k]))
                place = ("" if _same_name(curve.label, at) else curve.label, at, panel.title)
                found.append((float(curve.y[k]), ", ".join(part for part in place if part)))
    quantities = {panel.y_label for panel in picture.panels}
    if len(found) < 4 or len(quantities) > 1:
        return ""
    _, unit = _parts(quantities.pop())
    (low, lowest_at), (high, highest_at) = min(found), max(found)
    return f"Highest: {number(high)}{unit} ({highest_at}); lowest: {number(low)}{unit} ({lowest_at})."


def _place(panel: Panel, x: float) -> str:
    if panel.categories:
        return panel.categories[int(x)]
    name, unit = _parts(panel.x_label)
    return f"{name} {number(x) if abs(x) >= 1e4 else f'{x:.4g}'}{unit}"


def _parts(label: str) -> tuple[str, str]:
    """Divide an axis' label into the quantity and, after a space, its unit: "rate, Mbit/s", "rate (Mbit/s)"."""
    name, _, unit = label.rstrip(")").replace(" (", ", ").rpartition(", ")
    return (name, f" {unit}") if name else (unit, "")


def _same_name(label: str, place: str) -> bool:
    """Return True if the label of a curve repeats its place on the axis, perhaps by another name of the variant."""
    names = {alias: v.name for v in registry.variants().values() for alias in (v.name, *v.aliases)}
    return names.get(label, label) == names.get(place, place)
