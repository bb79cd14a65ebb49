"""The quantities of the study as far as the runs have them: those of the decisive cells, for instance."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.results import Results
from dumbbell.studies.geni_fairness.data import Alone, Over
from dumbbell.studies.geni_fairness.paths import by_path
from dumbbell.studies.geni_fairness.quantities import quantities
from dumbbell.studies.judge import Quantities
from dumbbell.studies.partial import late

__all__ = ["measured"]


def measured(results: Mapping[str, Results]) -> Quantities:
    """Return the quantities, of part 2 at its first setting.

    Experiments that were not run raise `NotRunError` when one of theirs is asked for.
    """
    hops, jitter = "network.hops", "network.bottleneck.jitter"
    return quantities(
        late(lambda r: Alone(r, hops), results, "part1"),
        late(lambda r: Alone(r, hops, jitter), results, "jitter"),
        {},
        None,
        late(lambda r: Over(r, next(iter(by_path(r))).swept), results, "pairs"),
        late(lambda r: next(iter(by_path(r).values())), results, "pairs"),
    )
