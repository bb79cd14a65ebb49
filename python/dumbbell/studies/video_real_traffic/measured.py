"""The quantities of the study as far as the runs have them: those of the decisive cells, for instance."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.results import Results
from dumbbell.studies.judge import Quantities
from dumbbell.studies.partial import late
from dumbbell.studies.video_real_traffic.changed import changed_keys
from dumbbell.studies.video_real_traffic.data import Captured, fast_keys, lossy_keys, shaped_keys
from dumbbell.studies.video_real_traffic.experiments import Experiments
from dumbbell.studies.video_real_traffic.loss import Cost, Lossy
from dumbbell.studies.video_real_traffic.player import Played
from dumbbell.studies.video_real_traffic.quantities import quantities

__all__ = ["measured"]


def measured(results: Mapping[str, Results]) -> Quantities:
    """Return the quantities; experiments that were not run raise `NotRunError` when one of theirs is asked for."""
    return quantities(
        Experiments(
            queue=late(lambda r: Captured(r, shaped_keys), results, "queue"),
            veno=late(lambda r: Captured(r, changed_keys), results, "veno"),
            policer=late(lambda r: Captured(r, shaped_keys), results, "policer"),
            wifi=late(lambda r: Captured(r, fast_keys), results, "wifi"),
            signal=late(lambda r: Captured(r, lossy_keys), results, "signal"),
            hall=late(lambda r: Captured(r, lossy_keys), results, "hall"),
            player=late(Played, results, "player"),
            lossy=late(Lossy, results, "lossy"),
            cost=late(Cost, results, "cost"),
            fits={},
            losses={},
        )
    )
