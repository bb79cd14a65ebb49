"""The quantities of the study as far as the runs have them: those of the decisive cells, for instance."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.results import Results
from dumbbell.studies.judge import Quantities
from dumbbell.studies.netem_iperf.data import Grid
from dumbbell.studies.netem_iperf.inflight import Inflight
from dumbbell.studies.netem_iperf.quantities import quantities
from dumbbell.studies.partial import late

__all__ = ["measured"]


def measured(results: Mapping[str, Results]) -> Quantities:
    """Return the quantities; experiments that were not run raise `NotRunError` when one of theirs is asked for."""
    return quantities(
        late(Grid, results, "grid"), late(Grid, results, "offload"), late(Inflight, results, "inflight")
    )  # fmt: skip
