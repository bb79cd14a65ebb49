"""The settings that reports leave open: their other values run, and quantities follow the sizes that these change."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import dumbbell
from dumbbell import Scenario
from dumbbell.studies import Study, study
from dumbbell.studies.netem_iperf.data import payload
from dumbbell.studies.netem_iperf.inflight import Windows
from dumbbell.studies.netem_iperf.quantities import quantities as of_netem
from dumbbell.studies.ns2_cbr.data import Sizes
from dumbbell.studies.ns2_cbr.fits import NEAR, Fit, used_setting
from dumbbell.studies.ns2_cbr.further import mixes
from dumbbell.studies.open_settings import OpenSetting, OpenValue

REPORTS = [study(name) for name in ("bufferbloat", "netem-iperf", "ns2-cbr")]
VALUES = [
    pytest.param(found, setting, value, id=f"{found.name}-{setting.id}-{value.name}")
    for found in REPORTS
    for setting in found.paper.open
    for value in setting.values
]


def scenarios(found: Study, setting: OpenSetting, value: OpenValue) -> list[tuple[Scenario, Scenario]]:
    """Return the scenario of each experiment of a setting: the study's own, and that at another value."""
    pairs = []
    for name in setting.experiments:
        own = found.scenario(next(e for e in found.experiments if e.name == name))
        file = found.folder / value.file
        pairs.append((own, Scenario.load(file) if value.file else own.with_changes(value.changes)))
    return pairs


def simulated(of: list[Scenario]) -> float:
    """Return the time that all runs of some scenarios simulate, s."""
    return sum(len(s.cells) * s.repetitions * s.duration.seconds for s in of)


@pytest.mark.parametrize(("found", "setting", "value"), VALUES)
def test_another_value_has_the_cells_that_its_claims_need(found: Study, setting: OpenSetting, value: OpenValue) -> None:
    for own, other in scenarios(found, setting, value):
        assert other.repetitions == own.repetitions
        assert other.seed == own.seed
        changed = {key for key in ("network.bottleneck.queue", "flows.long.start") if key in str(value.changes)}
        kept = [key for key in own.cells[0].values if key not in changed]
        cells, others = (
            {tuple(str(cell.values[key]) for key in kept) for cell in scenario.cells} for scenario in (own, other)
        )
        assert others == cells


@pytest.mark.parametrize(("found", "setting", "value"), VALUES)
def test_another_value_differs_and_costs_no_more_than_the_study(
    found: Study, setting: OpenSetting, value: OpenValue
) -> None:
    assert value.name != setting.used
    pairs = scenarios(found, setting, value)
    for own, other in pairs:
        assert (
            [c.values for c in other.cells] != [c.values for c in own.cells]
            or other.flows != own.flows
            or (other.network != own.network)
        )
    assert simulated([other for _, other in pairs]) <= simulated([found.scenario(e) for e in found.experiments])


@pytest.mark.parametrize("found", REPORTS, ids=lambda s: s.name)
def test_each_revision_states_the_rule_before_and_the_reason(found: Study) -> None:
    for claim in found.paper.judged:
        for revision in claim.revisions:
            for text in (revision.before, revision.why):
                assert text.endswith("."), claim.id
            assert revision.before[0].islower(), claim.id  # "before, the rule ..."
            assert revision.why[0].isupper() or revision.why.startswith("exp"), claim.id


def test_quantities_of_windows_follow_the_scenario() -> None:
    found = study("ns2-cbr")
    scenario = found.scenario(next(e for e in found.experiments if e.name == "exp1-window"))
    assert Sizes.of(scenario) == Sizes(20, 1000)
    changes: Mapping[str, Any] = {"flows.tcp.stack.window": "40 packets", "flows.tcp.stack.mss": "500 bytes"}
    sizes = Sizes.of(scenario.with_changes(changes))
    assert sizes == Sizes(40, 500)
    assert sizes.limit == 20_000


@pytest.mark.slow
def test_the_open_sizes_are_those_that_the_printed_rates_allow() -> None:
    found = study("ns2-cbr")
    by_name = {e.name: found.scenario(e) for e in found.experiments}
    fit = by_name["fit"].with_changes({"network.bottleneck.queue.limit": "10 packets"})
    fitted = Fit(dumbbell.run(fit), used_setting(by_name["exp1"]))
    (sizes,) = (setting for setting in found.paper.open if setting.id == "sizes")
    judged = {used_setting(by_name["exp1"].with_changes(value.changes)) for value in sizes.values}
    assert {s for s, error in fitted.errors.items() if error <= NEAR} == judged | {fitted.used}


def test_windows_grow_in_segments_of_the_scenario() -> None:
    found = study("netem-iperf")
    by_name = {e.name: found.scenario(e) for e in found.experiments}
    assert (payload(by_name["grid"]), payload(by_name["offload"])) == (1448, 65_483)
    # Two reductions 2 s apart, from 10 segments left to 14 at the next one: 2 segments a second, of any size.
    for mss in (1448, 65_483):
        rows = [(0, 20, 99, 1), (1, 10, 10, 2), (2, 10, 10, 1), (2.9, 14, 10, 1), (3, 7, 7, 2)]
        t, cwnd, ssthresh, phase = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
        frame = pl.DataFrame({
            "t_ns": (1e9 * t).astype(np.int64), "delivered": 0, "inflight": 0, "cwnd": mss * cwnd,
            "ssthresh": mss * ssthresh, "phase": phase.astype(np.uint8), "timeouts": 0,
        })  # fmt: skip
        assert Windows(frame, mss=mss).growth == pytest.approx(2.0)


def test_transfers_without_a_loss_say_nothing_on_retransmissions() -> None:
    columns = {"dropped_packets": [0, 2, 3], "sent_bytes": [9, 12, 9], "delivered_bytes": [9, 9, 9]}
    grid = SimpleNamespace(get=lambda _v, _d, _p, column: np.array(columns[column], dtype=np.float64))
    found = of_netem(grid, grid, None)  # type: ignore[arg-type]
    shares = found.get("grid sent again", {"variant": "reno", "delay": 10.0, "loss": 0.1})
    assert np.isnan(shares[0])
    assert shares[1:].tolist() == [100.0, 0.0]


def test_mixes_take_the_runs_of_either_order() -> None:
    # Reno has 3 and SACK 1 Mbit/s in one order, 1 and 1 in the other one; like pairs share equally.
    rates = {("reno", "sack"): (3.0, 1.0), ("sack", "reno"): (1.0, 1.0)}
    data = SimpleNamespace(
        variants={"sack", "reno"}, both=lambda a, b: tuple(np.array([[x]]) for x in rates.get((a, b), (2.0, 2.0)))
    )
    found = {mix.names: mix for mix in mixes(data)}  # type: ignore[arg-type]
    assert list(found) == [("reno", "reno"), ("sack", "sack"), ("reno", "sack")]
    # Jain: (3 + 1)^2 / (2 (9 + 1)) = 0.8, and 1.
    assert found["reno", "sack"].fairness.tolist() == pytest.approx([0.8, 1.0])
    assert found["reno", "sack"].total.tolist() == [4.0, 2.0]
