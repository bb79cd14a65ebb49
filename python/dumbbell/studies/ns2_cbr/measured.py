"""The quantities of the study as far as the runs have them: those of the decisive cells, for instance."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.results import Results
from dumbbell.studies.judge import Quantities
from dumbbell.studies.ns2_cbr.data import Experiment1, Experiment2, Start
from dumbbell.studies.ns2_cbr.data_exp3 import Experiment3
from dumbbell.studies.ns2_cbr.data_windows import Fair, PairWindows, Windows
from dumbbell.studies.ns2_cbr.quantities import Added, quantities
from dumbbell.studies.partial import late

__all__ = ["added", "measured"]


def added(results: Mapping[str, Results]) -> Added:
    """Return the experiments with series of windows and with two flows; those not run raise `NotRunError`."""
    return Added(
        late(Windows, results, "exp1-window"),
        late(PairWindows, results, "exp2-window"),
        late(Fair, results, "exp3-fair"),
        late(Experiment1, results, "further-variants"),
    )


def measured(results: Mapping[str, Results]) -> Quantities:
    """Return the quantities; experiments that were not run raise `NotRunError` when one of theirs is asked for."""
    return quantities(
        late(Experiment1, results, "exp1"),
        late(Start, results, "exp1-start"),
        late(Experiment2, results, "exp2"),
        late(Experiment3, results, "exp3"),
        added(results),
    )
