"""The rows behind a figure over cells: one metric with the columns that distinguish its values.

A figure has at most two quantities within a panel: one across and one for the curves. Each further
swept quantity has panels of its own, because values of different cells are not one sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.axis_values import AxisValues
from dumbbell.plots.spec import Floats
from dumbbell.registry import unknown
from dumbbell.results.frames.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["CellTable", "Shown", "word"]

Key = tuple[str, ...]

OWNERS = ("name", "variant", "discipline")
"""Columns that distinguish flows and queues within a cell."""
MOST_PANELS = 12
"""Panels that one figure has at most."""


def word(value: object) -> str:
    """Write a cell's value; a case that doesn't set a path leaves the scenario's own value."""
    if value is None:
        return "as in the scenario"
    return f"{value:g}" if isinstance(value, float) else str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of the results that a figure over cells shows.

    Attributes
    ----------
    metric : str
    x, by : str or None
        The columns across and of the curves; default: the first that distinguish values.
    flow : sequence of str or None
        Names of flows or queues; default: see `CellTable.of`.
    where : mapping or None
        Values of swept paths, which select cells.
    """

    metric: str = "goodput_bps"
    x: str | None = None
    by: str | None = None
    flow: Sequence[str] | None = None
    where: Mapping[str, object] | None = None


@dataclass(frozen=True)
class CellTable:
    """Values of a metric by the words of the columns that distinguish them.

    Attributes
    ----------
    frame : DataFrame
        Columns `paths` and `OWNERS` as texts, ``run``, ``repetition`` and ``value`` in the unit of the axis.
    metric : str
    paths : sequence of str
        Swept paths.
    title : str
        The values that this part of the results has in common, for the title of its panel.
    """

    frame: pl.DataFrame
    metric: str
    paths: Sequence[str]
    title: str = ""

    @classmethod
    def of(cls, results: Results, shown: Shown) -> CellTable:
        """Select a metric's values, narrowed to some flows (or queues) and to some cells.

        Raises
        ------
        ResultsError
            For an unknown metric, a metric that is no number, an unknown flow, a condition that no cell meets, and
            if no run has a value.
        """
        metric = shown.metric
        frame = _frame(results, metric)
        paths = [p for p in dict.fromkeys(path for run in results.runs for path in run.cell) if p in frame.columns]
        frame = _of_owners(results, frame, shown.flow)
        frame = frame.filter(pl.col(metric).is_not_null() & pl.col(metric).cast(pl.Float64).is_finite())
        if frame.is_empty():
            raise ResultsError(f"no run has a value of '{metric}'")
        owners = [c for c in OWNERS if c in frame.columns]
        words = frame.select(
            *(pl.Series(c, [word(v) for v in frame[c]], dtype=pl.String) for c in (*paths, *owners)),
            "run",
            "repetition",
            value=pl.col(metric).cast(pl.Float64) * quantity(metric).factor,
        )
        return cls(words, metric, paths)._where(shown.where or {})

    def _where(self, where: Mapping[str, object]) -> CellTable:
        frame = self.frame
        for given, value in where.items():
            column = self.column(given, "where")
            assert column is not None
            known = frame[column].unique(maintain_order=True).to_list()
            if word(value) not in known:
                raise ResultsError(f"--where {given}: {unknown('value', word(value), known)}")
            frame = frame.filter(pl.col(column) == word(value))
        return replace(self, frame=frame)

    # ------------------------------------------------------------ columns

    @property
    def short(self) -> dict[str, str]:
        """Short names of the swept paths."""
        return short_names(list(self.paths))

    def name(self, column: str | None) -> str:
        """Return the short name of a column."""
        if column == "name":
            return "queue" if "discipline" in self.frame.columns else "flow"
        return self.short.get(column or "", column or "")

    def column(self, given: str | None, option: str) -> str | None:
        """Find a column by its path, by the end of it, or by its name.

        Raises
        ------
        ResultsError
            For a name that no column, or more than one, has.
        """
        if given is None:
            return None
        short = self.short
        ends = [p for p in self.paths if p == given or p.endswith(f".{given}") or short[p] == given]
        owners = [c for c in OWNERS if c in self.frame.columns]
        if len(ends) == 1:
            return ends[0]
        if given in owners:
            return given
        raise ResultsError(f"--{option}: {unknown('column', given, [*short.values(), *owners])}")

    def free(self, *used: str | None, first: Literal["numbers", "words"] | None = None) -> str | None:
        """Return the first column that distinguishes values further than the used ones do; `first` is preferred."""
        columns = [c for c in (*self.paths, *OWNERS) if c in self.frame.columns and self._adds(c, used)]
        swept = [c for c in columns if first and c in self.paths and self.axis(c).numeric == (first == "numbers")]
        return next(iter([*swept, *columns]), None)

    def _adds(self, column: str, used: Sequence[str | None]) -> bool:
        """Return True if the column has several values where the used columns are the same."""
        keys = [u for u in used if u is not None]
        if column in keys:
            return False
        if not keys:
            return self.frame[column].n_unique() > 1
        return bool((self.frame.group_by(keys).agg(pl.col(column).n_unique())[column] > 1).any())

    def axis(self, column: str) -> AxisValues:
        """Return the values of a column in their order, and their places on an axis."""
        return AxisValues.of(self.frame[column].unique(maintain_order=True).to_list())

    # ------------------------------------------------------------ values

    def panels(self, *used: str | None) -> list[CellTable]:
        """Return a table for each combination of the columns that distinguish values and are not used.

        Raises
        ------
        ResultsError
            If these are more than a figure can show.
        """
        keys: list[str] = []
        while (further := self.free(*used, *keys)) is not None:
            # Two flows of one variant are distinguished by name; variants that flows have in common, are one curve.
            if further in OWNERS and {"name", "variant"} & {*used, *keys}:
                break
            keys.append(further)
        if not keys:
            return [self]
        order = {c: {w: n for n, w in enumerate(self.axis(c).words)} for c in keys}
        parts = self.frame.partition_by(keys, maintain_order=True, as_dict=True)
        if len(parts) > MOST_PANELS:
            names = " and ".join(f"'{self.name(c)}'" for c in keys)
            raise ResultsError(
                f"{len(parts)} panels would be needed, for each value of {names}: choose one with "
                f"--where {self.name(keys[0])}=VALUE, or other columns with --x and --by"
            )
        placed = sorted(parts.items(), key=lambda item: [order[c][w] for c, w in zip(keys, item[0], strict=True)])
        return [replace(self, frame=part, title=self._titled(keys, key)) for key, part in placed]

    def _titled(self, keys: Sequence[str], key: Sequence[object]) -> str:
        parts = [str(w) if c in OWNERS else f"{self.name(c)} {w}" for c, w in zip(keys, key, strict=True)]
        return ", ".join(parts)

    def groups(self, *keys: str | None, each: bool = False) -> dict[Key, Floats]:
        """Return the values by the words of some columns, in the order of their axes.

        Parameters
        ----------
        keys : str or None
            Columns. For None the word is empty.
        each : bool
            True for every value; otherwise a run has one value, the mean of its own (of its transfers, for example),
            because runs are the repetitions.
        """
        columns = [k for k in keys if k is not None]
        frame = self.frame
        if not each:
            alike = ["run", "repetition", *columns, *(["name"] if "name" in frame.columns else [])]
            frame = frame.group_by(list(dict.fromkeys(alike)), maintain_order=True).agg(pl.col("value").mean())
        frame = frame.sort("repetition", maintain_order=True)
        if not columns:
            return {("",) * len(keys): frame["value"].to_numpy()}
        parts = frame.partition_by(columns, as_dict=True)
        found: dict[Key, Floats] = {}
        for words in product(*(self.axis(c).words for c in columns)):
            if words in parts:
                rest = iter(words)
                key = tuple("" if k is None else next(rest) for k in keys)
                found[key] = parts[words]["value"].to_numpy()
        return found


def _frame(results: Results, metric: str) -> pl.DataFrame:
    """Find the frame that has a metric."""
    frames = (results.flows, results.queues, results.transfers.rename({"flow": "name"}, strict=False))
    found = next((frame for frame in frames if metric in frame.columns), None)
    numbers = sorted({c for frame in frames for c in _numbers(frame)})
    if found is None or metric in {"run", "repetition", "seed"}:
        raise ResultsError(unknown("metric", metric, numbers))
    if metric not in set(_numbers(found)):
        raise ResultsError(f"metric '{metric}' is no number: {', '.join(numbers[:4])} are, for example")
    return found


def _numbers(frame: pl.DataFrame) -> Iterator[str]:
    behind = frame.columns.index("seed") + 1 if "seed" in frame.columns else 0
    for column in frame.columns[behind:]:
        kind = frame.schema[column]
        if kind.is_numeric() or kind == pl.Boolean:
            yield column


def _of_owners(results: Results, frame: pl.DataFrame, flow: Sequence[str] | None) -> pl.DataFrame:
    """Select flows or queues by name; by default all flows, and the queue where packets waited longest."""
    known = frame["name"].unique(maintain_order=True).to_list()
    for name in flow or ():
        if name not in known:
            raise ResultsError(unknown("flow or queue", name, known))
    if not flow and frame.height == results.queues.height and "mean_backlog_bytes" in frame.columns:
        busy = frame.group_by("name", maintain_order=True).agg(pl.col("mean_backlog_bytes").mean().fill_null(0.0))
        flow = [busy.sort("mean_backlog_bytes", maintain_order=True)["name"][-1]]
    return frame.filter(pl.col("name").is_in(list(flow))) if flow else frame
