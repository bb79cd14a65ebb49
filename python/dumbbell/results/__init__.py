"""Results: runs, frames over runs, series, and the directory that keeps them."""

from typing import TYPE_CHECKING

from dumbbell.lazy import lazy as _lazy
from dumbbell.results.record import Run
from dumbbell.results.results import Results, read_results
from dumbbell.results.runner import run

if TYPE_CHECKING:
    from dumbbell.results.changes import Change, compare

__all__ = ["Change", "Results", "Run", "compare", "read_results", "run"]

__getattr__ = _lazy(__name__, dict.fromkeys(("Change", "compare"), "dumbbell.results.changes"))
