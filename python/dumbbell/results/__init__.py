"""Results: runs, frames over runs, series, and the directory that keeps them."""

from dumbbell.results.changes import Change, compare
from dumbbell.results.record import Run
from dumbbell.results.results import Results, read_results
from dumbbell.results.runner import run

__all__ = ["Change", "Results", "Run", "compare", "read_results", "run"]
