"""Results of a scenario: runs, frames over runs, series, statistics."""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dumbbell import _core
from dumbbell.backends import Table
from dumbbell.common.accessors import accessor
from dumbbell.common.words import counted
from dumbbell.exceptions import ResultsError
from dumbbell.registry import unknown
from dumbbell.results.frames.export import to_duckdb, to_pandas
from dumbbell.results.frames.run_frames import tables
from dumbbell.results.frames.summary import LARGE
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.record import Run
from dumbbell.results.runs.run_list import Runs
from dumbbell.results.store.directory import Store
from dumbbell.scenario import Scenario
from dumbbell.scenario.flow.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import duckdb
    import pandas
    import polars as pl

    from dumbbell.backends import Backend
    from dumbbell.metrics import Compared
    from dumbbell.metrics.intervals import Interval
    from dumbbell.plots.accessor import Plots
    from dumbbell.results.running.runner import Progress
    from dumbbell.results.statistics.lint import LintWarning

__all__ = ["Results", "read_results"]


class Results:
    """The runs of a scenario: as objects (`runs`), as frames (`flows`, `queues`, `transfers`) and as series.

    ``loaded`` is True if they were read from a directory, whose code never runs.
    ``damaged`` counts the stored runs that were left out, because their content isn't the content that was stored.

    Each frame has one column per swept path, then ``run``, ``repetition`` and ``seed``, then the metrics. Where no
    measurement exists (the RTT of a flow that delivered nothing), the value is null.
    """

    def __init__(
        self,
        scenario: Scenario,
        runs: Sequence[Run],
        tables: Mapping[str, Mapping[str, Table]] | None = None,
        store: Store | None = None,
    ) -> None:
        self.scenario = scenario
        self.runs = runs if isinstance(runs, Runs) else Runs.of(runs)
        self._tables = tables or {}
        self._store = store
        self.damaged = 0
        self.loaded = False

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """Read a results directory; runs that are still missing are left out."""
        store = Store(path)
        scenario = store.scenario()
        log = store.read(scenario)
        most = scenario.until.at_most if scenario.until is not None else scenario.repetitions
        places = [(n, r) for n, r in log.places() if n < len(scenario.cells) and r < most]
        results = cls(scenario, Runs(log, places), store=store)
        results.damaged = log.damaged
        results.loaded = True
        return results

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow and run: goodput, drops, RTT and the rest."""
        return self._made("flows")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """One row per queue and run: drops, backlog, sojourn, utilization."""
        return self._made("queues")

    @cached_property
    def transfers(self) -> pl.DataFrame:
        """One row per transfer, page or ping and run."""
        return self._made("transfers")

    def columns(self, table: Frame, names: Sequence[str]) -> pl.DataFrame:
        """Return some columns of a frame, as far as it has them, with the swept paths; the others aren't read."""
        wanted = set(names)
        if self._store is not None and table not in self.__dict__:
            stored = self._store.frame(table, len(self.runs), wanted)
            if stored is not None:
                return stored
        frame = self._frame(table)
        before = frame.columns[: frame.columns.index("run")]
        return frame.select([*before, *(name for name in frame.columns[len(before) :] if name in wanted)])

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return `flows`, `queues` and `transfers` by name."""
        return {name: self._frame(name) for name in get_args(Frame)}

    def made_frames(self) -> Iterator[tuple[str, Callable[[Path], object]]]:
        """Yield each frame's name and the function that writes it; those of many runs are not kept in memory."""
        if len(self) > LARGE:
            yield from ((name, rows.write) for name, rows in tables(self.runs, self.scenario.cells, get_args(Frame)))
            return
        for name in get_args(Frame):
            yield name, self._frame(name).write_parquet

    def _made(self, name: Frame) -> pl.DataFrame:
        stored = self._store.frame(name, len(self.runs)) if self._store is not None else None
        return next(tables(self.runs, self.scenario.cells, [name]))[1].frame() if stored is None else stored

    def to_pandas(self, table: Frame = "flows") -> pandas.DataFrame:
        """Return one of the frames as a pandas frame.

        Raises
        ------
        ResultsError
            If pandas or pyarrow is not installed.
        """
        return to_pandas(self._frame(table))

    def to_duckdb(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB database in memory with the tables ``flows``, ``queues`` and ``transfers``.

        Raises
        ------
        ResultsError
            If duckdb or pyarrow is not installed.
        """
        return to_duckdb(self.frames())

    def _frame(self, table: Frame) -> pl.DataFrame:
        if table not in get_args(Frame):
            raise ResultsError(unknown("table", str(table), list(get_args(Frame))))
        frame: pl.DataFrame = getattr(self, table)
        return frame

    def statistics(self, metric: str, *, interval: Interval = "order", level: float = 0.95) -> pl.DataFrame:
        """Summarize a metric over the repetitions, by cell and flow (or queue).

        Parameters
        ----------
        metric : str
            A column of `flows`, `queues` or `transfers`.
        interval : {"order", "bca", "student"}
            Of the median between two ordered values, the BCa bootstrap of the median, or Student's t about the mean.
        level : float, no unit

        Returns
        -------
        polars.DataFrame
            Cell, ``name``, then ``n``, ``mean``, ``median``, ``sd``, ``min``, ``max``, ``low`` and ``high`` (the
            interval) in the metric's unit, ``level`` (the confidence level that the interval covers; of five ordered
            values at most 0.9375), ``refused`` (why repetitions are no evidence, without interval then) and the single
            ``values``.
        """
        table: pl.DataFrame = accessor("results.statistics")(self, metric, interval=interval, level=level)
        return table

    def comparisons(
        self,
        metric: str,
        by: str,
        *,
        level: float = 0.95,
        margin: str | None = None,
        names: Sequence[str] | None = None,
    ) -> list[tuple[dict[str, object], Compared]]:
        """Compare the values that one swept path takes, each with each other, on the same seeds.

        Parameters
        ----------
        metric : str
            A column of `flows`, `queues` or `transfers`.
        by : str
            The swept path, or its end, such as ``variant``.
        level : float, no unit
            Confidence level of all comparisons together (Holm's correction).
        margin : str, optional
            The difference that matters: a part of the larger mean such as "1 %", a value in the metric's unit such as
            "2 ms", or "none". Default: that of the metric.
        names : sequence of str, optional
            The flows or queues that are compared, which are the family. Default: the flow that the path belongs to;
            for other paths all, except the second of two flows that share a link, which has what the first leaves.

        Returns
        -------
        list of (dict, Compared)
            The rest of the cell, and the comparison, with its ``verdict``. Cells whose repetitions are copies of one
            run, shifted in time, are refused as evidence.

        Raises
        ------
        ResultsError
            If the metric, the path, a name or the margin is wrong, or the pairs of values are too many.
        """
        found: list[tuple[dict[str, object], Compared]] = accessor("results.comparisons")(
            self, metric, by, level=level, margin=margin, names=names
        )
        return found

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
        table: pl.DataFrame = accessor("results.fairness")(self, flows, window_s)
        return table

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
        table: pl.DataFrame = accessor("results.settled")(self, window_s, warm_up_s)
        return table

    def responsiveness(self) -> pl.DataFrame:
        """Return the result of each responsiveness test: a row for each run.

        Needs a scenario with ``preset = "responsiveness"``, and the series that it records by default.

        Returns
        -------
        polars.DataFrame
            One column per swept path, ``run``, ``repetition``, ``seed``; ``rpm``, ``foreign_rpm``, ``loaded_rpm``,
            ``idle_rpm`` (round trips per minute, the last one before the load); ``confidence`` (high, medium, low);
            ``tcp_f_ms``, ``http_f_ms``, ``http_l_ms``, ``idle_ms`` (ms); ``download_bps``, ``upload_bps`` (bit/s,
            over the last four intervals); ``stable_s``, ``saturated_s``: times since the start of the load at which
            responsiveness and goodput became stable (s).
        """
        table: pl.DataFrame = accessor("results.responsiveness")(self)
        return table

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
        table: pl.DataFrame = accessor("results.harm")(
            self, metric, better=better, flows=flows, jobs=jobs, backend=backend, progress=progress
        )
        return table

    def slowdowns(
        self,
        *,
        metric: Literal["slowdown", "took_s"] = "slowdown",
        bins: Sequence[str] | None = None,
        flow: Sequence[str] | None = None,
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Summarize the transfers of workloads by size, with intervals over repetitions.

        Parameters
        ----------
        metric : {"slowdown", "took_s"}
            Completion time over that on the empty path (no unit), or the completion time in s.
        bins : sequence of str, optional
            Upper edges of the bins, such as ``["100 kB", "10 MB"]``; default: bins with a tenth of the
            transfers each, or more where sizes are equal.
        flow : sequence of str, optional
            Names; the copies of a flow with a `count` are together, under its name.
        level : float, no unit
            Confidence level.

        Returns
        -------
        polars.DataFrame
            A row for each cell, flow, bin (the last one is "all") and statistic: ``size`` (the bin), ``from_bytes``,
            ``to_bytes`` and ``median_bytes`` (of its transfers), ``transfers`` and ``incomplete`` (over all
            repetitions), ``statistic`` (mean, median, p95, p99 of the transfers of a repetition), ``n`` (repetitions
            with enough transfers: 20 for p95, 100 for p99), ``value`` (its mean over repetitions; null without any)
            with ``low`` and ``high`` (BCa bootstrap).

        Raises
        ------
        ResultsError
            If no flow generates transfers, none began in the measured time, or an argument is wrong.
        """
        table: pl.DataFrame = accessor("results.slowdowns")(self, metric=metric, bins=bins, flow=flow, level=level)
        return table

    def rounds(self, flow: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rounds of incast: transfers of the copies of a flow that begin together.

        Parameters
        ----------
        flow : sequence of str, optional
            Names of flows with ``arrivals.together``; default: all.

        Returns
        -------
        polars.DataFrame
            A row for each run, flow and round (``number``): ``start_s``, ``transfers``, ``bytes`` of all of them, and
            ``took_s``, from the first start to the last byte of the last transfer; null if one did not complete.

        Raises
        ------
        ResultsError
            If no transfers begin together.
        """
        table: pl.DataFrame = accessor("results.rounds")(self, flow)
        return table

    def document(self) -> dict[str, Any]:
        """Return everything but the series as the command line's ``--json`` prints it."""
        return {"runs": [run.document() for run in self.runs], **self._generated()}

    @property
    def has_workloads(self) -> bool:
        """True if a flow of the first cell generates transfers."""
        flows = self.scenario.cells[0].scenario.flows if self.scenario.cells else []
        return any(isinstance(flow.application, Workload) for flow in flows)

    def _generated(self) -> dict[str, Any]:
        """Return the part of the document about generated transfers; empty without any."""
        if not self.has_workloads or not self.transfers.height:
            return {}
        return {"slowdowns": self.slowdowns().to_dicts()}

    def by_cell(self) -> list[Sequence[Run]]:
        """Return the runs of each cell, in the order of the sweep; the runs of a large sweep are read when used."""
        return self.runs.by_cell()

    @property
    def repetitions(self) -> list[int]:
        """The numbers of repetitions that cells have, each once, sorted; [0] without runs."""
        return sorted(set(Counter(cell for cell, _ in self.runs.places).values())) or [0]

    @property
    def made_by(self) -> str:
        """Name the version that made the runs, and the back end unless it is the simulator."""
        kept = self._store.manifest() if self._store is not None else {}
        name = kept.get("backend", "sim")
        version = f"Dumbbell {kept.get('version', _core.version)}"
        return version if name == "sim" else f"{version}, back end {name}"

    @property
    def plot(self) -> Plots:
        """Figures: ``results.plot.cwnd()``, ``results.plot.bars(metric="drops")``; see `dumbbell.plots.catalog`."""
        plots: Plots = accessor("results.plot")(self)
        return plots

    @cached_property
    def warnings(self) -> list[LintWarning]:
        """Warnings about weak results, as the command line prints them after a run."""
        return self.lint()

    def lint(self) -> list[LintWarning]:
        """Return warnings about weak results: see `dumbbell.results.statistics.lint`."""
        found: list[LintWarning] = accessor("results.lint")(self)
        return found

    def captures(self, run: int | Run = 0) -> dict[str, Path]:
        """Find a run's captures: the pcapng file of each point. Only a results directory keeps them."""
        return self._store.captures(self._run(run).key) if self._store is not None else {}

    def qlogs(self, run: int | Run = 0) -> dict[str, Path]:
        """Find a run's qlog files, by ``FLOW.CONNECTION.client`` and ``.server``; a results directory keeps them."""
        return self._store.qlogs(self._run(run).key) if self._store is not None else {}

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
        import polars as pl  # slow to import

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
            A traced column: ``cwnd``, ``ssthresh``, ``srtt``, ``inflight``, ``phase`` ... of a flow; ``rtt``, one row
            per RTT sample;
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
        from dumbbell.results.frames.series import series  # imports polars

        return series(self, self._run(run), column, flow=flow, queue=queue, kind=kind)

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
        warnings = self.warnings if len(self) <= LARGE else []  # those of a large sweep take seconds
        warned = f", {counted(len(warnings), 'warning')} (.warnings)" if warnings else ""
        runs, of = counted(len(self.runs), "run"), counted(cells, "cell")
        return f"<Results of '{self.scenario.name}': {runs}, {of}{warned}>"

    def _repr_html_(self) -> str:
        """Show means over repetitions, warnings and one figure, for notebooks."""
        html: str = accessor("results.notebook")(self)
        return html


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
