"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Rishabh Agarwal and Tanmay Sinha, "Performance Analysis of TCP Variants". Rules: `paper.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import jain
from dumbbell.studies.declared import Setting, Value
from dumbbell.studies.judge import Quantities
from dumbbell.studies.ns2_cbr.data import Experiment1, Experiment2, Start
from dumbbell.studies.ns2_cbr.data_exp3 import AFTER, BEFORE, Experiment3
from dumbbell.studies.ns2_cbr.remarks_exp1 import FOUR, knees
from dumbbell.studies.partial import NotRunError
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS

__all__ = ["WORDS", "quantities"]

Floats = npt.NDArray[np.float64]

NONE = np.array([], dtype=np.float64)
PAIRS = {
    "like": ("reno/reno", "vegas/vegas"),
    "unlike": ("newreno/reno", "newreno/vegas"),
}

WORDS = Words(
    metrics={
        "exp1 throughput": ("throughput", "Mbit/s"),
        "exp1 latency": ("latency", "ms"),
        "exp1 drop rate": ("drop rate", "%"),
        "exp1 drop rate step": ("rise of the drop rate over the last 1 Mbit/s", "%"),
        "exp1 queue delay": ("queueing delay at the bottleneck", "ms"),
        "exp1 range": ("range of the throughputs of the four variants, as a part of their mean", ""),
        "exp1 knee": ("CBR rate at which a tenth of the throughput is lost", "Mbit/s"),
        "exp1 start throughput": ("throughput of the first second", "Mbit/s"),
        "exp1 growth in slow start": ("factor by which the window grows in a round trip of slow start", ""),
        "exp2 throughput": ("throughput", "Mbit/s"),
        "exp2 timeouts": ("number of timeouts", ""),
        "exp2 jain": ("Jain's index of the two flows of a run", ""),
        "exp3 throughput": ("throughput", "Mbit/s"),
        "exp3 latency": ("latency", "ms"),
        "exp3 dropped": ("number of dropped packets", "packets"),
        "exp3 early share": ("share of early drops in all drops", "%"),
        "exp3 throughput over time": ("throughput", "Mbit/s"),
    },
    keys={"flow": "packets of {}", "cbr": "CBR {} Mbit/s", "to": "up to CBR {} Mbit/s"},
    values={
        **LABELS,
        "tcp": "TCP",
        "cbr": "CBR",
        "droptail": "DropTail",
        "red": "RED",
        "before": f"{BEFORE[0]:g} to {BEFORE[1]:g} s",
        "after": f"{AFTER[0]:g} to {AFTER[1]:g} s",
        "first": "the first flow",
        "second": "the second flow",
        "like": "pairs of the same variant",
        "unlike": "pairs of different variants",
        **{f"{v}/{q}": f"{LABELS[v]} with {n}" for v in ("reno", "sack")
           for q, n in (("droptail", "DropTail"), ("red", "RED"))},
        **{f"{a}/{b}": f"{LABELS[a]} and {LABELS[b]}" for a, b in
           (("reno", "reno"), ("vegas", "vegas"), ("newreno", "reno"), ("newreno", "vegas"))},
    },
)  # fmt: skip
"""The words for the metrics and settings of the rules."""


def quantities(one: Experiment1, start: Start, two: Experiment2, three: Experiment3) -> Quantities:
    """Return the quantities of all experiments."""
    experiments: dict[str, Callable[[str, Setting], Floats]] = {
        "exp1": lambda metric, at: _first(one, start, metric, at),
        "exp2": lambda metric, at: _second(two, metric, at),
        "exp3": lambda metric, at: _third(three, metric, at),
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
        return _mean([start.get("throughput", variant, float(r)) for r in start.rates])
    if metric == "growth in slow start":
        return start.growth(variant, float(at["cbr"]))
    if metric == "knee":
        return knees(one, variant)
    if metric == "drop rate step":
        last = float(at["to"])
        if not {last - 1, last} <= set(one.rates):
            return NONE
        return one.get("drop rate", variant, last) - one.get("drop rate", variant, last - 1)
    return _mean([one.get(metric, variant, r) for r in chosen(one.rates, at["cbr"])])


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
        variant, queue = str(at["variant"]), str(at["queue"])
    if metric == "throughput over time":
        return three.throughput_in({"before": BEFORE, "after": AFTER}[str(at["span"])], variant, queue)
    if metric == "early share":
        early, full = (three.drops(kind, variant, queue) for kind in ("early", "full"))
        return np.asarray(100 * early / np.maximum(early + full, 1))
    if metric == "dropped":
        return three.dropped(str(at["flow"]), variant, queue)
    return three.get(metric, variant, queue)
