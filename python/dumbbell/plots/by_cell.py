"""Figures over the cells of a sweep: bars, boxes, distributions, ellipses, heat maps, matrices of pairs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import jain, summarize, summarize_all
from dumbbell.plots.axis_labels import quantity
from dumbbell.plots.ellipse import ellipse_of
from dumbbell.plots.spec import Curve, Grid, Kind, Panel, Picture, curve_of
from dumbbell.registry import unknown
from dumbbell.results.summary import short_names

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["bars", "box", "cdf", "ellipse", "heatmap", "lines", "matrix"]

Floats = npt.NDArray[np.float64]


class _Table:
    """Flows (or queues, for a metric of theirs) with short names of swept paths, narrowed to some flows."""

    def __init__(self, results: Results, metric: str, flow: Sequence[str] | None) -> None:
        frame = results.flows if metric in results.flows.columns else results.queues
        if metric not in frame.columns:
            known = [c for c in (*results.flows.columns, *results.queues.columns) if c not in {"run", "seed"}]
            raise ResultsError(unknown("metric", metric, sorted(set(known))))
        paths = frame.columns[: frame.columns.index("run")]
        self.short = short_names(paths)
        self.long = {short: path for path, short in self.short.items()}
        if frame is not results.flows:
            busy = frame.group_by("name").agg(pl.col("mean_backlog_bytes").mean()).sort("mean_backlog_bytes")
            flow = flow or [busy["name"][-1]]
        else:
            frame = frame.filter(pl.col(metric).is_not_null())
        if flow:
            for name in flow:
                if name not in frame["name"].to_list():
                    raise ResultsError(unknown("flow", name, sorted(set(frame["name"].to_list()))))
            frame = frame.filter(pl.col("name").is_in(list(flow)))
        self.frame = frame
        self.metric = metric
        self.title = ""

    def flows(self, *used: str | None) -> list[_Table]:
        """Return a table for each flow, unless flows are distinguished already: their values are not one quantity."""
        names = self.frame["name"].unique(maintain_order=True).to_list()
        if len(names) < 2 or {"name", "variant"} & set(used):
            return [self]
        return [self._of(name) for name in names]

    def _of(self, name: str) -> _Table:
        one = copy.copy(self)
        one.frame, one.title = self.frame.filter(pl.col("name") == name), name
        return one

    def column(self, given: str | None, place: str) -> str | None:
        """Find a column by its path, by the end of it, or by the name of a metric's column."""
        if given is None:
            return None
        ends = [p for p in self.short if p == given or p.endswith(f".{given}") or self.short[p] == given]
        if len(ends) == 1:
            return ends[0]
        if given in {"name", "variant", "discipline", "repetition"} and given in self.frame.columns:
            return given
        known = [*self.short.values(), *(c for c in ("name", "variant", "discipline") if c in self.frame.columns)]
        raise ResultsError(f"--{place}: {unknown('column', given, known)}")

    def free(self, *used: str | None) -> str | None:
        """Return the first swept path not used yet, or the column that distinguishes flows."""
        for path in self.short:
            if path not in used and self.frame[path].n_unique() > 1:
                return path
        for name in ("name", "variant"):
            if name in self.frame.columns and name not in used and self.frame[name].n_unique() > 1:
                return name
        return None

    def groups(self, *keys: str | None) -> dict[tuple[object, ...], Floats]:
        """Return the metric's values by the values of some columns, in the order of the sweep."""
        columns = [k for k in keys if k is not None]
        if not columns:
            return {(): self._values(self.frame)}
        parts = self.frame.partition_by(columns, maintain_order=True, as_dict=True)
        return {key: self._values(part) for key, part in parts.items()}

    def _values(self, part: pl.DataFrame) -> Floats:
        values = part.sort("repetition", maintain_order=True)[self.metric].cast(pl.Float64).fill_null(np.nan)
        return np.asarray(values.to_numpy() * quantity(self.metric).factor)

    def word(self, column: str | None) -> str:
        return self.short.get(column or "", column or "")


def _by_and_x(table: _Table, x: str | None, by: str | None) -> tuple[str | None, str | None]:
    across = table.column(x, "x")
    apart = table.column(by, "by")
    across = across or table.free(apart)
    return across, apart or table.free(across)


