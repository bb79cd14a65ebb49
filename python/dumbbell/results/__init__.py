"""Results: runs, frames over runs, series, and the directory that keeps them."""

from typing import TYPE_CHECKING

from dumbbell.common.lazy import lazy as _lazy
from dumbbell.results.record import Run
from dumbbell.results.results import Results, read_results
from dumbbell.results.running.runner import run

if TYPE_CHECKING:
    from dumbbell.results.statistics.changes import Change, compare

__all__ = ["Change", "Results", "Run", "compare", "read_results", "run"]

__getattr__ = _lazy(__name__, dict.fromkeys(("Change", "compare"), "dumbbell.results.statistics.changes"))
