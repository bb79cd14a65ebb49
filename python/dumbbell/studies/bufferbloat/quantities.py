"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Neeraj Sharma, "Project 5". Rules: `paper.toml`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dumbbell.studies.bufferbloat.cubic import Epoch, middle_bend, share
from dumbbell.studies.bufferbloat.data import EARLY, MSS, PINGED, QUEUES, Curves, Load, Pages, Paths
from dumbbell.studies.declared import Setting
from dumbbell.studies.judge import Quantities
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["CUBIC_BEND", "WORDS", "quantities"]

FIRST = "the first rise"
BY_LENGTH = "by its length"
CUBIC_BEND = 0.15
"""Bend from which a tooth counts as concave, and as convex; below it at both ends a tooth is straight."""
SHAPES = {
    "length": ("length of a tooth", "s"),
    "top": ("window at the end of a tooth", "segments"),
    "bend": ("bend of a tooth", ""),
    "whole teeth": ("share of teeth that are concave and convex", "%"),
    "straight teeth": ("share of teeth that are straight", "%"),
    "low tops": ("share of teeth whose top is a tenth or more below the median", "%"),
    "spread of lengths": ("spread of the lengths of the teeth", ""),
    "start bend": ("bend of slow start", ""),
    "kept": ("part of the window that a fast recovery leaves", "%"),
    "growth": ("growth of the window for each window of acknowledged data", "segments"),
    "first loss": ("share of runs whose first loss leads to fast recovery and then to avoidance", "%"),
    "on the cubic function": ("share of time within 10 % of the cubic function", "%"),
    "on Reno's window": ("share of the Reno-friendly region within 10 % of Reno's window", "%"),
    "bend below W_max": ("bend below W_max", ""),
    "bend above W_max": ("bend above W_max", ""),
    "start friendly": ("share of the first rise in the Reno-friendly region", "%"),
    "peak": ("largest window", "segments"),
    "most waiting": ("largest number of waiting packets", "packets"),
    "mean waiting": ("mean number of waiting packets", "packets"),
    "spread of waiting": ("spread of the number of waiting packets", ""),
}
OF_EPOCHS: dict[str, Callable[[list[Epoch]], float]] = {
    "on the cubic function": lambda e: share(e, Epoch.on_cubic, lambda one: np.ones(one.time.size, dtype=bool)),
    "on Reno's window": lambda e: share(e, Epoch.on_reno, lambda one: one.friendly),
    "bend below W_max": lambda e: middle_bend(e, above=False),
    "bend above W_max": lambda e: middle_bend(e, above=True),
}
"""Name of a metric -> the property of CUBIC's rises."""
LOADED = {
    "ping": ("mean RTT of ten pings", "ms"),
    "three pings": ("mean RTT of the first three pings", "ms"),
    "ping rise": ("RTT beside the transfer minus that alone", "ms"),
    "ping gain": ("part of the RTT beside Reno by which that beside CUBIC is shorter", "%"),
    "ping ratio": ("RTT with the small queue over that with the large one", ""),
    "page": ("time of the page", "s"),
    "page rise": ("time of the page beside the transfer minus that alone", "s"),
    "page factor": ("time of the page beside the transfer over that alone", ""),
    "page gain": ("time of the page beside Reno minus that beside CUBIC", "s"),
}

SINCE_WORDS = {
    page: f"page {page} and first ping {ping} after the start of the transfer" for page, ping in PINGED.items()
}

WORDS = Words(
    metrics={
        **{f"curve {name}": words for name, words in SHAPES.items()},
        **{f"pages {name}": words for name, words in SHAPES.items()},
        **{f"load {name}": words for name, words in LOADED.items()},
        "paths length": ("length of a tooth as a part of K", ""),
        "paths on the cubic function": SHAPES["on the cubic function"],
    },
    keys={"bend": "{} part", "counted": "a tooth counted {}", "delay": "one-way delay of {}", "since": "{}"},
    values={**LABELS, **QUEUES, "beside": "beside the transfer", **SINCE_WORDS},
)
"""The words for the metrics and settings of the rules."""


