"""The quantities of the study as far as the runs have them: those of the decisive cells, for instance."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.results import Results
from dumbbell.studies.bufferbloat.data import Curves, Load, Pages, Paths
from dumbbell.studies.bufferbloat.quantities import quantities
from dumbbell.studies.judge import Quantities
from dumbbell.studies.partial import late

__all__ = ["measured"]


def measured(results: Mapping[str, Results]) -> Quantities:
    """Return the quantities; experiments that were not run raise `NotRunError` when one of theirs is asked for."""
    return quantities(
        late(Load, results, "load"),
        late(Pages, results, "pages"),
        late(Curves, results, "curves"),
        late(Paths, results, "paths"),
    )
