"""Interactive figures: zoom, values under the pointer, curves that can be hidden; pages work offline.

`figure` describes a figure in JSON: panels with axes and marks, in the units of the axes. The scripts of
`dumbbell.plots.web` draw each kind of mark: ``line``, ``band``, ``outline``, ``points``, ``intervals``, ``strokes``,
``bars``, ``boxes``, ``spans`` and ``rule``. A new kind of curve is translated into these here.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from dumbbell.metrics import number
from dumbbell.plots.dodge import dodged
from dumbbell.plots.downsample import COLUMNS, merged, thin
from dumbbell.plots.spec import FEWEST_BOX, MANY_EVENTS, Curve, Floats, Grid, Panel, Picture, Span
from dumbbell.plots.style import DASHES, INK, MUTED, SHADE, look
from dumbbell.plots.web import dark_colors, pack, policy, script, style

__all__ = ["as_json", "colors", "figure", "page"]

Mark = dict[str, Any]
LEAST_COLUMNS = 150
"""Columns that a long curve keeps at least, however many curves a figure has."""
CURVES = 4
"""Long curves that a figure has at full resolution; more share it."""
STROKES, FEW_STROKES = 20_000, 3000
"""Strokes of a curve that the page of a figure holds, and that of a report; of more, neighbors are merged."""
HATCHED = ("recovery", "timeout")
"""Phases that a page hatches, so that they differ from the others in gray: a page has one pattern."""
WIDTH = 1.7
"""Width of a line in pixels."""
DIVERGING = ("#7f3b08", "#f1a340", "#f7f7f7", "#998ec3", "#2d004b")
"""Orange to purple, ColorBrewer's PuOr."""
SEQUENTIAL = ("#00224e", "#35456c", "#666970", "#948e77", "#c8b866", "#fee838")
"""Blue to yellow, Matplotlib's cividis at equal distances."""