def _look(word: object) -> str:
    return str(word).split("(")[0]


def _padded(samples: Iterable[Floats]) -> Floats:
    """Stack samples of different lengths, NaN where one is shorter."""
    rows = list(samples)
    width = max((len(row) for row in rows), default=0)
    return np.array([np.concatenate((row, np.full(width - len(row), np.nan))) for row in rows])


def _over_words(
    results: Results, kind: Kind, metric: str, x: str | None, by: str | None, flow: Sequence[str] | None
) -> Picture:
    table = _Table(results, metric, flow)
    across, apart = _by_and_x(table, x, by)
    panels = [_words_panel(one, kind, across, apart) for one in table.flows(across, apart)]
    title = f"{quantity(metric).title} by {table.word(across) or 'run'}"
    title += f" and {table.word(apart)}" if apart else ""
    name = "bars" if kind == "bars" else "box"
    return Picture(name, f"{title}: {_times(results)}", "", panels, columns=min(2, len(panels)), share_y=True)


def _words_panel(table: _Table, kind: Kind, across: str | None, apart: str | None) -> Panel:
    groups = table.groups(across, apart)
    words = list(dict.fromkeys(str(key[0]) if across else "all" for key in groups))
    sides = list(dict.fromkeys(key[-1] for key in groups)) if apart else [""]
    shown = quantity(table.metric)
    curves = []
    for side in sides:
        picked = {str(k[0]) if across else "all": v for k, v in groups.items() if not apart or k[-1] == side}
        at = [n for n, word in enumerate(words) if word in picked]
        samples = [picked[words[n]] for n in at]
        label = str(side) if apart else shown.name
        curves.append(
            curve_of(label, _look(side or table.metric), at, summarize_all(samples), dots=_padded(samples), kind=kind)
        )
    return Panel(table.title, table.word(across), shown.label, curves, categories=words)


def _times(results: Results) -> str:
    counts = sorted({len(runs) for runs in results.by_cell()})
    n = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"median and 95 % interval of {n} repetitions" if counts[-1] > 1 else "one run each"


def bars(
    results: Results,
    *,
    metric: str = "goodput_bps",
    x: str | None = None,
    by: str | None = None,
    flow: Sequence[str] | None = None,
) -> Picture:
    """Draw bars of a metric's median with its interval and the repetitions as dots."""
    return _over_words(results, "bars", metric, x, by, flow)


def box(
    results: Results,
    *,
    metric: str = "goodput_bps",
    x: str | None = None,
    by: str | None = None,
    flow: Sequence[str] | None = None,
) -> Picture:
    """Draw boxes of a metric's repetitions."""
    return _over_words(results, "box", metric, x, by, flow)


def lines(
    results: Results,
    *,
    metric: str = "goodput_bps",
    x: str | None = None,
    by: str | None = None,
    flow: Sequence[str] | None = None,
) -> Picture:
    """Draw a metric over a swept quantity, with intervals and dots; numbers make a numeric x axis."""
    table = _Table(results, metric, flow)
    across, apart = _by_and_x(table, x, by)
    if across is None:
        raise ResultsError("lines need a sweep: give --x a swept path")
    panels = [_lines_panel(one, across, apart) for one in table.flows(across, apart)]
    title = f"{quantity(metric).title} over {table.word(across)}: {_times(results)}"
    return Picture("lines", title, "", panels, columns=min(2, len(panels)), share_y=True)


def _lines_panel(table: _Table, across: str, apart: str | None) -> Panel:
    groups = table.groups(across, apart)
    words = list(dict.fromkeys(str(key[0]) for key in groups))
    numbers = [_number(word) for word in words]
    numeric = all(n is not None for n in numbers) and len({u for _, u in filter(None, numbers)}) == 1
    place = {
        w: float(n[0]) if numeric and n else float(k) for k, (w, n) in enumerate(zip(words, numbers, strict=True))
    }
    unit = numbers[0][1] if numeric and numbers[0] else ""
    shown = quantity(table.metric)
    curves = []
    for side in list(dict.fromkeys(key[-1] for key in groups)) if apart else [None]:
        picked = {str(k[0]): v for k, v in groups.items() if side is None or k[-1] == side}
        order = sorted(picked, key=lambda word: place[word])
        samples = [picked[word] for word in order]
        label = shown.name if side is None else str(side)
        at = [place[word] for word in order]
        curves.append(curve_of(label, _look(side or table.metric), at, summarize_all(samples), dots=_padded(samples)))
    x_label = f"{table.word(across)}, {unit}" if unit else table.word(across)
    return Panel(table.title, x_label, shown.label, curves, categories=() if numeric else words)


