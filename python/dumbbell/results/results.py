"""Results of a scenario: runs, frames over runs, series, statistics."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from dumbbell.backends import Table
from dumbbell.exceptions import ResultsError
from dumbbell.registry import unknown
from dumbbell.results.frames import frame
from dumbbell.results.record import Run, run_key
from dumbbell.results.statistics import comparisons, fairness, fairness_over_time, settled, statistics
from dumbbell.results.store import Store
from dumbbell.results.summary import flow_summary, queue_summary
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dumbbell.backends import Backend
    from dumbbell.metrics import Compared
    from dumbbell.metrics.summary import Interval
    from dumbbell.plots.accessor import Plots
    from dumbbell.plots.spec import Picture
    from dumbbell.results.lint import Warned
    from dumbbell.results.runner import Progress

__all__ = ["Results", "read_results"]


class Results:
    """The runs of a scenario: as objects (`runs`), as frames (`flows`, `queues`, `transfers`) and as series.

    Each frame has one column per swept path, then ``run``, ``repetition`` and ``seed``, then the metrics. Where no
    measurement exists (the RTT of a flow that delivered nothing), the value is null.
    """

    def __init__(
        self,
        scenario: Scenario,
        runs: list[Run],
        tables: dict[str, dict[str, Table]] | None = None,
        store: Store | None = None,
    ) -> None:
        self.scenario = scenario
        self.runs = tuple(runs)
        self._tables = tables or {}
        self._store = store

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """Read a results directory; runs that are still missing are left out."""
        from dumbbell.results.runner import jobs_of  # noqa: PLC0415

        store = Store(path)
        scenario = store.scenario()
        loaded = [run for job in jobs_of(scenario) if (run := store.load(run_key(job), 0)) is not None]
        return cls(scenario, [replace(run, index=n) for n, run in enumerate(loaded)], store=store)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow and run: goodput, drops, RTT and the rest."""
        return frame(self.runs, lambda run: run.flows)

    @cached_property
    def queues(self) -> pl.DataFrame:
        """One row per queue and run: drops, backlog, sojourn, utilization."""
        return frame(self.runs, lambda run: run.queues)

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer, page or ping and run."""
        return frame(self.runs, lambda run: run.transfers)

    def statistics(self, metric: str, *, interval: Interval = "bca", level: float = 0.95) -> pl.DataFrame:
        """Summarize a metric over the repetitions, by cell and flow (or queue).

        Parameters
        ----------
        metric : str
            A column of `flows`, `queues` or `transfers`.
        interval : {"bca", "student"}
            The BCa bootstrap of the median, or Student's t about the mean.
        level : float, no unit

        Returns
        -------
        polars.DataFrame
            Cell, ``name``, then ``n``, ``mean``, ``median``, ``sd``, ``min``, ``max``, ``low`` and
            ``high`` (the interval) in the metric's unit, and the single ``values``.
        """
        return statistics(self, metric, interval=interval, level=level)

    def comparisons(self, metric: str, by: str, *, level: float = 0.95) -> list[tuple[dict[str, object], Compared]]:
        """Compare the values that one swept path takes, each with each other, on the same seeds.

        Parameters
        ----------
        metric : str
            A column of `flows`, `queues` or `transfers`.
        by : str
            The swept path, or its end, such as ``variant``.
        level : float, no unit
            Confidence level of all comparisons together (Holm's correction).

        Returns
        -------
        list of (dict, Compared)
            The rest of the cell, and the comparison.
        """
        return comparisons(self, metric, by, level=level)

    def fairness(self, flows: Sequence[str] | None = None, *, window_s: float | None = None) -> pl.DataFrame:
        """Compute how flows share the goodput, each over its own time or window by window.

        Parameters
        ----------
        flows : sequence of str, optional
            Default: those that send as much as they can.
        window_s : float, seconds, optional
            Use windows of this length over the time that all flows have in common; needs series.

        Returns
        -------
        polars.DataFrame
            A row for each run: ``jain``, ``least_share_ratio``, ``largest_share_ratio`` (the rate of a flow over
            the fair share) and ``rtt_slope`` (goodput over the idle round trip, both logarithmic; null where all have
            the same). With windows a row for each window: ``time_s`` (its end) and ``jain``.
        """
        return fairness(self, flows) if window_s is None else fairness_over_time(self, window_s, flows)

    def settled(self, window_s: float = 0.1, *, warm_up_s: float | None = None) -> pl.DataFrame:
        """Return each flow's goodput with and without the warm-up, both in bit/s.

        Needs series of the flows.

        Parameters
        ----------
        window_s : float, seconds
            Windows that the goodput is counted in.
        warm_up_s : float, seconds, optional
            Length of the beginning that is cut; default: until the series has settled (MSER-5), ``warm_up_s`` being
            null where a run is too short.
        """
        return settled(self, window_s, warm_up_s)

    def harm(
        self,
        metric: str = "goodput_bps",
        *,
        better: Literal["more", "less"] | None = None,
        flows: Sequence[str] | None = None,
        jobs: int | None = None,
        backend: Backend | None = None,
        progress: Progress | None = None,
    ) -> pl.DataFrame:
        """Run each flow alone on the same path and seeds, and compute the harm that the others do to it.

        Parameters
        ----------
        metric : str
            A column of `flows`.
        better : {"more", "less"}, optional
            The better direction; known for the usual metrics.
        flows : sequence of str, optional
            Names; default: those that send as much as they can.
        jobs, backend, progress : optional
            As for `dumbbell.run`.

        Returns
        -------
        polars.DataFrame
            A row for each run and flow: ``alone`` and ``contested`` in the metric's unit, and ``harm``, the part of
            it that is lost (see `dumbbell.metrics.harm`).
        """
        from dumbbell.results.harm import harm_done  # noqa: PLC0415 - imports this module

        return harm_done(self, metric, better=better, flows=flows, jobs=jobs, backend=backend, progress=progress)

    def document(self) -> dict[str, Any]:
        """Return everything but the series as the command line's ``--json`` prints it."""
        return {"runs": [run.document() for run in self.runs]}

    def by_cell(self) -> list[list[Run]]:
        """Return the runs of each cell, in the order of the sweep."""
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            groups.setdefault(json.dumps(run.cell, sort_keys=True), []).append(run)
        return list(groups.values())

    @property
    def plot(self) -> Plots:
        """Figures: ``results.plot.cwnd()``, ``results.plot.bars(metric="drops")``; see `dumbbell.plots.catalog`."""
        from dumbbell.plots.accessor import Plots  # noqa: PLC0415 - imports this module

        return Plots(self)

    def lint(self) -> list[Warned]:
        """Return warnings about weak results: see `dumbbell.results.lint`."""
        from dumbbell.results.lint import lint  # noqa: PLC0415 - imports this module

        return lint(self)

    def captures(self, run: int | Run = 0) -> dict[str, Path]:
        """Find a run's captures: the pcapng file of each point. Only a results directory keeps them."""
        return self._store.captures(self._run(run).key) if self._store is not None else {}

    # ------------------------------------------------------------ series

    def tables(self, run: int | Run = 0) -> list[str]:
        """Name the traced tables of a run, such as ``flow/tcp`` or ``queue/r1->r2``."""
        run = self._run(run)
        if run.key in self._tables:
            return list(self._tables[run.key])
        return self._store.tables(run.key) if self._store is not None else []

    def table(self, run: int | Run, name: str) -> pl.DataFrame:
        """Return a traced table as it was recorded: times in ns, sizes in bytes.

        Raises
        ------
        ResultsError
            If the run has no such table.
        """
        return pl.DataFrame(self.arrays(run, name))

    def arrays(self, run: int | Run, name: str) -> Table:
        """Return a traced table as NumPy arrays by column; without ``out`` they are the simulator's own memory.

        Raises
        ------
        ResultsError
            If the run has no such table.
        """
        run = self._run(run)
        known = self.tables(run)
        if name not in known:
            if not known:
                raise ResultsError("no series were kept: set trace.series = true (--trace on the command line)")
            raise ResultsError(unknown("table", name, known))
        if run.key in self._tables:
            return self._tables[run.key][name]
        if self._store is None:
            raise ResultsError(f"run {run.index} has no table '{name}'")
        return {column.name: column.to_numpy() for column in self._store.table(run.key, name)}

    def series(
        self,
        run: int | Run,
        column: str,
        *,
        flow: str | None = None,
        queue: str | None = None,
        kind: Literal["queue", "departures", "drops"] = "queue",
    ) -> pl.DataFrame:
        """Return one column over time.

        Parameters
        ----------
        run : int or Run
            A run, or its number in `runs`.
        column : str
            A traced column: ``cwnd``, ``ssthresh``, ``srtt``, ``inflight``, ``phase`` ... of a flow;
            ``packets``, ``bytes`` of a queue (``sojourn`` of its departures).
        flow, queue : str, optional
            Its owner. With neither: all flows that have the column, with a further column ``flow``.
        kind : str
            Of a queue: its backlog ("queue"), or the table of its departures or drops.

        Returns
        -------
        polars.DataFrame
            ``time_s`` (float64, seconds) and ``column``; times such as srtt and rto are in ms, sizes in bytes.
        """
        run = self._run(run)
        if flow is not None and queue is not None:
            raise ResultsError("series of a flow or of a queue, not both")
        if queue is not None:
            return _over_time(self.table(run, f"{kind}/{queue}"), column)
        if flow is not None:
            return _over_time(self.table(run, f"flow/{flow}"), column)
        found = []
        for name in self.tables(run):
            if name.startswith("flow/") and _column(self.table(run, name), column) is not None:
                part = _over_time(self.table(run, name), column)
                found.append(part.with_columns(flow=pl.lit(name.removeprefix("flow/"))))
        if not found:
            flow_tables = [t for t in self.tables(run) if t.startswith("flow/")]
            if not flow_tables:
                raise ResultsError("no series were kept: set trace.series = true (--trace on the command line)")
            raise ResultsError(unknown("column", column, self.table(run, flow_tables[0]).columns))
        return pl.concat(found)

    def _run(self, run: int | Run) -> Run:
        if isinstance(run, Run):
            return run
        if not 0 <= run < len(self.runs):
            raise ResultsError(f"no run {run} exists: the results hold {len(self.runs)} (from 0)")
        return self.runs[run]

    # ------------------------------------------------------------ display

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        cells = len({str(run.cell) for run in self.runs})
        return f"<Results of '{self.scenario.name}': {len(self.runs)} runs, {cells} cells>"

    def _repr_html_(self) -> str:
        """Show means over repetitions and one figure, for notebooks."""
        from dumbbell.plots.notebook import page_of  # noqa: PLC0415 - slow to import

        title = f"{self!r}; means over repetitions"
        return page_of(title, [flow_summary(self), queue_summary(self)], self._first_picture)

    def _first_picture(self) -> Picture:
        """Make the first figure: congestion windows over time, or else goodput by cell or flow."""
        from dumbbell.plots.catalog import make  # noqa: PLC0415 - slow to import

        if self.runs and any(name.startswith("flow/") for name in self.tables(0)):
            return make(self, "cwnd")
        if len(self.by_cell()) > 1:
            return make(self, "lines", metric="goodput_bps")
        return make(self, "bars", metric="goodput_bps", by="name")


def read_results(path: str | os.PathLike[str]) -> Results:
    """Read the results that a run kept in a directory.

    Parameters
    ----------
    path : path
        The directory: ``out`` of `dumbbell.run`, ``--out`` of the command line.

    Returns
    -------
    Results
        All finished runs; runs that are still missing are left out.

    Raises
    ------
    ResultsError
        If the directory can't be read, or holds no results.

    Examples
    --------
    >>> import dumbbell
    >>> kept = dumbbell.run("cbr.toml", repetitions=2, out="results")
    >>> dumbbell.read_results("results").flows.equals(kept.flows)
    True
    """
    return Results.load(path)


def _column(table: pl.DataFrame, column: str) -> str | None:
    """Find the table's column: times may be named without their unit."""
    return next((name for name in (column, f"{column}_ns") if name in table.columns), None)


def _over_time(table: pl.DataFrame, column: str) -> pl.DataFrame:
    """Select one column of a table: time in s, durations in ms."""
    name = _column(table, column)
    if name is None:
        raise ResultsError(unknown("column", column, [c for c in table.columns if c != "t_ns"]))
    value = pl.col(name) * 1e-6 if name.endswith("_ns") else pl.col(name)
    return table.select(time_s=pl.col("t_ns") * 1e-9, **{column: value})
