"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Rishabh Agarwal and Tanmay Sinha, "Performance Analysis of TCP Variants". Rules: `paper.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.metrics import jain
from dumbbell.studies.declared import Setting, Value
from dumbbell.studies.judge import Quantities
from dumbbell.studies.ns2_cbr.data import Experiment1, Experiment2, Sizes, Start
from dumbbell.studies.ns2_cbr.data_exp3 import AFTER, BEFORE, Experiment3
from dumbbell.studies.ns2_cbr.data_windows import BLIND, Fair, PairWindows, Windows
from dumbbell.studies.ns2_cbr.remarks_exp1 import FALL, FOUR, knees
from dumbbell.studies.ns2_cbr.summary_text import MIN_TH
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS, Floats
from dumbbell.studies.windows import Window

__all__ = ["WORDS", "Added", "quantities"]

NONE = np.array([], dtype=np.float64)
BEFORE_IT, UNDER_IT = "1 to 7", "8 to 10"
"""CBR rates before congestion and under it, Mbit/s."""
PAIRS = {"like": ("reno/reno", "vegas/vegas"), "unlike": ("newreno/reno", "newreno/vegas")}

DEFAULTS, SUITED = "defaults", "suited"
"""RED's parameters, which the report doesn't state: ns-2's defaults with its queue of 10 packets, and those that suit
the path with a queue of one bandwidth-delay product. DropTail has the length of the RED beside it."""

WORDS = Words(
    metrics={
        "exp1 throughput": ("throughput", "Mbit/s"),
        "exp1 latency": ("latency", "ms"),
        "exp1 drop rate": ("drop rate", "%"),
        "exp1 drop rate step": ("rise of the drop rate over the last 1 Mbit/s", "%"),
        "exp1 queue delay": ("queueing delay at the bottleneck", "ms"),
        "exp1 queue part": ("rise of the queueing delay as a part of that of the latency", "%"),
        "exp1 loss beside queueing": (
            "part of the lost tenth of the throughput that a longer round trip doesn't take", "%"
        ),
        "exp1 range": ("range of the throughputs of the four variants, as a part of their mean", ""),
        "exp1 knee": ("CBR rate at which a tenth of the throughput is lost", "Mbit/s"),
        "exp1 start throughput": ("throughput of the first second", "Mbit/s"),
        "exp1 growth in slow start": ("factor by which the window grows in a round trip of slow start", ""),
        "exp1 timeouts": ("number of timeouts", ""),
        "further-variants throughput": ("throughput", "Mbit/s"),
        "exp1-window throughput": ("throughput", "Mbit/s"),
        "exp1-window latency": ("latency", "ms"),
        "exp1-window drop rate": ("drop rate", "%"),
        "exp1-window without loss": ("share of reductions without a loss in all reductions of the window", "%"),
        "exp1-window start ends early": ("share of runs whose slow start ends before a loss, below its limit", "%"),
        "exp1-window rises below base": ("share of the window's rises at an RTT below the base RTT", "%"),
        "exp1-window cuts above base": ("share of round trips above the base RTT that reduce the window", "%"),
        "exp1-window early repairs": ("share of repairs before the third duplicate ACK", "%"),
        "exp2-window used": ("mean window in use, the smaller of cwnd and window_", "packets"),
        "exp2-window without loss": ("share of reductions without a loss in all reductions of the window", "%"),
        "exp2-window outlast partial": ("share of fast recoveries that continue after an ACK of new data", "%"),
        "exp2-window end complete": (
            "share of fast recoveries of several losses that end with all earlier data acknowledged", "%"
        ),
        "exp2-window kept": ("part of the window that a fast recovery leaves", "%"),
        "exp2-window growth": ("growth of the window for each window of acknowledged data", "packets"),
        "exp2-window variation": ("standard deviation of the throughput over half seconds, part of its mean", ""),
        "exp2 throughput": ("throughput", "Mbit/s"),
        "exp2 timeouts": ("number of timeouts", ""),
        "exp2 jain": ("Jain's index of the two flows of a run", ""),
        "exp3 throughput": ("throughput", "Mbit/s"),
        "exp3 latency": ("latency", "ms"),
        "exp3 dropped": ("number of dropped packets", "packets"),
        "exp3 early share": ("share of early drops in all drops", "%"),
        "exp3 early share of TCP": ("share of early drops in all drops of TCP", "%"),
        "exp3 throughput over time": ("throughput", "Mbit/s"),
        "exp3 full share": ("share of drops of a full queue in all drops", "%"),
        "exp3 likelihood": ("share of arriving packets that are dropped early", "%"),
        "exp3 between thresholds": ("share of time in which RED's average is between its thresholds", "%"),
        "exp3 without loss": ("share of reductions without a loss in all reductions of the window", "%"),
        "exp3-fair jain": ("Jain's index of the two flows of a run", ""),
    },
    keys={"flow": "packets of {}", "cbr": "CBR {} Mbit/s", "to": "up to CBR {} Mbit/s", "parameters": "{}"},
    values={
        **LABELS,
        "tcp": "TCP",
        "cbr": "CBR",
        "droptail": "DropTail",
        "red": "RED at ns-2's defaults",
        "droptail-bdp": "DropTail of 1 BDP",
        DEFAULTS: "10 packets, RED at ns-2's defaults",
        SUITED: "1 BDP, RED that suits the path",
        "red-bdp": "RED that suits the path",
        BLIND: "Vegas without its reaction to delay",
        "upper half": "the upper half of the average",
        "lower half": "the lower half of the average",
        "before": f"{BEFORE[0]:g} to {BEFORE[1]:g} s",
        "after": f"{AFTER[0]:g} to {AFTER[1]:g} s",
        "first": "the first flow",
        "second": "the second flow",
        "like": "pairs of the same variant",
        "unlike": "pairs of different variants",
        **{f"{v}/{q}": f"{LABELS[v]} over {n}" for v in ("reno", "sack")
           for q, n in (("droptail", "DropTail"), ("red", "RED"))},
        **{f"{a}/{b}": f"{LABELS[a]} and {LABELS[b]}" for a, b in
           (("reno", "reno"), ("vegas", "vegas"), ("newreno", "reno"), ("newreno", "vegas"))},
    },
)  # fmt: skip
"""The words for the metrics and settings of the rules."""


