"""Means over repetitions, as the command line and notebooks show them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dumbbell.results.columns import shown_where_any, summarized
from dumbbell.results.frames.run_frames import label
from dumbbell.results.runs.record import Run
from dumbbell.scenario.network.model import Custom
from dumbbell.scenario.paths import join, split

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.results.frames.repetition_means import FrameMeans
    from dumbbell.results.results import Results
    from dumbbell.results.runs.column import Frame

__all__ = ["Summary", "flow_summary", "queue_summary", "short_names"]

BETWEEN = re.compile(r"r\d+->r\d+$")
"""Links between routers."""
IN_USE = 0.05
"""Links with less utilization (those that carry ACKs only) are left out of summaries."""


@dataclass(frozen=True)
class Summary:
    """A table of means over repetitions, as plain values.

    Attributes
    ----------
    keys : tuple of str
        Headings of the columns that identify a row: the cell, the name, the variant.
    metrics : tuple of str
        Headings of the other columns.
    rows : list of tuple
        A row for each cell and flow or queue: the values of ``keys``, then the means (None without a measurement).
    """

    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def frame(self) -> pl.DataFrame:
        """Return the table as a frame."""
        import polars as pl  # slow to import

        return pl.DataFrame(self.rows, schema=[*self.keys, *self.metrics], orient="row", infer_schema_length=None)


Row = Mapping[str, Any]


LARGE = 2000
"""Runs from which means are computed on frames: with fewer, the import of polars takes longer."""


def flow_summary(results: Results) -> Summary:
    """Return a row for each cell and flow: means over repetitions, goodput with its standard deviation."""
    if len(results) > LARGE:
        return _of_frame(_frame_means(results, "flows"), results, "goodput_bps")
    return _Means(results, summarized("flows"), lambda run: run.flows).summary(spread="goodput_bps")


def queue_summary(results: Results) -> Summary:
    """Return a row for each cell and queue that was in use, or whose link lost, marked or changed something."""
    mesh = isinstance(results.scenario.network, Custom)

    def wanted(name: str, of: Values) -> bool:
        return _lost(of) or (_in_use(of) and (mesh or bool(BETWEEN.match(name))))

    if len(results) > LARGE:
        found = _frame_means(results, "queues")
        # The mean is in use or not, and something was lost if the largest number isn't zero.
        halves = {name: {n: [mean] if n == "utilization" else [most] for n, (mean, most) in of.items()}
                  for name, of in found.by_name()}  # fmt: skip
        found.keep("name", [name for name, of in halves.items() if wanted(name, of)])
        return _of_frame(found, results, None)
    means = _Means(results, summarized("queues"), lambda run: run.queues)
    means.keep(wanted)
    return means.summary(spread=None)


def _frame_means(results: Results, table: Frame) -> FrameMeans:
    from dumbbell.results.frames.repetition_means import FrameMeans  # with polars

    wanted = summarized(table)
    names = [*IDENTITY, "run", *(name for name, _, _ in wanted)]
    return FrameMeans(results.columns(table, names), wanted, IDENTITY)


def _of_frame(means: FrameMeans, results: Results, spread: str | None) -> Summary:
    paths, shown, headings, rows = means.table(spread, shown_where_any(), repeated=results.repetitions[-1] > 1)
    return Summary((*short_names(paths).values(), *shown), tuple(headings), rows) if rows else Summary((), (), [])


Values = dict[str, list[float]]
"""The values of each metric in a group of rows, without those that are null."""


class _Means:
    """The metrics of results by cell, name, variant and stack."""

    def __init__(
        self, results: Results, wanted: Sequence[tuple[str, str, float]], rows_of: Callable[[Run], Iterable[Row]]
    ) -> None:
        self._wanted = wanted
        self._paths: dict[str, None] = {}
        self._columns: set[str] = set()
        self._repeated = results.repetitions[-1] > 1
        groups: dict[tuple[Any, ...], tuple[int, Values]] = {}
        for run in (run for chunk in results.runs.chunks() for run in chunk):
            self._paths.update(dict.fromkeys(run.cell))
            cell = tuple((path, label(value)) for path, value in run.cell.items())
            for row in rows_of(run):
                key = (cell, row["name"], row.get("variant"), row.get("stack"))
                self._columns.update(name for name in IDENTITY if name in row)
                _, values = groups.setdefault(key, (run.index, {}))
                for name, _, _ in wanted:
                    if row.get(name) is not None:
                        values.setdefault(name, []).append(row[name])
        # Packed runs come in the order of storage.
        self._groups = [(key, values) for key, (_, values) in sorted(groups.items(), key=lambda item: item[1][0])]

    def keep(self, wanted: Callable[[str, Values], bool]) -> None:
        """Keep the groups of the names for which ``wanted`` is true of all values together."""
        of: dict[str, Values] = {}
        for (_, name, *_), values in self._groups:
            every = of.setdefault(name, {})
            for metric, its in values.items():
                every.setdefault(metric, []).extend(its)
        shown = {name for name, values in of.items() if wanted(name, values)}
        self._groups = [(key, values) for key, values in self._groups if key[1] in shown]

    def summary(self, spread: str | None) -> Summary:
        """Return the means; the standard deviation follows the metric ``spread``."""
        if not self._groups:
            return Summary((), (), [])
        paths = list(self._paths)
        keys = [name for name in IDENTITY if name in self._columns]
        # The column of the variant adds nothing if the cell's columns name it.
        if any(path.endswith(".variant") for path in paths):
            keys = [name for name in keys if name != "variant"]
        headings: list[str] = []
        found: list[list[float | None]] = []
        for name, heading, factor in self._wanted:
            values = [[factor * v for v in group.get(name, ())] for _, group in self._groups]
            if not any(values) or (name in shown_where_any() and not any(map(any, values))):
                continue
            headings.append(heading)
            found.append([_mean(of) for of in values])
            if name == spread and self._repeated:
                headings.append("± sd")
                found.append([_sd(of) for of in values])
        heads = [
            (*map(dict(cell).get, paths), *(dict(zip(IDENTITY, rest, strict=True))[name] for name in keys))
            for (cell, *rest), _ in self._groups
        ]
        whole = [(*head, *means) for head, means in zip(heads, zip(*found, strict=True), strict=True)]
        return Summary((*short_names(paths).values(), *keys), tuple(headings), whole)


IDENTITY = ("name", "variant", "stack")
"""Columns that identify a row beside its cell."""


def _lost(values: Values) -> bool:
    """True if a queue dropped or marked a packet, or its link changed something."""
    return any(value for column in ("drops", "marks", *shown_where_any()) for value in values.get(column, ()))


def _in_use(values: Values) -> bool:
    used = _mean(values.get("utilization", ()))
    return used is not None and used > IN_USE


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _sd(values: Sequence[float]) -> float | None:
    """Return the standard deviation of a sample; None for a single value."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))


def short_names(paths: list[str]) -> dict[str, str]:
    """Shorten paths to their last parts, at least two, as long as they stay distinct."""
    parts = [split(path) for path in paths]
    for length in range(2, max(map(len, parts), default=2)):
        short = [join(p[-length:]) for p in parts]
        if len(set(short)) == len(short):
            return dict(zip(paths, short, strict=True))
    return {path: path for path in paths}
