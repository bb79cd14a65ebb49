"""The numbers of a report in a study's pictures: stars, dashed lines and bands, with "report" in the legend.

``paper.toml`` lists them with their place in the report (`dumbbell.studies.paper.Printed`); `with_printed` draws
them. An analysis that computes a reference from several printed numbers draws it with `points` and `level`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dumbbell.exceptions import DumbbellError
from dumbbell.plots.spec import Curve, Panel, Picture, Span

if TYPE_CHECKING:
    from dumbbell.studies.paper import Printed

__all__ = ["LOOK", "band", "level", "points", "with_printed"]

LOOK = "report"
"""The look of everything that is the report's."""


def points(x: npt.ArrayLike, y: npt.ArrayLike, label: str = "", *, second: bool = False) -> Curve:
    """Mark points of the report; the legend has "report" and the label. A second set has hollow stars."""
    across, up = (np.asarray(v, dtype=np.float64) for v in (x, y))
    return Curve(_legend(label), f"{LOOK}:2" if second else LOOK, across, up, kind="events")


def level(panel: Panel, y: float, label: str = "") -> Curve:
    """Mark a value of the report that holds over the whole panel, by a line across it."""
    across = np.arange(len(panel.categories), dtype=np.float64) if panel.categories else np.array(_ends(panel))
    return Curve(_legend(label), LOOK, across, np.full(across.size, y), kind="steps")


def band(panel: Panel, begin: float, label: str = "") -> Span:
    """Mark the part of a panel for which the report makes a statement, by a band from ``begin`` to the right end."""
    return Span(begin, _ends(panel)[1], _legend(label), LOOK)


def _legend(label: str) -> str:
    return f"report: {label}" if label else "report"


def _ends(panel: Panel) -> tuple[float, float]:
    if panel.x_range is not None:
        return panel.x_range
    values = np.concatenate([curve.x for curve in panel.curves])
    return float(values.min()), float(values.max())


def with_printed(pictures: Iterable[Picture], printed: Sequence[Printed]) -> list[Picture]:
    """Draw the printed numbers of a report into the pictures that they name.

    Raises
    ------
    DumbbellError
        If no picture has the name, or no panel of it the title or the category.
    """
    found = {picture.name: picture for picture in pictures}
    for number in printed:
        if number.picture not in found:
            raise DumbbellError(f"{number.label}: no picture '{number.picture}' (there are {', '.join(found)})")
        picture = found[number.picture]
        chosen = [p for p in picture.panels if number.panel in {"", p.title}]
        if not chosen:
            titles = ", ".join(f"'{p.title}'" for p in picture.panels)
            raise DumbbellError(f"{number.label}: {number.picture} has no panel '{number.panel}' (it has {titles})")
        panels = [_marked(p, number) if p in chosen else p for p in picture.panels]
        found[number.picture] = replace(picture, panels=panels)
    return list(found.values())


def _marked(panel: Panel, number: Printed) -> Panel:
    label = f"{number.label} ({number.place})"
    if number.beyond is not None:
        return replace(panel, spans=[*panel.spans, band(panel, number.beyond, label)])
    if number.level is not None:
        return replace(panel, curves=[*panel.curves, level(panel, number.level, label)])
    across = [_place(panel, x) for x in number.x]
    return replace(panel, curves=[*panel.curves, points(across, number.y, label)])


def _place(panel: Panel, x: str | float) -> float:
    if not isinstance(x, str):
        return float(x)
    if x not in panel.categories:
        raise DumbbellError(f"no category '{x}' in panel '{panel.title}' (it has {', '.join(panel.categories)})")
    return float(list(panel.categories).index(x))
