"""Figures over the cells of a sweep: bars, boxes, lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import Summary, summarize_all
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.axis_values import AxisValues
from dumbbell.plots.cell_table import CellTable, Shown
from dumbbell.plots.spec import FEWEST_BOX, Curve, Floats, Kind, Panel, Picture, curve_of
from dumbbell.plots.style import Look, distinct, ranked

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["bars", "box", "columns_of", "counted", "levels", "lines", "looks_of"]

NO_BREAK = "\N{NO-BREAK SPACE}"
"""Keeps "n = 5" in one line of a title."""


def columns_of(table: CellTable, shown: Shown, *, numbers_first: bool = False) -> tuple[str | None, str | None]:
    """Choose the column across and the column of the curves: those given, or the first that distinguish values."""
    across, apart = table.column(shown.x, "x"), table.column(shown.by, "by")
    across = across or table.free(apart, first="numbers" if numbers_first else None)
    if across is None:
        return apart, None  # Nothing else distinguishes the values, so their names are on the axis.
    return across, apart or table.free(across, first="words" if numbers_first else None)


def looks_of(table: CellTable, apart: str | None, *, dashes: bool = False) -> dict[str, Look]:
    """Return the look of each curve: a variant's own, or colors by the order of numbers."""
    if apart is None:
        return {"": distinct([table.metric], dashes=dashes)[0]}
    axis = table.axis(apart)
    if axis.numeric:
        return dict(zip(axis.words, ranked(len(axis.words)), strict=True))
    return dict(zip(axis.words, distinct(axis.words, dashes=dashes), strict=True))


def counted(sizes: Iterable[int]) -> str:
    """Write the numbers of values behind summaries: ``n = 5``, ``n = 3 to 5``."""
    known = sorted(set(sizes)) or [0]
    numbers = f"{known[0]}" if len(known) == 1 else f"{known[0]} to {known[-1]}"
    return f"n = {numbers}".replace(" ", NO_BREAK)


def _interval(found: Sequence[Summary]) -> str:
    """Name the statistic and the interval of summaries."""
    n = counted(s.n for s in found)
    if not any(s.n > 1 for s in found):
        return f"one run each ({n})" if found else "no run"
    level = levels(found)
    return f"{found[0].statistic} and its {level} % interval, {n}" if level else f"{found[0].statistic}, {n}"


def levels(found: Iterable[Summary]) -> str:
    """Write the levels that the intervals of summaries cover, in percent; empty without an interval."""
    known = sorted({f"{100 * s.level:.4g}" for s in found if not np.isnan(s.low)}, key=float)
    return " to ".join(dict.fromkeys((known[0], known[-1]))) if known else ""


def _stacked(samples: Iterable[Floats]) -> Floats:
    """Stack samples of different lengths, NaN where one is shorter."""
    rows = list(samples)
    width = max((len(row) for row in rows), default=0)
    return np.array([np.concatenate((row, np.full(width - len(row), np.nan))) for row in rows])


def _curves(
    table: CellTable, across: str | None, apart: str | None, axis: AxisValues, kind: Kind, looks: Mapping[str, Look]
) -> tuple[list[Curve], list[Summary]]:
    groups = table.groups(across, apart)
    curves, every = [], []
    for side, look in looks.items():
        words = [w for w in axis.words if (w if across else "", side) in groups]
        if not words:
            continue
        samples = [groups[(w if across else "", side)] for w in words]
        found = summarize_all(samples)
        at = [axis.places[w] for w in words]
        label = side or quantity(table.metric).name
        curves.append(curve_of(label, look, at, found, dots=_stacked(samples), kind=kind))
        every += found
    return curves, every


def _over_words(results: Results, kind: Kind, shown: Shown) -> Picture:
    table = CellTable.of(results, shown)
    across, apart = columns_of(table, shown)
    looks = looks_of(table, apart)
    drawn = quantity(shown.metric)
    panels, every = [], []
    for one in table.panels(across, apart):
        axis = one.axis(across) if across else AxisValues.of([table.frame["name"][0]])
        words = AxisValues(axis.words, {w: float(n) for n, w in enumerate(axis.words)})
        curves, found = _curves(one, across, apart, words, kind, looks)
        panels.append(Panel(one.title, table.name(across), drawn.label, curves, categories=axis.words))
        every += found
    title = _title(table, f"{drawn.title} by {table.name(across) or 'flow'}", apart)
    if kind == "bars":
        note = "Dots are single runs." if any(s.n > 1 for s in every) else ""
        return Picture("bars", f"{title}: {_interval(every)}", "", panels, min(2, len(panels)), share_y=True, note=note)
    n = counted(s.n for s in every)
    most, least = max(s.n for s in every), min(s.n for s in every)
    note = "Symbols are single runs."
    if most >= FEWEST_BOX:
        note += " Box: quartiles; line: median; whiskers: the last run within 1.5 times the distance of the quartiles."
    if least < FEWEST_BOX:
        note += f" Fewer than {FEWEST_BOX} runs have no box: line at their median."
    return Picture("box", f"{title}, {n}", "", panels, min(2, len(panels)), share_y=True, note=note)


def _title(table: CellTable, what: str, apart: str | None) -> str:
    return f"{what} and {table.name(apart)}" if apart else what


def bars(results: Results, shown: Shown) -> Picture:
    """Draw bars of a metric's median with its interval and the repetitions as dots."""
    return _over_words(results, "bars", shown)


def box(results: Results, shown: Shown) -> Picture:
    """Draw boxes of a metric's repetitions; fewer than five repetitions are symbols with a line at their median."""
    return _over_words(results, "box", shown)


def lines(results: Results, shown: Shown) -> Picture:
    """Draw a metric over a swept quantity, with intervals and dots; lines join numbers only, never words."""
    table = CellTable.of(results, shown)
    across, apart = columns_of(table, shown, numbers_first=True)
    if across is None:
        raise ResultsError("lines need a sweep: give --x a swept path")
    looks = looks_of(table, apart)
    drawn = quantity(shown.metric)
    whole = table.axis(across)
    kind: Kind = "line" if whole.numeric else "points"
    panels, every = [], []
    for one in table.panels(across, apart):
        curves, found = _curves(one, across, apart, whole, kind, looks)
        every += found
        categories = () if whole.numeric else whole.words
        ticks = tuple(whole.places.values()) if whole.log else ()
        panels.append(
            Panel(one.title, whole.label(table.name(across)), drawn.label, curves, categories=categories,
                  x_log=whole.log, x_ticks=ticks)
        )  # fmt: skip
    title = f"{drawn.title} over {table.name(across)}: {_interval(every)}"
    note = f"{'Bands' if whole.numeric else 'Vertical lines'} are the intervals, pale dots are single runs."
    note = note if any(s.n > 1 for s in every) else ""
    return Picture("lines", title, "", panels, columns=min(2, len(panels)), share_y=True, note=note)