@dataclass(frozen=True)
class Added:
    """The experiments with series of windows, two flows over the queues of experiment 3, or BIC and CUBIC."""

    one: Windows
    two: PairWindows
    three: Fair
    further: Experiment1


def quantities(one: Experiment1, start: Start, two: Experiment2, three: Experiment3, added: Added) -> Quantities:
    """Return the quantities of all experiments."""
    experiments: dict[str, Callable[[str, Setting], Floats]] = {
        "exp1": lambda metric, at: _first(one, start, metric, at),
        "exp2": lambda metric, at: _second(two, metric, at),
        "exp3": lambda metric, at: _third(three, metric, at),
        "further-variants": lambda metric, at: _first(added.further, start, metric, at),
        "exp1-window": lambda metric, at: _one_window(added.one, metric, at),
        "exp2-window": lambda metric, at: _two_windows(added.two, metric, at),
        "exp3-fair": lambda _metric, at: _shared(added.three, at),
    }

    def get(metric: str, at: Setting) -> Floats:
        experiment, _, name = metric.partition(" ")
        try:
            return experiments[experiment](name, at)
        except NotRunError:
            return NONE

    return Quantities(get, WORDS)


def chosen(rates: Floats, wanted: Value) -> list[float]:
    """Return the whole CBR rates of a run that a setting asks for: one, or a range such as ``"8 to 10"``."""
    if isinstance(wanted, str):
        low, high = (float(x) for x in wanted.split(" to "))
        return [float(r) for r in rates if low <= r <= high and r == round(r)]
    return [float(wanted)] if float(wanted) in set(rates) else []


def _mean(rows: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(rows, axis=0)) if rows else NONE


def _first(one: Experiment1, start: Start, metric: str, at: Setting) -> Floats:
    if metric == "range":
        rows = [_first(one, start, "throughput", {**at, "variant": v}) for v in FOUR]
        return np.asarray(np.ptp(rows, axis=0) / np.mean(rows, axis=0))
    variant = str(at["variant"])
    if metric == "start throughput":
        return start.get("throughput", variant, float(at["cbr"]))
    if metric == "growth in slow start":
        return start.growth(variant, float(at["cbr"]))
    if metric == "knee":
        return knees(one, variant)
    if metric == "loss beside queueing":
        return _beside_queueing(one, variant)
    if metric == "queue part":
        rises = [_rise(one, m, variant) for m in ("queue delay", "latency")]
        return np.asarray(100 * rises[0] / rises[1])
    if metric == "drop rate step":
        last = float(at["to"])
        if not {last - 1, last} <= set(one.rates):
            return NONE
        return one.get("drop rate", variant, last) - one.get("drop rate", variant, last - 1)
    return _mean([one.get(metric, variant, r) for r in chosen(one.rates, at["cbr"])])


def _rise(one: Experiment1, metric: str, variant: str) -> Floats:
    """Return the rise of a metric from the CBR rates before congestion to those under it, by repetition."""
    before, under = (_mean([one.get(metric, variant, r) for r in chosen(one.rates, w)]) for w in (BEFORE_IT, UNDER_IT))
    return under - before


