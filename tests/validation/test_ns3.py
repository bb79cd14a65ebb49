"""Comparison with ns-3's recorded runs (validation/ns3/data): the settings in which both agree."""

from __future__ import annotations

import pytest

import ns3_compare
from ns3_compare import Cell

# Quantities within the rule, for settings in which ns-3 follows the publications. The reasons of the others are in
# docs/explanations/validation-ns3.md. Fewer mean that something has changed: find it, and renew the page.
SHALLOW = (10.0, 40.0, 0.25, 0.0, 1.0)
ONE = (10.0, 40.0, 1.0, 0.0, 1.0)
FAST = (100.0, 20.0, 1.0, 0.0, 1.0)
LOSS = (10.0, 40.0, 1.0, 0.001, 1.0)
ALL = ("goodput", "window", "queue", "drops")
AGREE = [
    ("reno", SHALLOW, ALL, 0.1),
    ("reno", ONE, ALL, 0.05),
    ("reno", FAST, ALL, 0.05),
    ("newreno", SHALLOW, ALL, 0.05),
    ("newreno", ONE, ALL, 0.05),
    ("vegas", FAST, ALL, 0.01),
    ("vegas", LOSS, ALL, 0.1),
    ("veno", SHALLOW, ALL, 0.1),
    ("westwood", ONE, ALL, 0.05),
    ("westwood", LOSS, ALL, 0.05),
    ("bic", ONE, ALL[:3], 0.05),
    ("cubic", ONE, ALL, 0.05),
    ("cubic", FAST, ALL, 0.05),
    ("highspeed", FAST, ALL[:2], 0.05),
    ("scalable", SHALLOW, ALL, 0.05),
    ("htcp", ONE, ALL[:3], 0.05),
    ("hybla", ONE, ALL, 0.05),
    ("hybla", FAST, ALL, 0.02),
    ("yeah", ONE, ALL, 0.05),
    ("yeah", FAST, ALL, 0.05),
    ("bbr1", ONE, ("goodput", "window", "drops"), 0.1),
    ("bbr1", (1.0, 100.0, 1.0, 0.0, 1.0), ALL, 0.15),
]

Recorded = dict[tuple[str, ns3_compare.Key], tuple[float, int, float, ns3_compare.Side]]


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return ns3_compare.recorded()


@pytest.mark.parametrize(("variant", "key", "within", "shape"), AGREE)
def test_cells_that_agree(
    recorded: Recorded, variant: str, key: ns3_compare.Key, within: tuple[str, ...], shape: float
) -> None:
    seconds, packets, step, theirs = recorded[variant, key]
    cell = Cell(variant, key, step, ns3_compare.ours(variant, key, seconds, packets, step), theirs)
    assert not set(within) & set(cell.outside), (cell.ours, cell.theirs)
    assert cell.shape <= shape


def test_every_run_has_its_curve(recorded: Recorded) -> None:
    assert len(recorded) == 224
    alike = 0
    for seconds, _, step, side in recorded.values():
        assert len(side.curve) * step == pytest.approx(seconds, rel=0.02)
        alike += abs(side.curve.mean() / side.cwnd - 1) < 0.1
    # The mean of 200 or 300 samples is the mean over time, but for windows that ns-3 inflates for a moment.
    assert alike > 0.8 * len(recorded)
