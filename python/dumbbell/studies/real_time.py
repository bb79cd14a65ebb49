"""The time that a study takes on the host's kernel, whose runs are made in real time, one after the other: estimated.

A run lasts as long as its scenario, unless it ends with its transfers: a simulated run gives their time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dumbbell.backends import Finished, Job, Simulator
from dumbbell.common.processors import cores

if TYPE_CHECKING:
    from dumbbell.scenario import Scenario
    from dumbbell.studies.definition import Study

__all__ = ["OVERHEAD_S", "real_time", "real_time_text", "run_s"]

OVERHEAD_S = 4.0
"""Time of a run beyond its traffic, s: hosts, calibration of up to five paths, results."""
SAMPLED = 16
"""Cells of an experiment that are simulated at most, evenly spaced."""
HOUR_S = 3600.0


def real_time(study: Study, *, quick: bool) -> float:
    """Estimate the time of all runs, s. Real programs aren't simulated: they count with their whole duration."""
    programs, study = bool(study.real_programs), study.on("kernel")
    total = 0.0
    for experiment in study.experiments:
        scenario = study.scenario(experiment, quick=quick, kernel=True)
        runs = scenario.repetitions * len(scenario.cells)
        total += runs * (OVERHEAD_S + _mean_s(scenario, simulated=not programs))
    return total


def real_time_text(study: Study, *, quick: bool) -> str:
    """Write it in hours, or in minutes if it is less than two hours, with its source."""
    seconds = real_time(study, quick=quick)
    time = f"{seconds / HOUR_S:.0f} hours" if seconds >= 2 * HOUR_S else f"{seconds / 60:.0f} minutes"
    if study.real_programs:
        return f"at most {time} (the runs' durations, and {OVERHEAD_S:g} s each for their hosts)"
    return f"about {time} (estimated from simulated runs, and {OVERHEAD_S:g} s each for their hosts)"


def run_s(finished: Finished) -> float:
    """Return the time that a run lasts, s: until its last transfer ends, if it has nothing else."""
    plan = finished.job.plan()
    seconds: float = plan["duration_ns"] * 1e-9
    ends = [row["end_s"] for row in finished.rows.transfers]
    if _ends_early(plan) and None not in ends:
        seconds = min(seconds, max(ends, default=seconds))
    return seconds


def _ends_early(plan: Mapping[str, Any]) -> bool:
    """Return True if every flow is a number of transfers."""
    return all(flow["application"].get("repeat") for flow in plan["flows"])


def _mean_s(scenario: Scenario, *, simulated: bool) -> float:
    """Return the mean time that a run of a scenario lasts, s."""
    cells = scenario.cells[:: -(-len(scenario.cells) // SAMPLED)]
    jobs = [Job(cell, 0, scenario.repetition_seed(0)) for cell in cells]
    early = [job for job in jobs if simulated and _ends_early(job.plan())]
    lasts = [job.cell.scenario.duration.seconds for job in jobs if job not in early]
    lasts += map(run_s, Simulator().run(early, cores()))
    return sum(lasts) / len(jobs)