def _beside_queueing(one: Experiment1, variant: str) -> Floats:
    """Return the part of the tenth lost at the knee that a rise of the queueing delay doesn't take; (n,) float64, %.

    A window per round trip loses the part of the round trip that is added. The delay at the knee is between those at
    the CBR rates beside it; the rise is that from the lowest rate.
    """
    rates, delays = np.asarray(one.rates, dtype=np.float64), one.grid("queue delay", variant)
    rises = [np.interp(k, rates, delays[:, r]) - delays[0, r] for r, k in enumerate(knees(one, variant))]
    taken = rises / (one.grid("latency", variant)[0] + rises)
    return np.asarray(100 * (1 - taken / FALL))


def _second(two: Experiment2, metric: str, at: Setting) -> Floats:
    pair = str(at["pair"])
    if pair in PAIRS:
        return _mean([_second(two, metric, {**at, "pair": p}) for p in PAIRS[pair]])
    first, second = pair.split("/")
    rates = [list(two.rates).index(r) for r in chosen(two.rates, at["cbr"])]
    if not rates:
        return NONE
    if metric == "jain":
        both = two.both(first, second)
        return np.asarray(jain(np.stack(both, axis=-1))[rates].mean(axis=0))
    both = two.both(first, second, metric=metric)
    return np.asarray(both[("first", "second").index(str(at["flow"]))][rates].mean(axis=0))


def _third(three: Experiment3, metric: str, at: Setting) -> Floats:
    if "combination" in at:
        variant, queue = str(at["combination"]).split("/")
    else:
        variant, queue = str(at["variant"]), _queue(at)
    queue = _of_length(queue, at)
    if metric == "throughput over time":
        return three.throughput_in({"before": BEFORE, "after": AFTER}[str(at["span"])], variant, queue)
    if metric == "early share":
        early, full = (three.drops(kind, variant, queue) for kind in ("early", "full"))
        return np.asarray(100 * early / np.maximum(early + full, 1))
    if metric == "early share of TCP":
        return three.early_of_tcp(variant, queue)
    if metric == "full share":
        early, full = (three.drops(kind, variant, queue) for kind in ("early", "full"))
        return np.asarray(100 * full / np.maximum(early + full, 1))
    if metric == "likelihood":
        upper = at["average"] == "upper half"
        return np.array([one.likelihoods()[int(upper)] for one in three.averages(variant, queue)])
    if metric == "between thresholds":
        return np.array([one.between(*THRESHOLDS[queue]) for one in three.averages(variant, queue)])
    if metric == "without loss":
        return np.array([one.without_loss for one in three.windows(variant, queue)])
    if metric == "dropped":
        return three.dropped(str(at["flow"]), variant, queue)
    return three.get(metric, variant, queue)


def _queue(at: Setting) -> str:
    return str(at["discipline"]).lower() if "discipline" in at else str(at["queue"])


def _of_length(queue: str, at: Setting) -> str:
    """Name the queue of a setting: with RED's parameters, the length of the queue changes too."""
    return f"{queue}-bdp" if at.get("parameters") == SUITED else queue


OF_A_WINDOW: dict[str, Callable[[Window, Sizes], float]] = {
    "without loss": lambda w, _s: w.without_loss,
    "start ends early": lambda w, _s: w.start_ends_early,
    "rises below base": lambda w, _s: w.rises_below_base,
    "cuts above base": lambda w, _s: w.cuts_above_base,
    "outlast partial": lambda w, _s: w.outlast_partial,
    "end complete": lambda w, _s: w.end_complete,
    "kept": lambda w, s: w.kept(s.limit),
    "growth": lambda w, s: w.growth(s.packet),
}
"""Name of a metric -> the property of a window."""
THRESHOLDS = {"red": (MIN_TH, 3 * MIN_TH), "red-bdp": (18.0, 54.0)}
"""Thresholds of each RED in the unit of its average: the automatic ones of ns-2, bytes (max_th is three min_th),
and those of the scenario, packets."""


def _one_window(one: Windows, metric: str, at: Setting) -> Floats:
    variant = str(at["variant"])
    rows = []
    for rate in chosen(np.array(one.rates), at["cbr"]):
        if metric in OF_A_WINDOW:
            rows.append(one.each(variant, rate, OF_A_WINDOW[metric]))
        elif metric == "early repairs":
            rows.append(one.early_repairs(variant, rate))
        else:
            rows.append(one.metric(metric, variant, rate))
    return _mean(rows)


def _two_windows(two: PairWindows, metric: str, at: Setting) -> Floats:
    pair, flow = str(at["pair"]), str(at["flow"])
    if metric == "used":
        return two.used(pair, flow, float(at["cbr"]))
    return two.variation(pair, flow) if metric == "variation" else two.each(pair, flow, OF_A_WINDOW[metric])


def _shared(three: Fair, at: Setting) -> Floats:
    both = three.both(str(at["variant"]), _of_length(_queue(at), at))
    return np.asarray(jain(both)) if both.size else NONE
