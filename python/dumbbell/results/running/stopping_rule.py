"""The cells that have to be repeated further, in a scenario with ``until``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dumbbell.exceptions import Problem, ScenarioError
from dumbbell.metrics import summarize
from dumbbell.registry import unknown
from dumbbell.results.runs.record import Run
from dumbbell.scenario.sweep.until import Until

__all__ = ["STEP", "enough", "next_repetitions"]

STEP = 5
"""Repetitions added to a cell at a time."""


def next_repetitions(until: Until, done: Sequence[Sequence[Run]]) -> list[int]:
    """Return the number of repetitions that each cell needs next; its present number if it is done.

    Parameters
    ----------
    until : Until
        The condition to stop.
    done : sequence of sequences of Run
        The runs of each cell, in the order of the cells.
    """
    _check_metric([run for runs in done for run in runs], until)
    return [
        len(runs) if len(runs) >= until.at_most or enough(runs, until) else min(len(runs) + STEP, until.at_most)
        for runs in done
    ]


def enough(runs: Iterable[Run], until: Until) -> bool:
    """Return True if the interval is narrow enough, for the named flow or for each that has the metric."""
    values: dict[str, list[float]] = {}
    for run in runs:
        for flow in run.flows:
            value = flow.get(until.metric)
            if until.flow in {None, flow["name"]} and isinstance(value, int | float):
                values.setdefault(flow["name"], []).append(float(value))
    return all(_narrow(column, until) for column in values.values())


def _check_metric(runs: Sequence[Run], until: Until) -> None:
    """Refuse a metric that doesn't exist, and one that no flow has."""
    rows = [flow for run in runs for flow in run.flows if until.flow in {None, flow["name"]}]
    known = {key for row in rows for key in row}
    if rows and until.metric not in known:
        raise ScenarioError([Problem("until.metric", unknown("metric", until.metric, sorted(known)))])
    if rows and not any(isinstance(row.get(until.metric), int | float) for row in rows):
        whose = "no flow has" if until.flow is None else f"flow '{until.flow}' doesn't have"
        why = f"'{until.metric}' given: {whose} a value of it in any run"
        raise ScenarioError([Problem("until.metric", why)])


def _narrow(values: list[float], until: Until) -> bool:
    found = summarize(values, interval=until.interval)
    if math.isnan(found.low) or (found.value == 0 and found.high > found.low):
        return False
    return (found.high - found.low) / 2 <= until.half_width.share * abs(found.value)