def _number(word: str) -> tuple[float, str] | None:
    """Read ``"10 Mbit/s"`` or ``"0.5"`` as a number and its unit."""
    head, _, unit = word.partition(" ")
    try:
        return float(head), unit
    except ValueError:
        return None


def cdf(
    results: Results, *, metric: str = "goodput_bps", by: str | None = None, flow: Sequence[str] | None = None
) -> Picture:
    """Draw the distribution of a metric over runs, or of the packets' ``sojourn`` where departures were traced."""
    if metric == "sojourn":
        word, shown = "", quantity("sojourn_ms")
        steps = _steps(_sojourns(results, flow), shown.name)
        panels = [Panel("", shown.label, "share of packets", steps, y_top=1.02)]
    else:
        table = _Table(results, metric, flow)
        apart = table.column(by, "by") or table.free()
        word, shown = table.word(apart), quantity(metric)
        panels = [Panel(one.title, shown.label, "share of values", _steps(one.groups(apart), shown.name), y_top=1.02)
                  for one in table.flows(apart)]  # fmt: skip
    title = f"Distribution of {shown.name}{f' by {word}' if word else ''}"
    return Picture("cdf", title, "", panels, columns=min(2, len(panels)), markers=False)


def _steps(samples: Mapping[tuple[object, ...], Floats], what: str) -> list[Curve]:
    """Return the share of values up to each, as steps."""
    curves = []
    for key, values in samples.items():
        ordered = np.sort(values[~np.isnan(values)])
        share = np.arange(1, ordered.size + 1) / max(ordered.size, 1)
        label = str(key[0]) if key else what
        x, y = np.repeat(ordered, 2), np.concatenate(([0.0], np.repeat(share, 2)))[: 2 * ordered.size]
        curves.append(Curve(label, _look(label), x, y))
    return curves


def _sojourns(results: Results, queue: Sequence[str] | None) -> dict[tuple[object, ...], Floats]:
    found: dict[tuple[object, ...], list[Floats]] = {}
    for run in results.runs:
        for name in results.tables(run):
            queue_name = name.removeprefix("departures/")
            if name == queue_name or (queue and queue_name not in queue):
                continue
            if not queue and not queue_name.startswith("r"):
                continue
            cell = ", ".join(str(v) for v in run.cell.values())
            values = results.table(run, name)["sojourn_ns"].to_numpy() * 1e-6
            found.setdefault((f"{queue_name} {cell}".strip(),), []).append(values)
    if not found:
        raise ResultsError('no departures were kept: set trace.series = true, or a list with "departures"')
    return {key: np.concatenate(parts) for key, parts in found.items()}


def ellipse(
    results: Results,
    *,
    metric: str = "goodput_bps",
    by: str | None = None,
    flow: Sequence[str] | None = None,
) -> Picture:
    """Draw the flows' total goodput over queueing delay: a point for each run, an ellipse of one standard deviation.

    References
    ----------
    RFC 7928 §2.7: ellipses of the maximum-likelihood two-dimensional Gaussian, the median as their middle.
    """
    table = _Table(results, metric, flow)
    apart = table.column(by, "by") or table.free()
    delay = _delay_by_run(results)
    frame = table.frame.join(delay, on="run")
    shown = quantity(metric)
    curves = []
    parts = frame.partition_by([apart], maintain_order=True, as_dict=True) if apart else {("all",): frame}
    for (key,), part in parts.items():
        runs = part.group_by("run").agg(pl.col(metric).sum(), pl.col("delay").first()).sort("run")
        x, y = runs["delay"].to_numpy(), runs[metric].to_numpy() * shown.factor
        curves.append(Curve(str(key), _look(key), x, y, kind="points"))
        around = ellipse_of(x, y)
        if around is not None:
            curves.append(Curve(str(key), _look(key), *around))
    panel = Panel("", "mean queueing delay, ms", shown.label, curves, y_from_zero=False)
    title = f"{shown.title} and delay{f' by {table.word(apart)}' if apart else ''}"
    return Picture("ellipse", title, "", [panel], markers=False)


