"""Interactive figures with Plotly: zoom, values under the pointer, curves that can be hidden; pages work offline."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dumbbell.plots.downsample import thin
from dumbbell.plots.spec import Curve, Panel, Picture
from dumbbell.plots.style import INK, MUTED, SHADE, look

__all__ = ["figure", "page", "script"]

_DASH = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
_MARKER = {
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "*": "star",
}
DIVERGING = [[0.0, "#7f3b08"], [0.25, "#f1a340"], [0.5, "#f7f7f7"], [0.75, "#998ec3"], [1.0, "#2d004b"]]
"""Orange to purple, ColorBrewer's PuOr."""
HEIGHT = {1: 360, 2: 320, 3: 280}
"""Height of a row of panels in pixels, by the number of panels side by side."""
WIDTH, ENTRY, LETTER, LEGEND_ROW, TOOLS = 850, 55, 7, 20, 24
"""Sizes in pixels: width of a legend, of an entry without its text, of a letter; height of a row, of the buttons."""


def script() -> str:
    """Return Plotly's JavaScript; a page contains it once.

    Raises
    ------
    DumbbellError
        If Plotly isn't installed.
    """
    try:
        from plotly.offline import get_plotlyjs  # noqa: PLC0415 - an extra
    except ImportError:
        from dumbbell.exceptions import DumbbellError  # noqa: PLC0415

        raise DumbbellError("interactive figures need plotly: pip install 'dumbbell[studies]'") from None
    return str(get_plotlyjs())


