"""Experiments 1 to 3 beside ns-2: the same scenarios run here, cell by cell against the reference data.

A cell is `within` if its mean goodput differs from ns-2's by no more than 5 % or one standard deviation of ns-2's
repetitions, whichever is larger, and its mean drop rate by no more than 0.005 or 20 %. The order of two variants has
to be ns-2's wherever ns-2's means lie further apart than their two standard deviations together.
"""

from __future__ import annotations

import csv
import itertools
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import dumbbell
from dumbbell import Results

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
SCENARIOS = HERE.parent / "scenarios"

VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas")
PAIRS = (("reno", "reno"), ("newreno", "reno"), ("vegas", "vegas"), ("newreno", "vegas"))
RATES = range(1, 11)
MUST = range(1, 10)
"""CBR rates, Mbit/s, at which jittered cells have to hold: at 10 a few dozen packets get through."""
SETTINGS = {"jittered": ("20", "1"), "constant": ("20", "0"), "large-window": ("1000", "1")}
"""Window and CBR jitter of experiment 1's three settings, as the reference data write them."""

GOODPUT_SHARE = 0.05
DROP_SHARE = 0.2
DROP_ABSOLUTE = 0.005


@dataclass(frozen=True)
class Sample:
    """Repetitions of one cell on one side.

    Attributes
    ----------
    goodput, drop_rate, timeouts, ack_delay, ack_delay_first : list of float
        Mbit/s, share, number, ms, ms; one value for each repetition that has one.
    """

    goodput: list[float]
    drop_rate: list[float]
    timeouts: list[float]
    ack_delay: list[float]
    ack_delay_first: list[float]


def mean(values: Sequence[float]) -> float:
    """Mean; NaN of nothing."""
    return statistics.fmean(values) if values else float("nan")


def sd(values: Sequence[float]) -> float:
    """Standard deviation (n - 1); 0 of one value."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


@dataclass(frozen=True)
class Cell:
    """One point of an experiment: ours and ns-2's repetitions."""

    key: tuple[str, ...]
    rate: int
    ours: Sample
    theirs: Sample

    @property
    def change(self) -> float:
        """Mean goodput here over ns-2's, less 1."""
        return mean(self.ours.goodput) / mean(self.theirs.goodput) - 1

    @property
    def drop_change(self) -> float:
        """Mean drop rate here less ns-2's."""
        return mean(self.ours.drop_rate) - mean(self.theirs.drop_rate)

    @property
    def goodput_within(self) -> bool:
        """See the top of this file."""
        theirs = self.theirs.goodput
        allowed = max(GOODPUT_SHARE * mean(theirs), sd(theirs))
        return abs(mean(self.ours.goodput) - mean(theirs)) <= allowed

    @property
    def drops_within(self) -> bool:
        """See the top of this file."""
        return abs(self.drop_change) <= max(DROP_ABSOLUTE, DROP_SHARE * mean(self.theirs.drop_rate))

    @property
    def within(self) -> bool:
        """Whether goodput and drop rate are."""
        return self.goodput_within and self.drops_within

    def row(self) -> dict[str, Any]:
        """One line of a CSV file."""
        return {
            "cell": " / ".join(self.key),
            "cbr_mbps": self.rate,
            "repetitions": len(self.ours.goodput),
            "goodput_mbps": mean(self.ours.goodput),
            "goodput_sd": sd(self.ours.goodput),
            "ns2_goodput_mbps": mean(self.theirs.goodput),
            "ns2_goodput_sd": sd(self.theirs.goodput),
            "goodput_change": self.change,
            "goodput_within": self.goodput_within,
            "drop_rate": mean(self.ours.drop_rate),
            "ns2_drop_rate": mean(self.theirs.drop_rate),
            "drops_within": self.drops_within,
            "timeouts": mean(self.ours.timeouts),
            "ns2_timeouts": mean(self.theirs.timeouts),
            "ack_delay_mean_ms": mean(self.ours.ack_delay),
            "ns2_ack_delay_mean_ms": mean(self.theirs.ack_delay),
            "ack_delay_first_mean_ms": mean(self.ours.ack_delay_first),
            "ns2_ack_delay_first_mean_ms": mean(self.theirs.ack_delay_first),
        }


