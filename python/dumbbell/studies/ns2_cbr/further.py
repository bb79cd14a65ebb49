"""Further work that the report proposes: mixes of variants, Vegas over RED, both disciplines on a second topology."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import polars as pl

from dumbbell.metrics import jain, summarize
from dumbbell.report.finding import Note, Table
from dumbbell.results import Results
from dumbbell.studies.ns2_cbr.data import METRICS, VARIANTS, Experiment2
from dumbbell.studies.ns2_cbr.data_exp3 import QUEUES, Experiment3
from dumbbell.studies.partial import late, made
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["notes", "tables"]

SHOWN = ("throughput", "latency", "drop rate")


class Mix(NamedTuple):
    """Two variants, and the throughput of both by repetition; (n,) float64 each, Mbit/s."""

    names: tuple[str, str]
    first: Floats
    second: Floats

    @property
    def words(self) -> str:
        """The pair in words."""
        return " and ".join(LABELS[v] for v in self.names)

    @property
    def fairness(self) -> Floats:
        """Jain's index by repetition; (n,) float64."""
        return np.asarray(jain(np.stack([self.first, self.second], axis=-1)))

    @property
    def total(self) -> Floats:
        """The sum of both throughputs by repetition; (n,) float64, Mbit/s."""
        return self.first + self.second


def mixes(data: Experiment2) -> list[Mix]:
    """Return all pairs, the fairest first; of two variants the runs with either one as the first flow."""
    found = []
    for a, b in combinations_with_replacement([v for v in VARIANTS if v in data.variants], 2):
        first, second = (x[0] for x in data.both(a, b))
        if a != b:
            turned = [x[0] for x in data.both(b, a)]
            first, second = np.concatenate([first, turned[1]]), np.concatenate([second, turned[0]])
        found.append(Mix((a, b), first, second))
    return sorted(found, key=lambda mix: -float(mix.fairness.mean()))


def tables(results: Mapping[str, Results]) -> list[Table]:
    """List the mixes, and the variants over the queues of one bottleneck and of two."""
    return made([lambda: _mix_table(late(Experiment2, results, "further-mixes")), lambda: _queue_table(results)])


def notes(results: Mapping[str, Results]) -> list[Note]:
    """State what each proposal comes to."""
    return made(
        [
            lambda: _mix_note(late(Experiment2, results, "further-mixes")),
            lambda: _vegas_note(late(Experiment3, results, "further-red")),
            lambda: _topology_note(results),
        ]
    )


def _mix_table(data: Experiment2) -> Table:
    rows = [
        {
            "pair": mix.words,
            "Jain's index": summarize(mix.fairness).text(),
            "share of the first, %": summarize(100 * mix.first / mix.total).text(),
            "sum, Mbit/s": summarize(mix.total).text(),
        }
        for mix in mixes(data)
    ]
    title = (
        f"Further work, mixes of variants beside CBR of {data.rates[0]:g} Mbit/s, the fairest first: median [95 % "
        f"interval] of {data.n} repetitions, of two variants in either order"
    )
    return Table("further-mixes", title, pl.DataFrame(rows))


def _mix_note(data: Experiment2) -> Note:
    every = mixes(data)
    like, unlike = ([m for m in every if (m.names[0] == m.names[1]) is same] for same in (True, False))
    most = max(every, key=lambda mix: float(mix.total.mean()))
    fair, unfair = (float(np.mean([m.fairness.mean() for m in pairs])) for pairs in (like, unlike))
    ends = [f"{m.fairness.mean():.3f} ({m.words})" for m in (every[-1], every[0])]
    return Note(
        f"Further work, mixes: of two different variants {unlike[0].words} share most equally",
        f"Beside CBR of {data.rates[0]:g} Mbit/s Jain's index of all {len(every)} pairs of {len(data.variants)} "
        f"variants is in the mean {ends[0]} to {ends[1]}: {fair:.3f} for pairs of the same variant, {unfair:.3f} for "
        f"the others. {most.words} have the most throughput together, "
        f"{most.total.mean():.2f} Mbit/s.",
    )


def _paths(results: Mapping[str, Results]) -> dict[str, Callable[[str], Experiment3]]:
    """Return by number of bottlenecks the data of a variant."""
    three, red, two = (late(Experiment3, results, name) for name in ("exp3", "further-red", "further-topology"))
    return {"one bottleneck": lambda v: red if v == "vegas" else three, "two bottlenecks": lambda _v: two}


def _queue_table(results: Mapping[str, Results]) -> Table:
    paths = _paths(results)
    variants, queues = (late(Experiment3, results, "further-topology").variants, QUEUES)
    rows = []
    for v in variants:
        for q in (q for q in queues if all(q in of(v).queues for of in paths.values())):
            row = {"variant": LABELS[v], "queue": queues[q]}
            for path, of in paths.items():
                row |= {f"{path}: {m}, {METRICS[m][2]}": summarize(of(v).get(m, v, q)).text() for m in SHOWN}
            rows.append(row)
    title = "Further work, variants over one bottleneck and over two, while the CBR streams run: median [95 % interval]"
    return Table("further-queues", title, pl.DataFrame(rows))


def _vegas_note(data: Experiment3) -> Note:
    medians = {q: [float(np.median(data.get(m, "vegas", q))) for m in SHOWN] for q in data.queues}
    listed = "; ".join(
        f"{QUEUES[q]}: " + ", ".join(f"{x:.3g} {METRICS[m][2]}" for m, x in zip(SHOWN, values, strict=True))
        for q, values in medians.items()
    )
    parts = [
        f"{medians[red][0] / medians[tail][0]:.2f}"
        for red, tail in (("red", "droptail"), ("red-bdp", "droptail-bdp"))
        if red in medians
    ]
    return Note(
        f"Further work, Vegas over RED: {' and '.join(parts) or 'no'} times its throughput over DropTail of the same "
        "length",
        f"While the CBR stream runs, throughput, latency and drop rate of Vegas, medians of {data.n} repetitions: "
        f"{listed}.",
    )


def _topology_note(results: Mapping[str, Results]) -> Note:
    counts = []
    for path, of in _paths(results).items():
        pairs = [
            (v, red, tail)
            for v in late(Experiment3, results, "further-topology").variants
            for red, tail in (("red", "droptail"), ("red-bdp", "droptail-bdp"))
            if red in of(v).queues
        ]
        less, later = (
            sum(
                sign * float(np.median(of(v).get(m, v, red)) - np.median(of(v).get(m, v, tail))) > 0
                for v, red, tail in pairs
            )
            for m, sign in (("throughput", -1), ("latency", 1))
        )
        counts.append(f"over {path} less throughput in {less} and a longer latency in {later} of {len(pairs)} cases")
    return Note(
        "Further work, a second topology: DropTail and RED over two bottlenecks",
        "With RED in place of a DropTail queue of the same length Reno, SACK and Vegas have, by their medians, "
        f"{'; '.join(counts)}. A second bottleneck has a CBR stream of its own; the round trip without waiting is "
        "the same.",
    )
