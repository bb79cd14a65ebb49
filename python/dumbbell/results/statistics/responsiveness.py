"""The responsiveness test of runs: its probes and goodput from transfers and series, and its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl

from dumbbell.exceptions import ResultsError
from dumbbell.metrics import rate_per_window, responsiveness, rpm, trimmed_mean
from dumbbell.metrics.round_trips import MAD
from dumbbell.results.frames.run_frames import frame as runs_frame
from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import Summary, short_names
from dumbbell.scenario.flow.responsiveness import INTERVAL_S, LOAD, PROBE

if TYPE_CHECKING:
    from dumbbell.results.results import Results
    from dumbbell.results.runs.record import Run

__all__ = ["Observed", "frame", "observed", "test_summary"]

Floats = npt.NDArray[np.float64]


class Observed:
    """What a client observes in one run.

    Attributes
    ----------
    goodput : dict of str to (n,) float64, bit/s
        By direction: the goodput of the load in each interval.
    foreign : (m, 3) float64
        See `dumbbell.metrics.responsiveness`. Probes before the load have negative times.
    loaded : (k, 2) float64
        The same; a probe is a connection's smoothed RTT at the time at which a foreign probe begins. The
        connections take turns.
    """

    def __init__(self, goodput: dict[str, Floats], foreign: Floats, loaded: Floats) -> None:
        self.goodput, self.foreign, self.loaded = goodput, foreign, loaded


def observed(results: Results, run: Run) -> Observed:
    """Read a run.

    Raises
    ------
    ResultsError
        If the series of the load-generating connections were not kept.
    """
    scenario = next(cell for cell in results.scenario.cells if cell.values == run.cell).scenario
    preset = scenario.preset
    if preset is None or preset.name != "responsiveness":
        raise ResultsError('no responsiveness test: the scenario needs preset = "responsiveness"')
    begin = preset.lead.seconds
    intervals = int((scenario.duration.seconds - begin) / INTERVAL_S + 1e-9)
    edges = begin + INTERVAL_S * np.arange(intervals + 1)
    tables = set(results.tables(run))
    loads = [row for row in run.flows if str(row["name"]).startswith(LOAD)]
    if missing := [row["name"] for row in loads if f"flow/{row['name']}" not in tables]:
        raise ResultsError(f"flow '{missing[0]}' left no series: a responsiveness test needs them (trace.series)")
    goodput: dict[str, Floats] = {}
    series: list[tuple[float, Floats, Floats]] = []
    for row in loads:
        name = str(row["name"])
        table = results.table(run, f"flow/{name}")
        t = table["t_ns"].to_numpy() * 1e-9
        direction = name.removeprefix(LOAD).rstrip("0123456789")
        rate = rate_per_window(t, table["delivered"].to_numpy(), edges)
        goodput[direction] = goodput.get(direction, np.zeros(intervals)) + rate
        series.append((float(row["start_s"]), t, table["srtt_ns"].to_numpy() * 1e-6))
    answered = [
        (t["end_s"] - begin, 1e3 * (t["connected_s"] - t["start_s"]), 1e3 * (t["end_s"] - t["connected_s"]))
        for t in run.transfers
        if str(t["flow"]).startswith(PROBE) and t["end_s"] is not None and t.get("connected_s") is not None
    ]
    foreign = np.array(sorted(answered), dtype=np.float64).reshape(-1, 3)
    begun = sorted(float(t["start_s"]) for t in run.transfers if str(t["flow"]).startswith(PROBE))
    return Observed(goodput, foreign, _loaded(series, begun, begin))


def _loaded(series: Sequence[tuple[float, Floats, Floats]], begun: Sequence[float], begin: float) -> Floats:
    """Return the probes of the load-generating connections at these times."""
    found: list[tuple[float, float]] = []
    for number, at in enumerate(begun):
        open_ = [one for one in series if one[0] <= at]
        if not open_:
            continue
        _, t, srtt = open_[number % len(open_)]
        place = int(np.searchsorted(t, at, side="right")) - 1
        if place >= 0 and np.isfinite(srtt[place]) and srtt[place] > 0:
            found.append((at + srtt[place] * 1e-3 - begin, float(srtt[place])))
    return np.array(sorted(found), dtype=np.float64).reshape(-1, 2)


def frame(results: Results) -> pl.DataFrame:
    """Return the result of each run; see `Results.responsiveness`."""
    return runs_frame(results.runs, lambda run: [_row(results, run)])


def _row(results: Results, run: Run) -> dict[str, Any]:
    seen = observed(results, run)
    result = responsiveness(np.array([*seen.goodput.values()]), seen.foreign, seen.loaded, interval_s=INTERVAL_S)
    idle = seen.foreign[seen.foreign[:, 0] < 0]
    idle_ms = (trimmed_mean(idle[:, 1]) + trimmed_mean(idle[:, 2])) / 2
    until = result.interval + 1
    last = {way: float(rates[max(until - MAD, 0) : until].mean()) for way, rates in seen.goodput.items()}
    return {
        "rpm": result.rpm,
        "foreign_rpm": result.foreign_rpm,
        "loaded_rpm": result.loaded_rpm,
        "idle_rpm": rpm(idle_ms),
        "confidence": result.confidence,
        "tcp_f_ms": result.tcp_f_ms,
        "http_f_ms": result.http_f_ms,
        "http_l_ms": result.http_l_ms,
        "idle_ms": idle_ms,
        "download_bps": last.get("download"),
        "upload_bps": last.get("upload"),
        "stable_s": until * INTERVAL_S,
        "saturated_s": None if result.saturated is None else (result.saturated + 1) * INTERVAL_S,
    }


SHOWN = [
    ("rpm", "RPM"), ("foreign_rpm", "foreign RPM"), ("loaded_rpm", "loaded RPM"), ("idle_rpm", "idle RPM"),
    ("tcp_f_ms", "TCP ms"), ("http_f_ms", "HTTP ms"), ("http_l_ms", "loaded RTT ms"), ("stable_s", "stable after s"),
]  # fmt: skip


def test_summary(results: Results) -> Summary:
    """Return a row for each cell: means over repetitions, and the number of repetitions with each confidence."""
    whole = frame(results)
    paths = list(results.runs[0].cell) if len(results) else []
    rows: list[tuple[Any, ...]] = []
    for chunk in results.by_cell():
        its = whole.filter(pl.col("run").is_in([run.index for run in chunk]))
        counts = Counter(its["confidence"].to_list())
        said = ", ".join(f"{n} {word}" if its.height > 1 else word for word, n in counts.items())
        means = [its[name].mean() for name, _ in SHOWN]
        rows.append((*(label(value) for value in chunk[0].cell.values()), said, *means))
    return Summary((*short_names(paths).values(), "confidence"), tuple(heading for _, heading in SHOWN), rows)
