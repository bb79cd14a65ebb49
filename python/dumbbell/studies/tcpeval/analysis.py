"""The suite's tables and figures by section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dumbbell.report.finding import Analysis, Note
from dumbbell.results import Results
from dumbbell.studies.tcpeval.data import LABELS
from dumbbell.studies.tcpeval.fairness import Fairness
from dumbbell.studies.tcpeval.latency import Latency

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]


def analyze(_study: Study, results: Mapping[str, Results]) -> Analysis:
    """Return the results by the suite's sections; see `dumbbell.studies`."""
    latency, fairness = Latency(results), Fairness(results)
    return Analysis(
        findings=[],
        pictures=[*latency.pictures(), *fairness.pictures()],
        tables=[*latency.tables(), *fairness.tables()],
        summary=_summary(latency, fairness),
        notes=NOTES,
    )


def _summary(latency: Latency, fairness: Fairness) -> list[str]:
    """Sum up in a sentence for each section."""
    trade, largest = latency.trade, latency.trade.values(0)[-1]
    delay = {v: float(np.median(trade.queue("mean_sojourn_ms", v, largest))) for v in trade.variants}
    dropped = {v: float(np.median(latency.arrival.dropped(v, flow="udp"))) for v in latency.arrival.variants}
    full = fairness.impact.values(0)[-1]
    impact = {v: float(np.median(fairness.loss(v, full))) for v in fairness.impact.variants if v != "sack"}
    several = {
        v: float(np.median(fairness.advantage(v, fairness.several.values(0)[-1]))) for v in fairness.several.variants
    }

    def listed(values: Mapping[str, float], form: str) -> str:
        return ", ".join(f"{LABELS[v]} {x:{form}}" for v, x in sorted(values.items(), key=lambda item: item[1]))

    return [
        f"§5.1, largest buffer: mean queueing delay in ms: {listed(delay, '.1f')}.",
        f"§5.3: packets of the cross traffic that are lost when it begins: {listed(dropped, '.0f')}.",
        f"§6.1, full load: goodput of standard TCP, as a part of that beside standard TCP: {listed(impact, '.2f')}.",
        f"§6.3, full load: goodput over one bottleneck, in multiples of that over three: {listed(several, '.2f')}.",
    ]


NOTES = (
    Note(
        "Traffic is generated, so this is tcpeval-style",
        "The suite replays Tmix traces whose files no longer exist. They are replaced by persistent TCP "
        "connections over the suite's nine paths, each used for bursts of 10 kB, 100 kB or 1 MB in the mean, "
        "exponentially distributed, with exponential pauses. Mixing three means that far apart spreads sizes over "
        "three decades, but the tail isn't heavy; sessions don't arrive and leave, all packets are full, and "
        "a burst starts even if the last one isn't complete. Loads, paths and buffers are the suite's.",
    ),
    Note(
        "Smaller than in the suite",
        "5.1 and 6.3 run at a fifth to a third of the suite's 100 Mbit/s, 5.2, 6.1 and 6.2 at the smaller of its "
        "two capacities, all but 5.3 for a sixth to a tenth of its time, with five repetitions. Buffers are the "
        "same part of the bandwidth-delay product. The queue is not prefilled: 20 to 30 s are left out instead.",
    ),
    Note(
        "§5.3: which window",
        "The column is the time until cwnd reaches the level, including data that wait in the queue. A variant whose "
        'cwnd doesn\'t reach it within the remaining 100 s is listed as "in no run".',
    ),
    Note(
        "§6.1: similar camps, not equal ones",
        "The suite gives camp B the same flows as camp A. Here both draw from the same distributions, and every "
        "cell from the same seeds: baseline and mix have the same bursts, and G and L compare these two.",
    ),
)
