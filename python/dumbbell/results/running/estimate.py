"""The size of a scenario's work before it is done: runs, time, storage. Estimates may be wrong by a few times.

Time and packets are measured: a few cells are simulated, each until it ends or has cost enough, and the rest of its
simulated time counts like the last part that was tried. Trials get no own code, so the simulator refuses plans that
need it: then the slowest links count as if they were in use all the time, which is an upper bound.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.plan.build import build
from dumbbell.scenario import Scenario

__all__ = ["Estimate", "Trial", "estimate", "trial"]

SAMPLED = 16
"""Cells that an estimate looks at, evenly spaced."""
FIRST_NS, LONGER = 10_000_000, 4
"""Simulated time of a cell's first trial, and the factor of each further one."""
TRIED_S, ENOUGH = 0.01, 2000
"""Processor time and packets of a trial from which no longer one follows: it then isn't mostly set-up, and all trials
of an estimate take about a second at most."""
MOST_S = 0.1
"""Processor time from which no longer trial follows, whatever its packets."""
PACKET_BITS = 12_000
"""A full packet."""
PACKET_S = 1e-6
"""Processor time for a packet that isn't tried: 2,700 to 4,200 instructions."""
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
    tried : int
        Cells that were simulated for it; 0: time and size are upper bounds, from the rates of the links.
    """

    cells: int
    runs: int
    seconds: float
    size: float
    tried: int


@dataclass(frozen=True)
class Trial:
    """A run as far as it was tried, and the rest of it extrapolated.

    Attributes
    ----------
    packets : float
        Packets that its flows send.
    seconds : float
        Processor time of the simulator.
    """

    packets: float
    seconds: float


def estimate(scenario: Scenario, jobs: int) -> Estimate:
    """Estimate the work of a scenario with the simulator, ``jobs`` runs at a time."""
    count = len(scenario.cells)
    runs = count * scenario.repetitions
    step = -(-count // SAMPLED)
    sampled = [cell.scenario for cell in scenario.cells[::step]]
    tried = _trials(sampled)
    costs = tried or [Trial(packets, PACKET_S * packets) for packets in map(_most_packets, sampled)]
    packets, seconds = (sum(x) / len(costs) for x in ((c.packets for c in costs), (c.seconds for c in costs)))
    each = (FLOW_BYTES * len(s.single_flows) + QUEUE_BYTES * len(s.layout.drawing.edges) for s in sampled)
    rows = sum(each) / len(sampled)
    series = SERIES_BYTES * packets if scenario.trace.tables else 0.0
    time_s = runs * max(RUN_S, (RUN_S + seconds) / jobs)
    return Estimate(count, runs, time_s, runs * (rows + series), len(tried))


def _trials(scenarios: Sequence[Scenario]) -> list[Trial]:
    """Try cells; none if the simulator refuses one of them."""
    try:
        return [trial(scenario) for scenario in scenarios]
    except _core.RunError:
        return []


def trial(scenario: Scenario) -> Trial:
    """Simulate a cell, as much of it as is cheap.

    Raises
    ------
    RunError
        The simulator refuses the plan, for instance because it needs own code.
    """
    plan = build(scenario, scenario.seed)
    whole = plan["duration_ns"]
    plan |= {"measure_from_ns": 0, "trace": {"series": [], "only": None, "interval_ns": 0, "packets": False}}
    plan.pop("capture", None)
    length, before = min(FIRST_NS, whole), (0, 0)
    while True:
        plan["duration_ns"] = length
        began = time.thread_time()
        flows = _core.run(json.dumps(plan)).rows.flows
        seconds = time.thread_time() - began
        packets = _sum(flows, "sent_packets")
        if length == whole:
            return Trial(packets, seconds)
        if seconds >= MOST_S or (seconds >= TRIED_S and packets >= ENOUGH):
            break
        length, before = min(LONGER * length, whole), (length, packets)
    rest = (whole - length) / (length - before[0]) * max(packets - before[1], 0)
    total = min(packets + rest, _most_transferred(plan, packets, _sum(flows, "delivered_bytes")))
    return Trial(total, seconds * (total / packets if packets else whole / length))


def _sum(flows: Sequence[Mapping[str, Any]], column: str) -> int:
    return sum(flow[column] or 0 for flow in flows)


def _most_transferred(plan: Mapping[str, Any], packets: int, delivered: int) -> float:
    """Return the packets after which all flows have ended, if each is a number of transfers; infinite otherwise."""
    applications = [flow["application"] for flow in plan["flows"]]
    if not delivered or not all(a["kind"] == "transfer" and a["repeat"] for a in applications):
        return math.inf
    size: int = sum(a["bytes"] * a["repeat"] for a in applications)
    return packets * size / delivered


def _most_packets(scenario: Scenario) -> float:
    """Return the packets of a run, if the slowest link of each flow is in use from beginning to end."""
    layout = scenario.layout
    rates = [edge.settings.rate_bps for edge in layout.drawing.edges]
    slowest = {min(edges, key=rates.__getitem__) for edges in layout.crossed if edges}
    return sum(rates[edge] for edge in slowest) * scenario.duration.seconds / PACKET_BITS
