"""Results: runs, frames over runs, series, and the directory that keeps them."""

from dumbbell.results.record import Run
from dumbbell.results.results import Results
from dumbbell.results.runner import run

__all__ = ["Results", "Run", "run"]
