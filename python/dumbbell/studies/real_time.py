"""The time that a study takes on the host's kernel, whose runs are made in real time, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["real_time", "real_time_text"]

HOUR_S = 3600.0


def real_time(study: Study, *, quick: bool) -> float:
    """Return the sum of the durations of all runs, s; a run that ends with its transfers may take less."""
    total, study = 0.0, study.on("kernel")
    for experiment in study.experiments:
        scenario = study.scenario(experiment, quick=quick, kernel=True)
        total += scenario.repetitions * sum(cell.scenario.duration.seconds for cell in scenario.cells)
    return total


def real_time_text(study: Study, *, quick: bool) -> str:
    """Write it in hours, or in minutes if it is less than two hours."""
    seconds = real_time(study, quick=quick)
    return f"{seconds / HOUR_S:.0f} hours" if seconds >= 2 * HOUR_S else f"{seconds / 60:.0f} minutes"