def _sample_of(frame: pl.DataFrame) -> Sample:
    def values(column: str, factor: float = 1.0) -> list[float]:
        return [float(v) * factor for v in frame[column] if v is not None]

    return Sample(
        goodput=values("goodput_bps", 1e-6),
        drop_rate=values("drop_rate"),
        timeouts=values("timeouts"),
        ack_delay=values("ack_delay_mean_ms"),
        ack_delay_first=values("ack_delay_first_mean_ms"),
    )


def _reference(rows: Sequence[dict[str, str]], suffix: str = "") -> Sample:
    def values(column: str, factor: float = 1.0) -> list[float]:
        return [float(r[column + suffix]) * factor for r in rows if r[column + suffix]]

    return Sample(
        goodput=values("goodput_bps", 1e-6),
        drop_rate=values("drop_rate"),
        timeouts=values("timeouts"),
        ack_delay=values("rtt_single_ms"),
        ack_delay_first=values("rtt_first_ms"),
    )


def reference_rows(name: str) -> list[dict[str, str]]:
    """Read a CSV file of the reference data."""
    with (DATA / name).open(newline="") as source:
        return list(csv.DictReader(source))


def exp1(setting: str, *, repetitions: int | None = None, rates: Sequence[int] = RATES) -> list[Cell]:
    """Run one setting of experiment 1; cells in the order of `VARIANTS` and rates.

    Parameters
    ----------
    setting : {"jittered", "constant", "large-window"}
        A key of `SETTINGS`.
    repetitions : int, optional
        Repetitions here; default: the scenario's 10, which are as many as the reference has.
    rates : sequence of int, Mbit/s
        CBR rates.
    """
    window, jitter = SETTINGS[setting]
    case = {"flows.tcp.stack.window": f"{window} packets", "flows.cbr.application.jitter": 0.5 * int(jitter)}
    sweep = {
        "flows.tcp.variant": list(VARIANTS),
        "flows.cbr.application.rate": [f"{rate} Mbit/s" for rate in rates],
        "cases": [case],
    }
    results = dumbbell.run(SCENARIOS / "exp1.toml", repetitions=repetitions, changes={"sweep": sweep})
    theirs: dict[tuple[str, str], list[dict[str, str]]] = defaultdict(list)
    for row in reference_rows("exp1.csv"):
        if (row["window"], row["random"]) == (window, jitter):
            theirs[row["variant"], row["cbr_mbps"]].append(row)
    flows = results.flows.filter(pl.col("name") == "tcp")
    return [
        Cell((variant,), rate, _sample_of(_at(flows, rate, variant=variant)), _reference(theirs[variant, str(rate)]))
        for variant, rate in itertools.product(VARIANTS, rates)
    ]


def _at(flows: pl.DataFrame, rate: int, **columns: str) -> pl.DataFrame:
    found = flows.filter(pl.col("flows.cbr.application.rate") == f"{rate} Mbit/s")
    for name, value in columns.items():
        found = found.filter(pl.col(name) == value)
    return found


def exp2() -> list[Cell]:
    """Run experiment 2: two cells for each pair and rate, one for each flow."""
    results = dumbbell.run(SCENARIOS / "exp2.toml")
    theirs: dict[tuple[str, str, str], list[dict[str, str]]] = defaultdict(list)
    for row in reference_rows("exp2.csv"):
        theirs[row["variant_1"], row["variant_2"], row["cbr_mbps"]].append(row)
    flows = results.flows
    cells = []
    for (first, second), rate in itertools.product(PAIRS, RATES):
        chosen = _at(flows, rate).filter(
            (pl.col("flows.first.variant") == first) & (pl.col("flows.second.variant") == second)
        )
        rows = theirs[first, second, str(rate)]
        for number, name in enumerate(("first", "second"), 1):
            ours = _sample_of(chosen.filter(pl.col("name") == name))
            cells.append(Cell((f"{first}/{second}", name), rate, ours, _reference(rows, f"_{number}")))
    return cells


Floats = npt.NDArray[np.float64]
WIDTH = 0.5
"""Seconds of one point of experiment 3's series."""
BEFORE, DURING = slice(2, 10), slice(12, 50)
"""Points of the series before the CBR stream (1 to 5 s) and while it runs (6 to 25 s)."""


