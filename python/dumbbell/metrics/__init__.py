"""What is computed from runs: statistics over repetitions, paired comparisons, fairness, knees, windows."""

from dumbbell.metrics.fairness import jain, shares
from dumbbell.metrics.knee import knee
from dumbbell.metrics.paired import Paired, paired
from dumbbell.metrics.summary import Summary, number, summarise, summarise_all
from dumbbell.metrics.windows import mean_per_window, packet_rtts, rate_per_window, segment_rate

__all__ = [
    "Paired",
    "Summary",
    "jain",
    "knee",
    "mean_per_window",
    "number",
    "packet_rtts",
    "paired",
    "rate_per_window",
    "segment_rate",
    "shares",
    "summarise",
    "summarise_all",
]
