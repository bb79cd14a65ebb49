"""The settings of part 2 that the report leaves out, and the runs at each of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

from dumbbell.results import Results
from dumbbell.scenario.units import Duration
from dumbbell.studies.geni_fairness.data import Pairs

__all__ = ["Path", "by_path", "short"]

COLUMNS = ("network.access.rate", "network.bottleneck.delay", "network.bottleneck.queue.limit", "network.access.jitter")


class Path(NamedTuple):
    """One setting: rate of the hosts' links, delay and buffer of the bottleneck, jitter of a hop."""

    rate: str
    delay: str
    buffer: str
    jitter: str

    @property
    def rtt(self) -> str:
        """Round trip of the empty path without jitter."""
        return f"{2000 * Duration(self.delay).seconds:g} ms"

    @property
    def swept(self) -> dict[str, str]:
        """What the experiment `pairs` sweeps of it."""
        return {COLUMNS[0]: self.rate, COLUMNS[3]: self.jitter}

    @property
    def words(self) -> str:
        """All of it in words."""
        return f"{self.buffer}, jitter {self.jitter} a hop, RTT {self.rtt}, hosts at {self.rate}"


def short(path: Path, than: Path) -> str:
    """Write the parts of a setting that differ from another one."""
    parts = [
        (path.buffer != than.buffer, path.buffer),
        (path.jitter != than.jitter, f"jitter {path.jitter}"),
        (path.delay != than.delay, f"RTT {path.rtt}"),
        (path.rate != than.rate, f"hosts at {path.rate}"),
    ]
    return ", ".join(words for differs, words in parts if differs)


def by_path(results: Results) -> dict[Path, Pairs]:
    """Return the pairs of an experiment by their setting."""
    network: Any = results.scenario.to_dict()["network"]
    fixed = (
        network["access"]["rate"],
        network["bottleneck"]["delay"],
        network["bottleneck"]["queue"]["limit"],
        network["access"]["jitter"],
    )
    flows = results.flows.with_columns(
        *(
            pl.lit(value).alias(column)
            for column, value in zip(COLUMNS, fixed, strict=True)
            if column not in results.flows
        )
    )
    found = flows.select(COLUMNS).unique(maintain_order=True).rows()
    return {
        Path(*row): Pairs(
            results, flows.filter(pl.all_horizontal(pl.col(c) == v for c, v in zip(COLUMNS, row, strict=True)))
        )
        for row in found
    }