def _delay_by_run(results: Results) -> pl.DataFrame:
    """Sum up the mean sojourns of the forward queues that were in use: the delay of a packet above the smallest."""
    queues = results.queues.filter(pl.col("mean_sojourn_ms").is_not_null() & (pl.col("utilization") > 0.05))
    if queues.is_empty():
        raise ResultsError("no queue was in use, so no delay can be drawn")
    return queues.group_by("run").agg(pl.col("mean_sojourn_ms").max().alias("delay"))


def heatmap(
    results: Results,
    *,
    metric: str = "goodput_bps",
    x: str | None = None,
    by: str | None = None,
    flow: Sequence[str] | None = None,
) -> Picture:
    """Draw a metric's median over two swept quantities, as colors with numbers."""
    table = _Table(results, metric, flow)
    across, down = _by_and_x(table, x, by)
    if across is None or down is None:
        raise ResultsError("a heat map needs two swept paths: give --x and --by")
    panels = [_heat_panel(one, across, down) for one in table.flows(across, down)]
    return Picture("heatmap", f"{quantity(metric).title}, medians", "", panels)


def _heat_panel(table: _Table, across: str, down: str) -> Panel:
    groups = table.groups(down, across)
    rows, columns = (list(dict.fromkeys(str(key[n]) for key in groups)) for n in (0, 1))
    values = np.full((len(rows), len(columns)), np.nan)
    texts = [["" for _ in columns] for _ in rows]
    for (row, column), sample in groups.items():
        r, c = rows.index(str(row)), columns.index(str(column))
        found = summarize(sample)
        values[r, c], texts[r][c] = found.value, f"{found.value:.3g}"
    grid = Grid(rows, columns, values, texts, quantity(table.metric).label)
    return Panel(table.title, table.word(across), table.word(down), [], grid=grid)


def matrix(results: Results, *, metric: str = "goodput_bps", flow: Sequence[str] | None = None) -> Picture:
    """Draw the metric of each variant beside each other variant: two flows whose variants are swept.

    A cell holds the first flow's median (the row's variant), the second flow's (the column's) and Jain's index; its
    color is the first flow's share of both.
    """
    table = _Table(results, metric, flow)
    paths = [p for p in table.short if p.endswith(".variant")]
    names = [p.split(".")[1] for p in paths]
    if len(paths) != 2 or any(n not in table.frame["name"].to_list() for n in names):
        raise ResultsError("a matrix needs two flows whose variants are swept (flows.A.variant, flows.B.variant)")
    first = _Table(results, metric, [names[0]]).groups(*paths)
    second = _Table(results, metric, [names[1]]).groups(*paths)
    rows, columns = (list(dict.fromkeys(str(key[n]) for key in first)) for n in (0, 1))
    values = np.full((len(rows), len(columns)), np.nan)
    texts = [["" for _ in columns] for _ in rows]
    for key in first:
        a, b = first[key], second[key]
        r, c = rows.index(str(key[0])), columns.index(str(key[1]))
        one, two = summarize(a), summarize(b)
        total = one.value + two.value
        values[r, c] = one.value / total if total > 0 else np.nan
        fairness = summarize(jain(np.stack([a, b], axis=-1))).value
        texts[r][c] = (
            f"{_bracket(one.value, one.low, one.high)}\n{_bracket(two.value, two.low, two.high)}\nJ {fairness:.2f}"
        )
    shown = quantity(metric)
    grid = Grid(rows, columns, values, texts, f"share of {names[0]}", low=0.0, high=1.0, diverging=True)
    panel = Panel("", f"variant of {names[1]}", f"variant of {names[0]}", [], grid=grid)
    title = f"{shown.label}: {names[0]} above, {names[1]} below [95 % interval], Jain's index"
    return Picture("matrix", title, "", [panel])


def _bracket(value: float, low: float, high: float) -> str:
    interval = "" if np.isnan(low) else f" [{low:.3g}, {high:.3g}]"
    return f"{value:.3g}{interval}"
