"""The quantities that the report's claims compare: values by repetition for a metric and a setting.

Report: Weihan Liu and Jingxin Dai, "Performance Comparison of Various TCP Versions". Rules: `paper.toml`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.metrics import convergence_time, shares
from dumbbell.studies.declared import Setting
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Over, Pairs, pair_name
from dumbbell.studies.geni_fairness.fits import Fits, read_cell
from dumbbell.studies.geni_fairness.paths import Path
from dumbbell.studies.judge import Quantities
from dumbbell.studies.rule_words import Words
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["WITHOUT_BBR", "WORDS", "overall", "quantities", "settling", "vegas_goodput", "vegas_share"]

NONE = np.array([], dtype=np.float64)
WITHOUT_BBR = [(a, b) for a in VARIANTS for b in VARIANTS if "bbr" not in (a, b)]

WORDS = Words(
    metrics={
        "part1 rtt": ("mean RTT of ten pings", "ms"),
        "part1 goodput": ("goodput", "Mbit/s"),
        "part1 vegas part": ("goodput of Vegas over the mean of Reno's and CUBIC's", ""),
        "pairs goodput": ("goodput", "Mbit/s"),
        "pairs cell": ("goodput", "Mbit/s"),
        "pairs jain": ("Jain's index of the two flows of a run", ""),
        "pairs vegas share": ("share of Vegas, mean over both orders", "%"),
        "pairs vegas part": ("share of Vegas", "%"),
        "pairs vegas goodput": ("goodput of Vegas, mean over both orders", "Mbit/s"),
        "pairs overall": ("goodput, mean over the three other variants and both orders", "Mbit/s"),
        "pairs settling time": ("time until the share has settled", "s"),
        "pairs movement": ("movement of the share", ""),
    },
    keys={"reading": "reading {}", "ping": "ping {} the flow", "jitter": "jitter {} a hop", "beside": "beside {}",
          "fit": "each one that the fit to {} doesn't distinguish from its best, in one reading or the other"},
    values={
        "1": "one hop",
        "2": "two hops",
        "others": "the three other variants in the mean",
        **LABELS,
        **{f"{a}/{b}": pair_name(a, b) for a in VARIANTS for b in VARIANTS},
        **{f"{a} with {b}": f"{LABELS[a]} with {LABELS[b]}" for a in VARIANTS for b in VARIANTS},
    },
)  # fmt: skip
"""The words for the metrics and settings of the rules."""


def quantities(
    part1: Alone, jitter: Alone, depths: Mapping[Path, Pairs], fits: Fits | None, over: Over, pairs: Pairs | None = None
) -> Quantities:
    """Return the quantities of all experiments.

    Part 1 is measured at the jitters of the settings that Table 1 doesn't distinguish from its best fit, part 2 at
    the best fit that the setting names (``fit``), or in `pairs` if it is given; without fits only the latter.
    """
    fitted = {p.jitter for p in fits.alike()} if fits else set()

    def get(metric: str, at: Setting) -> Floats:
        part, _, name = metric.partition(" ")
        if part == "part1":
            return _alone(part1, jitter, fitted, name, at)
        if name in {"settling time", "movement"}:
            return _over_time(over, name, at)
        if pairs is not None:
            return _pair(pairs, name, at)
        return NONE if fits is None else _pair(depths[fits.best(str(at["fit"]))], name, at)

    return Quantities(get, WORDS, {"part1": "Table 1 excludes their jitter, or it has no runs"})


def _alone(part1: Alone, jitter: Alone, fitted: set[str], name: str, at: Setting) -> Floats:
    hops = int(at["hops"])
    if name == "rtt":
        flow = {"before": "idle ping", "beside": "ping"}[str(at["ping"])]
        return part1.get("rtt_mean_ms", str(at["variant"]), hops, flow=flow)
    each = str(at["jitter"])
    if each not in fitted or (hops, each) not in jitter.points:
        return NONE
    if name == "vegas part":
        return jitter.part(hops, each)
    return jitter.get("goodput_bps", str(at["variant"]), hops, each)


def _pair(pairs: Pairs, name: str, at: Setting) -> Floats:
    if name == "goodput":
        both = pairs.both(*str(at["pair"]).split("/"))
        return both[:, ("first", "second").index(str(at["flow"]))]
    if name == "cell":
        row, column = str(at["cell"]).split(" with ")
        return read_cell(pairs, (row, column), str(at["reading"]))
    if name == "jain":
        return pairs.jain(*str(at["pair"]).split("/"))
    if name == "vegas part":
        first, second = str(at["pair"]).split("/")
        share = pairs.share(first, second)
        return 100 * (share if first == "vegas" else 1 - share)
    if name == "overall":
        return overall(pairs, str(at["variant"]))
    beside = str(at["beside"])
    if name == "vegas share":
        return vegas_share(pairs, beside)
    partners = [v for v in VARIANTS if v != "vegas"] if beside == "others" else [beside]
    return np.asarray(np.mean([vegas_goodput(pairs, v) for v in partners], axis=0))


def vegas_share(pairs: Pairs, beside: str) -> Floats:
    """Return the share of Vegas beside another variant, mean over both orders, by repetition; (n,) float64, %."""
    return np.asarray(50 * (pairs.share("vegas", beside) + 1 - pairs.share(beside, "vegas")))


def vegas_goodput(pairs: Pairs, beside: str) -> Floats:
    """Return the goodput of Vegas beside another variant, mean over both orders; (n,) float64, Mbit/s."""
    return np.asarray((pairs.both("vegas", beside)[:, 0] + pairs.both(beside, "vegas")[:, 1]) / 2)


def overall(pairs: Pairs, variant: str) -> Floats:
    """Return a variant's goodput, mean over the three others and both orders; (n,) float64, Mbit/s."""
    found = []
    for other in VARIANTS:
        if other != variant:
            found += [pairs.both(variant, other)[:, 0], pairs.both(other, variant)[:, 1]]
    return np.asarray(np.mean(found, axis=0))


def _over_time(over: Over, name: str, at: Setting) -> Floats:
    first, second = str(at["pair"]).split("/")
    if name == "settling time":
        return settling(over, first, second)
    if at["than"] == "this pair":
        return over.restless(first, second)
    return np.asarray(np.mean([over.restless(*pair) for pair in WITHOUT_BBR], axis=0))


def settling(over: Over, first: str, second: str) -> Floats:
    """Return the time from the second flow's start until the share has settled; (n,) float64, s.

    Where it doesn't settle: the whole time that both flows run.
    """
    found = []
    for repetition in range(over.repetitions(first, second)):
        share = shares(over.rates(first, second, repetition))[:, 0]
        ends = over.edges[1:] - over.edges[0]
        at = convergence_time(ends, share)
        found.append(float(ends[-1]) if np.isnan(at) else at)
    return np.array(found)
