"""The cells that have to be repeated further, in a scenario with ``until``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.metrics import summarize
from dumbbell.registry import unknown
from dumbbell.results.record import Run
from dumbbell.scenario import Scenario
from dumbbell.scenario.until import Until

__all__ = ["STEP", "enough", "next_repetitions"]

STEP = 5
"""Repetitions added to a cell at a time."""


def next_repetitions(scenario: Scenario, done: Sequence[Sequence[Run]]) -> list[int]:
    """Return the number of repetitions that each cell needs next; its present number if it is done.

    Parameters
    ----------
    scenario : Scenario
        With ``until``.
    done : sequence of sequences of Run
        The runs of each cell, in the order of the cells.
    """
    until = scenario.until
    if until is None:
        return [len(runs) for runs in done]
    return [
        len(runs) if len(runs) >= until.at_most or enough(runs, until) else min(len(runs) + STEP, until.at_most)
        for runs in done
    ]


def enough(runs: Iterable[Run], until: Until) -> bool:
    """Return True if the interval is narrow enough, for the named flow or for each that has the metric."""
    values: dict[str, list[float]] = {}
    known: set[str] = set()
    for run in runs:
        for flow in run.flows:
            known |= flow.keys()
            value = flow.get(until.metric)
            if until.flow in {None, flow["name"]} and isinstance(value, int | float):
                values.setdefault(flow["name"], []).append(float(value))
    if until.metric not in known:
        raise ScenarioError([Problem("until.metric", unknown("metric", until.metric, sorted(known)))])
    return all(_narrow(column, until) for column in values.values())


def _narrow(values: list[float], until: Until) -> bool:
    found = summarize(values, interval=until.interval)
    if math.isnan(found.low) or (found.value == 0 and found.high > found.low):
        return False
    return (found.high - found.low) / 2 <= until.half_width.share * abs(found.value)
