"""The size of a scenario's work before it is done: runs, time, storage. Estimates may be wrong by a few times."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.scenario import Scenario

__all__ = ["Estimate", "estimate"]

SAMPLED = 16
"""Cells that an estimate looks at, evenly spaced."""
PACKET_BITS = 12_000
"""A full packet."""
PACKET_S = 1e-6
"""Processor time for a packet in the simulator: 2,700 to 4,200 instructions."""
RUN_S = 1.5e-3
"""Processor time for a run beside its packets: its plan, its record. Only one thread at a time does this."""
FLOW_BYTES = 1000
"""Bytes that a flow's row takes in batches and tables."""
QUEUE_BYTES = 200
"""Bytes that a queue's row takes."""
SERIES_BYTES = 100
"""Bytes that the series take for a packet: rows of its sender, its receiver and its queues, compressed."""


@dataclass(frozen=True)
class Estimate:
    """The work of a scenario.

    Attributes
    ----------
    cells, runs : int
        Without a rule for repetitions (``until``), all; with one, those of the first round.
    seconds : float
        Time with the simulator.
    size : float
        Bytes that the results directory needs.
    """

    cells: int
    runs: int
    seconds: float
    size: float


def estimate(scenario: Scenario, jobs: int) -> Estimate:
    """Estimate the work of a scenario with the simulator, ``jobs`` runs at a time."""
    count = len(scenario.cells)
    runs = count * scenario.repetitions
    step = max(count // SAMPLED, 1)
    sampled = [cell.scenario for cell in scenario.cells[::step]]
    packets = sum(map(_packets, sampled)) / len(sampled)
    each = (FLOW_BYTES * len(s.single_flows) + QUEUE_BYTES * len(s.layout.drawing.edges) for s in sampled)
    rows = sum(each) / len(sampled)
    series = SERIES_BYTES * packets if scenario.trace.tables else 0.0
    return Estimate(count, runs, runs * max(RUN_S, (RUN_S + PACKET_S * packets) / jobs), runs * (rows + series))


def _packets(scenario: Scenario) -> float:
    """Return the packets of a run, if the slowest link of each flow is in use from beginning to end."""
    layout = scenario.layout
    rates = [edge.settings.rate_bps for edge in layout.drawing.edges]
    slowest = {min(edges, key=rates.__getitem__) for edges in layout.crossed if edges}
    return sum(rates[edge] for edge in slowest) * scenario.duration.seconds / PACKET_BITS
