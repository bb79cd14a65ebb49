"""Why Veno and CUBIC differ on the shaped link: one changed rule in each case, with made-up numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from dumbbell.studies import study
from dumbbell.studies.video_real_traffic.changed import CHANGES, changed_keys, changed_note, changed_table
from dumbbell.studies.video_real_traffic.data import Key

REPORTED = study("video-real-traffic").paper.figures
Values = Mapping[Key, list[float]]


def made(values: Values) -> Any:
    """Stand for `Captured`: the same values for every metric."""
    return SimpleNamespace(settings=list(values), n=3, get=lambda _metric, *key: np.array(values[key]))


QUEUE: Values = {("server", "cubic"): [30, 40, 50], ("server", "veno"): [40, 50, 60]}
CHANGED: Values = dict(zip(CHANGES, ([50, 100, 100], [10, 20, 30], [40, 50, 70]), strict=True))


def test_cells_are_named_by_variant_and_changed_rule() -> None:
    found = study("video-real-traffic")
    experiment = next(e for e in found.experiments if e.name == "veno")
    cells = [cell.values for cell in found.scenario(experiment).cells]
    assert [changed_keys(cell) for cell in cells] == [[key] for key in CHANGES]


def test_the_note_compares_medians_of_the_same_slow_start() -> None:
    # 50 / 40 as they are; 50 / 100 and 20 / 40 with the same slow start; one of three runs changes.
    (note,) = changed_note(made(QUEUE), made(CHANGED), REPORTED)
    assert note.headline == "Veno retransmits 1.25 of CUBIC's bytes; with the same slow start 0.50 or 0.50"
    assert "in the report 0.78" in note.text  # 38,535 of 49,587 bytes
    assert "changes the bytes of 1 of 3 runs" in note.text


def test_cells_that_were_not_run_are_left_out() -> None:
    # The real kernel has none of the changed rules.
    assert changed_note(made(QUEUE), made({}), REPORTED) == []
    assert changed_table(made(QUEUE), made({}), REPORTED) == []
    only = {CHANGES[1]: [10.0, 20.0, 30.0]}
    assert changed_note(made(QUEUE), made(only), REPORTED) == []
    (table,) = changed_table(made(QUEUE), made(only), REPORTED)
    assert table.frame["rule"].to_list() == ["the report", "as in Linux", "the report", "as in Linux", "with HyStart"]