@dataclass(frozen=True)
class Course:
    """One line of experiment 3: goodput over time, Mbit/s, repetitions x points of `WIDTH`."""

    variant: str
    queue: str
    ours: Floats
    theirs: Floats
    cell: Cell

    def part(self, where: slice) -> tuple[Sample, Sample]:
        """Both sides' repetitions over a part of the time; goodput only."""
        return _only_goodput(self.ours[:, where]), _only_goodput(self.theirs[:, where])


def _only_goodput(values: Floats) -> Sample:
    return Sample([float(v) for v in values.mean(axis=1)], [], [], [], [])


def exp3() -> list[Course]:
    """Run experiment 3."""
    results = dumbbell.run(SCENARIOS / "exp3.toml")
    theirs = json.loads((DATA / "exp3.json").read_text())["cases"]
    courses = []
    for variant, queue in itertools.product(("reno", "sack"), ("DropTail", "RED")):
        rows = [c for c in theirs if (c["variant"], c["queue"]) == (variant, queue)]
        reference = Sample(
            goodput=[c["goodput_bps"] * 1e-6 for c in rows],
            drop_rate=[c["drop_rate"] for c in rows],
            timeouts=[c["timeouts"] for c in rows],
            ack_delay=[c["rtt_single_ms"] for c in rows],
            ack_delay_first=[c["rtt_first_ms"] for c in rows],
        )
        runs = [
            run
            for run in results.runs
            if run.cell["flows.tcp.variant"] == variant
            and run.cell["network.bottleneck.queue"]["discipline"] == queue.lower()
        ]
        frame = pl.DataFrame([flow for run in runs for flow in run.flows if flow["name"] == "tcp"])
        cell = Cell((variant, queue), 6, _sample_of(frame), reference)
        series = np.array([_goodput_over_time(results, run.index) for run in runs])
        reference_series = np.array([c["series_bps"] for c in rows], dtype=np.float64) * 1e-6
        courses.append(Course(variant, queue, series, reference_series, cell))
    return courses


def _goodput_over_time(results: Results, run: int) -> Floats:
    table = results.table(run, "flow/tcp")
    edges = np.arange(0.0, 25.0 + WIDTH / 2, WIDTH)
    delivered = np.interp(edges, table["t_ns"].to_numpy() * 1e-9, table["delivered"].to_numpy(), left=0.0)
    return np.asarray(np.diff(delivered) * 8e-6 / WIDTH, dtype=np.float64)


@dataclass(frozen=True)
class Order:
    """Two variants that ns-2's spread separates at a rate: the leading one in ns-2, and whether it leads here too."""

    rate: int
    ahead: str
    behind: str
    same: bool


def orders(cells: Sequence[Cell]) -> Iterator[Order]:
    """Compare the order of variants wherever ns-2's spread separates them."""
    for a, b in itertools.combinations(cells, 2):
        if a.rate != b.rate:
            continue
        gap = mean(a.theirs.goodput) - mean(b.theirs.goodput)
        if abs(gap) <= sd(a.theirs.goodput) + sd(b.theirs.goodput):
            continue
        ahead, behind = (a, b) if gap > 0 else (b, a)
        same = mean(ahead.ours.goodput) > mean(behind.ours.goodput)
        yield Order(a.rate, ahead.key[0], behind.key[0], same)


def failures(cells: Sequence[Cell]) -> list[str]:
    """Name the cells that must hold and do not."""
    found = []
    for cell in cells:
        if cell.rate not in MUST:
            continue
        name = f"{cell.key[0]} at CBR {cell.rate} Mbit/s"
        if not cell.goodput_within:
            found.append(f"{name}: goodput {100 * cell.change:+.1f} %")
        if not cell.drops_within:
            ours, theirs = 100 * mean(cell.ours.drop_rate), 100 * mean(cell.theirs.drop_rate)
            found.append(f"{name}: drop rate {ours:.2f} % against {theirs:.2f} %")
    for order in orders([c for c in cells if c.rate in MUST]):
        if not order.same:
            found.append(f"CBR {order.rate} Mbit/s: {order.ahead} ahead of {order.behind} in ns-2, not here")
    return found
