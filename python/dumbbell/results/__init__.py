"""Results: runs, frames over runs, series, and the directory that keeps them."""

from typing import TYPE_CHECKING

from dumbbell.common.accessors import register as _register
from dumbbell.common.lazy import lazy as _lazy
from dumbbell.results.results import Results, read_results
from dumbbell.results.running.runner import run
from dumbbell.results.runs.record import Run

if TYPE_CHECKING:
    from dumbbell.results.statistics.changes import Change, compare

__all__ = ["Change", "Results", "Run", "compare", "read_results", "run"]

_STATISTICS = {
    "comparisons": "cell_statistics:comparisons",
    "fairness": "cell_statistics:fairness",
    "harm": "harm:harm_done",
    "lint": "lint:lint",
    "responsiveness": "responsiveness:frame",
    "rounds": "slowdowns:rounds",
    "settled": "cell_statistics:settled",
    "slowdowns": "slowdowns:slowdowns",
    "statistics": "cell_statistics:statistics",
}
"""Methods of `Results` that `dumbbell.results.statistics` computes."""
_register({f"results.{name}": f"dumbbell.results.statistics.{home}" for name, home in _STATISTICS.items()})

__getattr__ = _lazy(__name__, dict.fromkeys(("Change", "compare"), "dumbbell.results.statistics.changes"))
