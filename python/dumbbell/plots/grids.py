"""Figures of cells as tables of colors: heat maps over two swept quantities, matrices of pairs of variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import Summary, jain, number, summarize, summarize_all
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.by_cell import columns_of, counted, levels
from dumbbell.plots.cell_table import CellTable, Shown
from dumbbell.plots.spec import Grid, Panel, Picture

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["heatmap", "matrix"]


def heatmap(results: Results, shown: Shown) -> Picture:
    """Draw a metric's median over two swept quantities, as colors with numbers.

    Raises
    ------
    ResultsError
        If fewer than two quantities are swept, and as `CellTable.of`.
    """
    table = CellTable.of(results, shown)
    across, down = columns_of(table, shown, numbers_first=True)
    if across is None or down is None:
        raise ResultsError("a heat map needs two swept paths: give --x and --by")
    parts = table.panels(across, down)
    panels = [_heat_panel(one, across, down) for one in parts]
    n = counted(len(v) for one in parts for v in one.groups(down, across).values())
    title = f"{quantity(shown.metric).title} by {table.name(across)} and {table.name(down)}: medians, {n}"
    return Picture("heatmap", title, "", panels, columns=min(2, len(panels)))


def _heat_panel(table: CellTable, across: str, down: str) -> Panel:
    groups = table.groups(down, across)
    columns, side = table.axis(across), table.axis(down)
    rows = list(reversed(side.words)) if side.numeric else list(side.words)  # numbers grow upward
    values = np.full((len(rows), len(columns.words)), np.nan)
    texts = [["no value" for _ in columns.words] for _ in rows]
    found = summarize_all(list(groups.values()))
    for (row, column), one in zip(groups, found, strict=True):
        r, c = rows.index(row), columns.words.index(column)
        values[r, c], texts[r][c] = one.value, number(one.value)
    grid = Grid(rows, columns.words, values, texts, quantity(table.metric).label)
    return Panel(table.title, table.name(across), table.name(down), [], grid=grid)


def matrix(results: Results, shown: Shown) -> Picture:
    """Draw the metric of each variant beside each other variant: two flows whose variants are swept.

    A cell holds the first flow's median (the row's variant), the second flow's (the column's) and Jain's index; its
    color is the first flow's share of both.

    Raises
    ------
    ResultsError
        Without two flows whose variants are swept, and as `CellTable.of`.
    """
    table = CellTable.of(results, shown)
    known = set(table.frame["name"])
    paths = [p for p in table.paths if p.endswith(".variant") and p.split(".")[1] in known]
    names = [p.split(".")[1] for p in paths]
    if len(paths) != 2:
        raise ResultsError("a matrix needs two flows whose variants are swept (flows.A.variant, flows.B.variant)")
    both = CellTable.of(results, replace(shown, flow=names))
    parts = both.panels(*paths, "name")
    panels = [_pairs(one, paths, names) for one in parts]
    label = quantity(shown.metric).label
    n = counted(len(v) for one in parts for v in one.groups(*paths, "name").values())
    title = f"{label[:1].upper()}{label[1:]}: {names[0]} above, {names[1]} below"
    level = levels(summarize(v) for one in parts for v in one.groups(*paths, "name").values())
    brackets = f" with their {level} % interval in brackets" if level else ""
    note = f"Medians{brackets}, {n}. J: Jain's index of both. Color: the share of {names[0]}."
    return Picture("matrix", title, "", panels, note=note)


def _pairs(table: CellTable, paths: Sequence[str], names: Sequence[str]) -> Panel:
    groups = table.groups(*paths, "name")
    rows, columns = (table.axis(p).words for p in paths)
    values = np.full((len(rows), len(columns)), np.nan)
    texts = [["no value" for _ in columns] for _ in rows]
    for r, row in enumerate(rows):
        for c, column in enumerate(columns):
            found = [groups.get((row, column, name)) for name in names]
            a, b = found
            if a is None or b is None:
                continue
            one, two = summarize(a), summarize(b)
            total = one.value + two.value
            values[r, c] = one.value / total if total > 0 else np.nan
            texts[r][c] = f"{_bracket(one)}\n{_bracket(two)}"
            if len(a) == len(b):
                texts[r][c] += f"\nJ {summarize(jain(np.stack([a, b], axis=-1))).value:.2f}"
    grid = Grid(rows, columns, values, texts, f"share of {names[0]}", low=0.0, high=1.0, diverging=True)
    return Panel(table.title, f"variant of {names[1]}", f"variant of {names[0]}", [], grid=grid)


def _bracket(one: Summary) -> str:
    interval = "" if np.isnan(one.low) else f" [{number(one.low)}, {number(one.high)}]"
    return f"{number(one.value)}{interval}"