def quantities(load: Load, pages: Pages, curves: Curves, paths: Paths) -> Quantities:
    """Return the quantities of all experiments."""

    def get(metric: str, at: Setting) -> Floats:
        experiment, _, name = metric.partition(" ")
        if experiment == "load":
            return _loaded(load, name, at)
        if experiment == "paths":
            return _over_paths(paths, name, at)
        return _shape(curves if experiment == "curve" else pages, name, at)

    return Quantities(get, WORDS)


OF_CURVES: dict[str, Callable[[Curves, str, str, Setting], Floats]] = {
    "length": lambda c, q, v, _at: c.each(q, v, "length"),
    "top": lambda c, q, v, _at: c.each(q, v, "top"),
    "bend": lambda c, q, v, at: c.each(q, v, str(at["bend"])),
    "whole teeth": lambda c, q, v, at: 100 * c.whole(q, v, CUBIC_BEND, over_time=at.get("counted") == BY_LENGTH),
    "straight teeth": lambda c, q, v, _at: 100 * c.straight(q, v, CUBIC_BEND),
    "low tops": lambda c, q, v, _at: 100 * c.low_tops(q, v),
    "spread of lengths": lambda c, q, v, at: c.spread_of_lengths(q, v, over_time=at["counted"] == BY_LENGTH),
    "start bend": lambda c, q, v, _at: c.start_bend(q, v),
    "kept": lambda c, q, v, _at: np.array([one.kept(np.inf) for one in c.windows(q, v)]),
    "growth": lambda c, q, v, _at: np.array([one.growth(MSS) for one in c.windows(q, v)]),
    "first loss": lambda c, q, v, _at: c.first_losses(q, v),
    "start friendly": lambda c, q, v, _at: c.start_friendly(q, v),
    "peak": lambda c, q, v, at: c.first_peak(q, v) if at["of"] == FIRST else c.each(q, v, "top"),
    "most waiting": lambda c, q, v, _at: c.backlog(q, v)[1],
    "mean waiting": lambda c, q, v, _at: c.backlog(q, v)[0],
    "spread of waiting": lambda c, q, v, _at: c.spread_of_waiting(q, v),
}
"""Name of a metric -> its values of some curves, by queue, variant and setting."""


def _shape(curves: Curves, name: str, at: Setting) -> Floats:
    queue, variant = str(at["queue"]), str(at["variant"])
    if name in OF_EPOCHS:
        return curves.of_epochs(queue, variant, OF_EPOCHS[name])
    return OF_CURVES[name](curves, queue, variant, at)


def _over_paths(paths: Paths, name: str, at: Setting) -> Floats:
    delay, queue, variant = (str(at[key]) for key in ("delay", "queue", "variant"))
    if name in OF_EPOCHS:
        return paths.of_epochs(delay, queue, variant, OF_EPOCHS[name])
    return paths.length(delay, queue, variant)


def _loaded(load: Load, name: str, at: Setting) -> Floats:
    since = str(at.get("since", EARLY))
    if name == "page gain":
        queue = str(at["queue"])
        return load.page(queue, "reno", since) - load.page(queue, "cubic", since)
    if name == "ping gain":
        reno, cubic = (load.ping(str(at["queue"]), v, since) for v in ("reno", "cubic"))
        return np.asarray(100 * (reno - cubic) / reno)
    variant = str(at["variant"])
    if name == "ping ratio":
        return np.asarray(load.ping("small", variant, since) / load.ping("large", variant, since))
    queue, loaded = str(at["queue"]), at.get("load") == "beside"
    metrics = {"ping": load.ping, "three pings": load.printed_pings, "page": load.page}
    if name in metrics:
        return metrics[name](queue, variant, since, loaded=loaded)
    metric, _, change = name.partition(" ")
    alone, beside = (metrics[metric](queue, variant, since, loaded=one) for one in (False, True))
    return np.asarray(beside / alone) if change == "factor" else beside - alone