def figure(picture: Picture, *, strokes: int = FEW_STROKES) -> dict[str, Any]:
    """Return a figure as values for JSON.

    Parameters
    ----------
    picture : Picture
    strokes : int
        Strokes of a sequence diagram's curve, the resolution to which a reader can enlarge it.
    """
    long = sum(len(curve.x) > 4 * LEAST_COLUMNS for panel in picture.panels for curve in panel.curves)
    columns = max(LEAST_COLUMNS, COLUMNS * CURVES // max(long, CURVES))
    legend: dict[str, Mark] = {}
    panels = [_panel(panel, picture, columns, strokes, legend) for panel in picture.panels]
    return {
        "title": picture.title,
        "columns": min(picture.columns, len(picture.panels)),
        "share_y": picture.share_y,
        "legend": list(legend.values()),
        "panels": panels,
    }


def _panel(panel: Panel, picture: Picture, columns: int, strokes: int, legend: dict[str, Mark]) -> dict[str, Any]:
    x: dict[str, Any] = {"label": panel.x_label, "log": panel.x_log, "reversed": panel.x_reversed}
    y: dict[str, Any] = {"label": panel.y_label, "log": panel.y_log, "zero": panel.y_from_zero}
    if panel.categories:
        x["names"] = list(panel.categories)
    if panel.x_ticks:
        x["ticks"] = [float(place) for place in panel.x_ticks]
    if panel.y_top is not None:
        y["top"] = panel.y_top
    if panel.x_range is not None:
        x["range"] = list(panel.x_range)
    if panel.strips:
        y["names"] = list(panel.strips)
    if panel.grid is not None:
        return {"title": panel.title, "x": x, "y": y, "marks": [], "grid": _grid(panel.grid)}
    marks: list[Mark] = list(_spans(panel, legend))
    marks += [{"kind": "rule", "x": [mark.x], "text": mark.text, "at": mark.at, "color": MUTED} for mark in panel.marks]
    places, width = dodged(panel)
    if any(curve.kind == "segments" for curve in panel.curves):
        columns = max(columns, strokes // 4)  # zooming in shows single segments, and the lines beside them
    for curve, at in zip(panel.curves, places, strict=True):
        marks += _curve(curve, at, width * 0.9, (columns, strokes), legend, markers=picture.markers)
    return {"title": panel.title, "x": x, "y": y, "marks": marks, "better": panel.better,
            "height": panel.height}  # fmt: skip


def _spans(panel: Panel, legend: dict[str, Mark]) -> Iterator[Mark]:
    def key(span: Span) -> tuple[str, str, int]:
        return span.label, span.look, -1 if span.strip is None else span.strip

    for (label, name, strip), group in groupby(sorted(panel.spans, key=key), key):
        spans = list(group)
        color = look(name).color
        hatched = name in HATCHED
        legend.setdefault(label, {"label": label, "color": color, "area": SHADE * 3, "hatched": hatched})
        begin, end = np.array([s.begin for s in spans]), np.array([s.end for s in spans])
        yield {"kind": "spans", "label": label, "color": color, "x": pack(begin), "x2": pack(end),
               "hatched": hatched} | ({} if strip < 0 else {"strip": strip})  # fmt: skip


def _curve(
    curve: Curve, x: Floats, width: float, bounds: tuple[int, int], legend: dict[str, Mark], *, markers: bool
) -> Iterator[Mark]:
    """Translate a curve, whose points are at `x`, into marks, the ones behind first.

    `bounds` are the columns of a line and the strokes of a sequence diagram that are kept.
    """
    shown = look(curve.look)
    base: Mark = {"label": curve.label, "color": shown.color}
    if curve.kind != "outline":
        legend.setdefault(curve.label, base | _sample(curve, markers=markers))
    if curve.kind in {"outline", "segments"}:
        yield base | _shape(curve, x, bounds[1])
        return
    if curve.kind == "box":
        yield from _boxes(base, x, curve.dots, width)
        return
    if curve.kind == "bars":
        yield {**base, "kind": "bars", "x": pack(x), "y": pack(curve.y), "width": width,
               "hatched": shown.dash != "-", "ends": _ends(curve)}  # fmt: skip
    if curve.dots is not None:
        yield _dots(base, x, curve.dots, width * 0.5 if curve.kind == "bars" else 0.0)
    if curve.low is not None and curve.high is not None and not np.isnan(curve.low).all():
        kind = "intervals" if curve.kind in {"points", "bars"} else "band"
        color = INK if curve.kind == "bars" else shown.color
        yield {"label": curve.label, "color": color, "kind": kind, "x": pack(x),
               "low": pack(np.where(np.isnan(curve.low), curve.y, curve.low)),
               "high": pack(np.where(np.isnan(curve.high), curve.y, curve.high))}  # fmt: skip
    if curve.kind == "bars":
        return
    across, up = thin(x, curve.y, bounds[0])
    values: Mark = {**base, "x": pack(across), "y": pack(up), "hollow": shown.hollow}
    if len(across) == len(x):
        values |= {"ends": _ends(curve), "texts": list(curve.texts)}
    if curve.kind == "points":
        yield {**values, "kind": "points", "symbol": shown.marker or "o", "size": 4}
    elif curve.kind == "dots":
        yield {**values, "kind": "points", "symbol": "o", "size": 2.2, "opacity": 0.5, "hollow": False}
    elif curve.kind == "events":
        yield {**values, "kind": "points", "symbol": shown.marker or "x", "size": 4 if len(x) <= MANY_EVENTS else 2.6}
    else:
        sign = {"symbol": shown.marker} if markers and shown.marker else {}
        yield {**values, "kind": "line", "dash": _dash(shown.dash), "steps": curve.kind == "steps", **sign}


def _boxes(base: Mark, x: Floats, dots: Floats | None, width: float) -> Iterator[Mark]:
    if dots is not None:
        yield {**base, "kind": "boxes", "x": pack(x), "width": width, **_quartiles(dots)}
        yield _dots(base, x, dots, width * 0.5)


def _shape(curve: Curve, x: Floats, strokes: int) -> Mark:
    """Return the mark of a curve that is neither a line nor points."""
    if curve.low is None or curve.high is None:
        return {"kind": "outline", "x": pack(x), "y": pack(curve.y)}
    at, low, high = merged(x, curve.low, curve.high, strokes)
    return {"kind": "strokes", "x": pack(at), "low": pack(low), "high": pack(high)}


def _sample(curve: Curve, *, markers: bool) -> Mark:
    """Return the look of a curve in the legend: an area, a symbol, or a line with or without one."""
    shown = look(curve.look)
    if curve.kind in {"bars", "box"}:
        return {"area": 0.8, "hatched": shown.dash != "-"}
    if curve.kind in {"points", "dots", "events"}:
        symbol = "o" if curve.kind == "dots" else shown.marker or "o"
        return {"symbol": symbol, "hollow": shown.hollow}
    symbols = {"symbol": shown.marker, "hollow": shown.hollow} if markers and shown.marker else {}
    return {"dash": _dash(shown.dash), **symbols}


def _dots(base: Mark, x: Floats, dots: Floats, width: float) -> Mark:
    """Make the points of single runs, side by side within a width."""
    count = dots.shape[1]
    across = np.repeat(x, count) + np.tile(np.linspace(-width / 2, width / 2, count) if count > 1 else [0.0], len(x))
    return {
        **base,
        "kind": "points",
        "symbol": "o",
        "size": 2,
        "opacity": 0.55,
        "x": pack(across),
        "y": pack(dots.ravel()),
    }


def _dash(name: str) -> str:
    """Return dashes and gaps in pixels, as SVG has them."""
    return " ".join(f"{WIDTH * length:g}" for length in DASHES[name])


def _quartiles(dots: Floats) -> Mark:
    """Return the boxes of rows: median, quartiles, whiskers to the last dot within 1.5 times their distance.

    Few values have a median only.
    """
    boxes = np.full((len(dots), 5), np.nan)
    for place, row in enumerate(dots):
        known = row[~np.isnan(row)]
        if known.size < FEWEST_BOX:
            boxes[place, 2] = np.median(known) if known.size else np.nan
            continue
        q1, median, q3 = np.percentile(known, (25, 50, 75))
        reach = 1.5 * (q3 - q1)
        inside = known[(known >= q1 - reach) & (known <= q3 + reach)]
        boxes[place] = inside.min(), q1, median, q3, inside.max()
    return {key: pack(boxes[:, k]) for k, key in enumerate(("low", "q1", "y", "q3", "high"))}


def _ends(curve: Curve) -> list[str] | None:
    """Return the interval of each value in words."""
    if curve.low is None or curve.high is None:
        return None
    return [
        "" if np.isnan(a) or np.isnan(b) else f"[{number(a)}, {number(b)}]"
        for a, b in zip(curve.low, curve.high, strict=True)
    ]


def _grid(grid: Grid) -> dict[str, Any]:
    known = grid.values[~np.isnan(grid.values)]
    low = grid.low if grid.low is not None else float(known.min()) if known.size else 0.0
    high = grid.high if grid.high is not None else float(known.max()) if known.size else 1.0
    return {
        "rows": list(grid.rows),
        "columns": list(grid.columns),
        "values": [[None if np.isnan(v) else float(f"{v:.7g}") for v in row] for row in grid.values.tolist()],
        "texts": [list(row) for row in grid.texts],
        "unit": grid.unit,
        "low": low,
        "high": high if high > low else low + 1.0,
        "stops": DIVERGING if grid.diverging else SEQUENTIAL,
    }


def colors(figures: Sequence[dict[str, Any]]) -> str:
    """Return CSS that gives figures their colors on a dark page."""
    used = {mark["color"] for f in figures for panel in f["panels"] for mark in panel["marks"]}
    return dark_colors(used | {entry["color"] for f in figures for entry in f["legend"]})


def as_json(values: object) -> str:
    """Return values as JSON for the inside of a script element: no text in it can end the element."""
    text = json.dumps(values, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page(pictures: Sequence[Picture]) -> str:
    """Return an HTML page of figures that works offline."""
    figures = [figure(picture, strokes=STROKES) for picture in pictures]
    parts = []
    for place, (picture, described) in enumerate(zip(pictures, figures, strict=True)):
        title, reading = html.escape(picture.title), html.escape(picture.reading)
        small = html.escape(picture.small_print).replace("\n", "<br>")
        small = f"<p><small>{small}</small></p>" if small else ""
        parts.append(
            f'<figure aria-labelledby="t{place}"><h2 id="t{place}">{title}</h2>'
            f'<div class="live" id="f{place}"></div>'
            f'<script type="application/json" class="figure-data" data-for="f{place}">{as_json(described)}</script>'
            f"<figcaption>{reading}{small}</figcaption></figure>"
        )
    drawing = script()
    head = (
        f'<meta charset="utf-8">{policy(drawing)}<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>{html.escape(pictures[0].title)}</title>'
        f"<style>{style()}{colors(figures)}{PAGE}</style>"
    )
    without = "<noscript><p>This figure needs JavaScript. The same figure as .svg or .png doesn't.</p></noscript>"
    body = f"<main>{without}{''.join(parts)}</main><script>{drawing}</script>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


PAGE = """
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 1rem; }
figure { margin: 0 0 2rem; }
h2 { font-size: 1.1rem; line-height: 1.3; margin: 0 0 .5rem; overflow-wrap: anywhere; }
figcaption { margin-top: .5rem; color: var(--muted); }
"""
