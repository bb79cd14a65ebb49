"""Causes and further numbers for the claims on experiment 2: two TCP flows share a link with CBR traffic."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import shares, summarize
from dumbbell.report.finding import Measured
from dumbbell.studies.judge import Remark
from dumbbell.studies.ns2_cbr.data import Experiment2, report_rates
from dumbbell.studies.shared import Floats

__all__ = ["remarks"]


def remarks(data: Experiment2) -> dict[str, Remark]:
    """Return the remarks by claim."""
    return {
        "exp2-reno-reno-fair": Remark(_range(data, "reno", "reno")),
        "exp2-vegas-vegas-ranges": Remark(_range(data, "vegas", "vegas")),
        "exp2-newreno-reno-ahead": Remark(_timeouts(data), _by_rate(data, "newreno", "reno")),
        "exp2-newreno-vegas-ahead": Remark("", _by_rate(data, "newreno", "vegas")),
    }


def _span(rates: Floats) -> str:
    return f"CBR {rates[0]:g} to {rates[-1]:g} Mbit/s" if len(rates) else "no CBR rate"


def _extremes(first: Floats, second: Floats) -> str:
    share = 100 * shares(np.stack([first, second], axis=-1))[..., 0]
    return f"{share.min():.0f} to {share.max():.0f} %"


def _range(data: Experiment2, a: str, b: str) -> str:
    first, second = data.both(a, b)
    hot = data.contested(a, b)
    if not hot.any():
        return "The flows never contend"
    return (
        f"In single runs under contention ({_span(data.rates[hot])}) the first flow's share ranges over "
        f"{_extremes(first[hot], second[hot])}"
    )


def _timeouts(data: Experiment2) -> str:
    hot = data.contested("newreno", "reno")
    late = [float(x[hot].mean()) for x in data.both("newreno", "reno", metric="timeouts")]
    return f"Under contention NewReno has {late[0]:.1f} timeouts a run, Reno {late[1]:.1f}"


def _by_rate(data: Experiment2, a: str, b: str) -> tuple[Measured, ...]:
    first, second = data.both(a, b)
    hot = data.contested(a, b)
    share = 100 * shares(np.stack([first, second], axis=-1))[..., 0]
    whole = report_rates(list(data.rates))
    return tuple(
        Measured.of(f"NewReno's share at CBR {r:g} Mbit/s", summarize(share[k]), "%")
        for k, r in enumerate(data.rates)
        if hot[k] and r in whole
    )
