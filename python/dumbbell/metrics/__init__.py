"""Metrics of runs: statistics over repetitions, comparisons, fairness, harm, series by windows of time."""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy

if TYPE_CHECKING:
    from dumbbell.metrics.convergence import convergence_time
    from dumbbell.metrics.fairness import jain, rtt_slope, share_ratios, shares
    from dumbbell.metrics.family import Compared, compare_all
    from dumbbell.metrics.harms import harm
    from dumbbell.metrics.intervals import Summary, number, summarize, summarize_all
    from dumbbell.metrics.knee_point import knee
    from dumbbell.metrics.margins import Margin
    from dumbbell.metrics.pairs import Paired, paired
    from dumbbell.metrics.ratios import Ratio, ratio
    from dumbbell.metrics.round_trips import Responsiveness, responsiveness, rpm, trimmed_mean
    from dumbbell.metrics.significance import MeanDifference, compare_means, holm, p_value
    from dumbbell.metrics.speech import mos, r_factor
    from dumbbell.metrics.spike_detection import Spikes, spikes
    from dumbbell.metrics.warmup import warm_up
    from dumbbell.metrics.windows import (
        edges_of,
        mean_per_window,
        packet_ack_delays,
        rate_per_window,
        segment_rate,
        sliding_rate,
    )

__all__ = [
    "Compared",
    "Margin",
    "MeanDifference",
    "Paired",
    "Ratio",
    "Responsiveness",
    "Spikes",
    "Summary",
    "compare_all",
    "compare_means",
    "convergence_time",
    "edges_of",
    "harm",
    "holm",
    "jain",
    "knee",
    "mean_per_window",
    "mos",
    "number",
    "p_value",
    "packet_ack_delays",
    "paired",
    "r_factor",
    "rate_per_window",
    "ratio",
    "responsiveness",
    "rpm",
    "rtt_slope",
    "segment_rate",
    "share_ratios",
    "shares",
    "sliding_rate",
    "spikes",
    "summarize",
    "summarize_all",
    "trimmed_mean",
    "warm_up",
]

_HOMES = {
    "convergence": ("convergence_time",),
    "fairness": ("jain", "rtt_slope", "share_ratios", "shares"),
    "family": ("Compared", "compare_all"),
    "harms": ("harm",),
    "knee_point": ("knee",),
    "margins": ("Margin",),
    "pairs": ("Paired", "paired"),
    "ratios": ("Ratio", "ratio"),
    "round_trips": ("Responsiveness", "responsiveness", "rpm", "trimmed_mean"),
    "significance": ("MeanDifference", "compare_means", "holm", "p_value"),
    "speech": ("mos", "r_factor"),
    "spike_detection": ("Spikes", "spikes"),
    "intervals": ("Summary", "number", "summarize", "summarize_all"),
    "warmup": ("warm_up",),
    "windows": ("edges_of", "mean_per_window", "packet_ack_delays", "rate_per_window", "segment_rate", "sliding_rate"),
}
"""The names of each module. A module is imported with its first name: most need numpy."""
__getattr__ = _lazy(__name__, {name: f"{__name__}.{module}" for module, names in _HOMES.items() for name in names})
