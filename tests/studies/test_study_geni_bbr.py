"""The cells of BBR in the GENI study: an older kernel's BBR, what was tried, and the further work."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from dumbbell.studies import study
from dumbbell.studies.geni_fairness.data import Over, Pairs
from dumbbell.studies.geni_fairness.newer import newer, newer_note, newer_table
from dumbbell.studies.geni_fairness.tried import tried, tried_note, tried_table

OLDER = {"name": "bbr1", "extra_acked_gain": 0}
REPORTED = study("geni-fairness").paper.figures["throughput_mbps"]


def run(cell: dict[str, Any], **goodputs: float) -> SimpleNamespace:
    flows = [{"name": name, "goodput_bps": 1e6 * value} for name, value in goodputs.items()]
    return SimpleNamespace(cell=cell, flows=flows)


def of_cells(*runs: SimpleNamespace) -> Any:
    """Return results with one run for each cell."""
    return SimpleNamespace(by_cell=lambda: [[one] for one in runs])


def test_bbr_of_an_older_kernel_is_bbr() -> None:
    rows = {
        "flows.first.variant": ["vegas", "vegas"],
        "flows.second.variant": ["bbr1(extra_acked_gain=0)"] * 2,
        "name": ["first", "second"],
        "repetition": [0, 0],
        "goodput_bps": [25e6, 71e6],
    }
    results: Any = SimpleNamespace(flows=pl.DataFrame(rows), scenario=SimpleNamespace(repetitions=1))
    assert Pairs(results).medians("vegas", "bbr") == (25.0, 71.0)
    cell = {"flows.first.variant": "vegas", "flows.second.variant": OLDER}
    over: Any = SimpleNamespace(
        by_cell=lambda: [[run(cell)]], scenario=SimpleNamespace(duration=SimpleNamespace(seconds=55.0))
    )
    assert Over(over, {}).repetitions("vegas", "bbr") == 1


def tries(share: float, **changes: Any) -> list[SimpleNamespace]:
    """Return the runs of a setting in which the other flow has a share of 96 Mbit/s."""
    return [
        run(
            {"flows.other.variant": v, "flows.other.start": start, "flows.bbr.variant": "bbr", **changes},
            other=96 * share,
            bbr=96 * (1 - share),
        )
        for v in ("cubic", "reno", "vegas")
        for start in ("0 s", "10 s")
    ]


def test_what_was_tried_is_listed_with_the_report() -> None:
    older = {"flows.bbr.variant": OLDER, "network.bottleneck.delay": "0.5 ms"}
    found = tried(of_cells(*tries(0.1), *tries(0.25, **older)))
    assert [s.words for s in found] == ["as in the fit", "RTT 1 ms, BBR as before Linux 5.1"]
    assert [s.vegas_share.tolist() for s in found] == [pytest.approx([10.0]), pytest.approx([25.0])]
    # A quarter of 96 Mbit/s is 24: from CUBIC's 50.95778, Reno's 53.33625 and Vegas' 25.80078, and 72 from BBR's.
    off = [26.95778, 29.33625, 1.80078, 26.19667, 39.51111, 0.3]
    assert found[1].error(REPORTED, "A") == pytest.approx(np.mean(off))
    rows = tried_table(found, REPORTED).frame.to_dicts()
    assert [row["setting"] for row in rows] == ["the report", *(s.words for s in found)]
    assert rows[0]["share of Vegas, %"] == "26.5"
    note = tried_note(found, REPORTED)
    assert note.headline.startswith("Beside BBR Vegas has 25.0 % with RTT 1 ms, BBR as before Linux 5.1, in the report")
    assert "as in the fit: 10.0" in note.text


def test_a_setting_that_a_back_end_runs_in_part_is_left_out() -> None:
    assert tried(of_cells(*tries(0.1)[:4])) == []


def test_readings_differ_in_the_cell_of_bbr() -> None:
    """In reading A BBR's cell is of the run that it starts first, in reading B of the run with the other cell."""
    runs = tries(0.25)
    for one in runs:
        if one.cell["flows.other.start"] == "10 s":
            one.flows = [{"name": "other", "goodput_bps": 0.0}, {"name": "bbr", "goodput_bps": 96e6}]
    (found,) = tried(of_cells(*runs))
    assert found.error(REPORTED, "A") - found.error(REPORTED, "B") == pytest.approx(24 / 2)


def test_further_work_names_the_pairs_that_share_fairly() -> None:
    def pair(who: str, other: str, start: str, mine: float) -> list[SimpleNamespace]:
        cell = {"flows.newer.variant": who, "flows.other.variant": other, "flows.other.start": start}
        return [run(cell, newer=mine + k, other=96 - mine - k) for k in (0, 0.1, 0.2)]

    cells = [pair("verus", "vegas", s, 45.0) for s in ("0 s", "10 s")] + [
        pair("sprout", "reno", "0 s", 45.0),
        pair("sprout", "reno", "10 s", 9.0),
    ]
    results: Any = SimpleNamespace(by_cell=lambda: cells)
    found = newer(results)
    note = newer_note(found)
    assert "Verus and Vegas shown to share fairly" in note.headline
    assert "Sprout and" not in note.headline
    assert "Verus has 47 % with Vegas; Sprout has 28 % with Reno" in note.text
    assert newer_table(found).frame["starts first"].to_list() == ["Vegas", "Verus", "Reno", "Sprout"]
