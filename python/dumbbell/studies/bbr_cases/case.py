"""A case's run: its trace by state, and the checks of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from dumbbell import registry
from dumbbell.results import Results

__all__ = ["MSS", "Case", "link"]

MSS = 1448
"""Payload of a full segment with timestamps, bytes."""


@dataclass
class Case:
    """One case: its number, its trace (the flow's series; ``t`` in s), the flow's metrics, all cases' results."""

    number: int
    trace: dict[str, Any]
    flow: dict[str, Any]
    all_results: Mapping[str, Results] = field(default_factory=dict)
    seen: list[tuple[str, bool]] = field(default_factory=list)

    @classmethod
    def of(cls, number: int, results: Mapping[str, Results]) -> Case:
        """Take a case out of the results of all of them, by the experiments' names."""
        own = results[f"a{number:02d}"]
        trace: dict[str, Any] = dict(own.arrays(0, "flow/flow"))
        trace["t"] = trace["t_ns"] * 1e-9
        return cls(number, trace, own.flows.row(0, named=True), results)

    def other(self, number: int) -> Case:
        """Take another case."""
        return Case.of(number, self.all_results)

    def check(self, what: str, holds: bool) -> None:
        """Add an observation; ``holds`` is true if it is as expected."""
        self.seen.append((what, bool(holds)))

    @property
    def holds(self) -> bool:
        """Return True if every check passes."""
        return bool(self.seen) and all(ok for _, ok in self.seen)

    def spans(self) -> list[tuple[str, int, int]]:
        """List the states in turn: name, first row, row after the last."""
        state = self.trace["state"]
        edges = [0, *(np.flatnonzero(np.diff(state)) + 1), len(state)]
        return [(registry.phases()[int(state[a])], a, b) for a, b in pairwise(edges)]

    def first(self, name: str, after: float = 0.0) -> tuple[str, int, int]:
        """Find the first span of that state which begins after a time: the state that follows it, and its rows.

        Raises
        ------
        LookupError
            If none exists.
        """
        spans = self.spans()
        for n, (state, a, b) in enumerate(spans):
            if state == name and self.at("t", a) >= after:
                return (spans[n + 1][0] if n + 1 < len(spans) else "end"), a, b
        raise LookupError(f"no {name} after {after:g} s")

    def at(self, column: str, row: int) -> float:
        """Return a value."""
        return float(self.trace[column][min(row, len(self.trace["t"]) - 1)])

    def row(self, t: float) -> int:
        """Find the last row at or before a time, s."""
        return max(int(np.searchsorted(self.trace["t"], t, side="right")) - 1, 0)

    def target(self, row: int) -> float:
        """Compute Inflight(1.0) with the model of that row, bytes [§5.6.4.2]."""
        quanta = 3 * min(max(0.001 * self.at("pacing_rate", row), 2 * MSS), 65536)
        return max(self.at("bw", row) * self.at("min_rtt", row), quanta, 4 * MSS)

    def mbps(self, column: str, row: int) -> float:
        """Return a rate column in Mbit/s of payload."""
        return self.at(column, row) * 8e-6


def link(mbps: float) -> float:
    """Return the payload rate of a link: 1448 of 1500 bytes."""
    return mbps * MSS / 1500