def figure(picture: Picture) -> dict[str, Any]:
    """Return a figure as Plotly's JSON: data and layout in plain values."""
    data: list[dict[str, Any]] = []
    columns = min(picture.columns, len(picture.panels))
    rows = -(-len(picture.panels) // columns)
    layout: dict[str, Any] = {
        "template": "none",
        "font": {"family": "sans-serif", "size": 12, "color": INK},
        "margin": {"l": 64, "r": 16, "t": 24, "b": 48},
        "hovermode": "closest",
        "legend": {"orientation": "h", "yref": "container", "y": 1.0, "yanchor": "top", "x": 0},
        "grid": {"rows": rows, "columns": columns, "pattern": "independent", "roworder": "top to bottom"},
        "annotations": [],
        "shapes": [],
        "barmode": "group",
    }
    seen: set[str] = set()
    for number, panel in enumerate(picture.panels):
        _panel(panel, "" if number == 0 else str(number + 1), picture, data, layout, seen)
    layout["showlegend"] = len(seen) > 1
    if layout["showlegend"]:  # it is above the panels' titles
        across = sum(ENTRY + LETTER * len(label) for label in seen)
        layout["margin"]["t"] += TOOLS + LEGEND_ROW * -(-across // WIDTH)
    layout["height"] = rows * HEIGHT[columns] + layout["margin"]["t"]
    layout["legend"]["y"] = 1 - TOOLS / layout["height"]
    return {"data": data, "layout": layout}


def _panel(
    panel: Panel, axis: str, picture: Picture, data: list[dict[str, Any]], layout: dict[str, Any], seen: set[str]
) -> None:
    grid_color = {
        "gridcolor": "#DDDDDD",
        "zeroline": False,
        "linecolor": MUTED,
        "showline": True,
        "automargin": True,
    }
    x: dict[str, Any] = {"title": {"text": panel.x_label}, **grid_color}
    y: dict[str, Any] = {"title": {"text": panel.y_label}, **grid_color}
    layout[f"xaxis{axis}"], layout[f"yaxis{axis}"] = x, y
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    if panel.title:
        ends = {"xref": f"x{axis} domain", "yref": f"y{axis} domain", "x": 0, "y": 1.0}
        layout["annotations"].append(
            {"text": html.escape(panel.title), "showarrow": False, "yanchor": "bottom", **ends}
        )
    if panel.grid is not None:
        grid = panel.grid
        low, high = grid.low, grid.high
        texts = [[html.escape(t).replace("\n", "<br>") for t in row] for row in grid.texts]
        data.append({
            "type": "heatmap", "x": list(grid.columns), "y": list(grid.rows), "z": _plain(grid.values),
            "text": texts, "texttemplate": "%{text}", "zmin": low, "zmax": high,
            "colorscale": DIVERGING if grid.diverging else "Cividis", "colorbar": {"title": {"text": grid.unit}},
            "hovertemplate": "%{y}, %{x}: %{z:.4g}<extra></extra>", **place,
        })  # fmt: skip
        y["autorange"] = "reversed"
        return
    if panel.categories:
        x |= {"tickvals": list(range(len(panel.categories))), "ticktext": list(panel.categories)}
    x |= {"type": "log"} if panel.x_log else {}
    y |= {"type": "log"} if panel.y_log else {"rangemode": "tozero"} if panel.y_from_zero else {}
    for span in panel.spans:
        layout["shapes"].append({
            "type": "rect", "xref": f"x{axis}", "yref": f"y{axis} domain", "x0": span.begin, "x1": span.end,
            "y0": 0, "y1": 1, "fillcolor": look(span.look).color, "opacity": SHADE, "line": {"width": 0},
            "layer": "below",
        })  # fmt: skip
        if span.label not in seen:
            seen.add(span.label)
            square = {"symbol": "square", "size": 12, "color": look(span.look).color, "opacity": 0.4}
            data.append({"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": span.label,
                         "marker": square, **place})  # fmt: skip
    for mark in panel.marks:
        line = {"color": MUTED, "width": 1, "dash": "dot"}
        layout["shapes"].append({"type": "line", "xref": f"x{axis}", "yref": f"y{axis} domain", "x0": mark.x,
                                 "x1": mark.x, "y0": 0, "y1": 1, "line": line})  # fmt: skip
    for number, curve in enumerate(panel.curves):
        shift = 0.0
        if panel.categories:
            shift = (0.8 if curve.kind in {"bars", "box"} else 0.3) / len(panel.curves)
            shift *= number - (len(panel.curves) - 1) / 2
        data.extend(_traces(curve, shift, place, seen, 0.8 / max(1, len(panel.curves)), markers=picture.markers))


def _traces(
    curve: Curve, shift: float, place: dict[str, str], seen: set[str], width: float, *, markers: bool
) -> list[dict[str, Any]]:
    style = look(curve.look)
    first = curve.label not in seen
    seen.add(curve.label)
    common: dict[str, Any] = {"name": curve.label, "legendgroup": curve.label, "showlegend": first, **place}
    dots: list[dict[str, Any]] = []
    if curve.dots is not None and curve.kind != "box":
        across = np.repeat(curve.x + shift, curve.dots.shape[1])
        small = {"size": 4, "color": style.color, "opacity": 0.5}
        dots.append({**common, "type": "scatter", "mode": "markers", "x": _plain(across),
                     "y": _plain(curve.dots.ravel()), "marker": small, "hoverinfo": "skip",
                     "showlegend": False})  # fmt: skip
    if curve.kind == "box" and curve.dots is not None:
        return [{**common, "type": "box", "x": _plain(np.repeat(curve.x + shift, curve.dots.shape[1])),
                 "y": _plain(curve.dots.ravel()), "boxpoints": "all", "pointpos": 0, "width": width * 0.9,
                 "marker": {"color": style.color, "size": 3}}]  # fmt: skip
    around = _interval(curve)
    if curve.kind == "bars":
        return [{**common, "type": "bar", "x": _plain(curve.x + shift), "y": _plain(curve.y), "width": width * 0.9,
                 "marker": {"color": style.color}, "error_y": around}, *dots]  # fmt: skip
    xs, ys = thin(curve.x + shift, curve.y)
    points = curve.kind in {"points", "dots", "events"}
    if curve.kind == "dots":
        pale = {"size": 4, "color": style.color, "opacity": 0.5}
        return [{**common, "type": "scatter", "mode": "markers", "x": _plain(curve.x), "y": _plain(curve.y),
                 "marker": pale}]  # fmt: skip
    symbol = "x" if curve.kind == "events" else _MARKER.get(style.marker, "circle")
    mode = "markers" if points else "lines+markers" if markers and style.marker else "lines"
    main = {
        **common, "type": "scatter" if len(xs) < 5000 else "scattergl", "mode": mode,
        "x": _plain(xs), "y": _plain(ys),
        "line": {"color": style.color, "width": 1.6, "dash": _DASH.get(style.dash, "solid"),
                 "shape": "hv" if curve.kind == "steps" else "linear"},
        "marker": {"color": style.color, "size": 7, "symbol": f"{symbol}-open" if style.hollow else symbol},
        "error_y": around if len(xs) == len(curve.x) else None,
    }  # fmt: skip
    return [*dots, main]


def _interval(curve: Curve) -> dict[str, Any] | None:
    if curve.low is None or curve.high is None or np.isnan(curve.low).all():
        return None
    up, down = curve.high - curve.y, curve.y - curve.low
    return {"type": "data", "symmetric": False, "array": _plain(up), "arrayminus": _plain(down), "thickness": 1}


def _plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[Any]:
    """Return values for JSON: None for NaN, six digits, as a screen cannot show more."""
    if values.ndim > 1:
        return [_plain(row) for row in values]
    return [None if not np.isfinite(v) else float(f"{v:.7g}") for v in values.tolist()]


def page(pictures: Sequence[Picture]) -> str:
    """Return an HTML page of figures that works offline."""
    parts = []
    for number, picture in enumerate(pictures):
        content = json.dumps(figure(picture), allow_nan=False).replace("</", "<\\/")
        title, reading = html.escape(picture.title), html.escape(picture.reading)
        draw = f'{{const f = {content}; Plotly.newPlot("p{number}", f.data, f.layout, {{responsive: true}});}}'
        parts.append(f'<h2>{title}</h2><p>{reading}</p><div id="p{number}"></div><script>{draw}</script>')
    head = f'<meta charset="utf-8"><title>{html.escape(pictures[0].title)}</title><script>{script()}</script>'
    style = "<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;color:#222}h2{font-size:1.1em}</style>"
    return f'<!doctype html><html lang="en"><head>{head}{style}</head><body>{"".join(parts)}</body></html>\n'
