"""The stack `linux` beside Linux 6.12 (validation/linux): `beside.py` compares everything, this what is quick."""

from __future__ import annotations

import pytest

import beside
from dumbbell.backends import Simulator
from dumbbell.results.run import cores
from dumbbell.validate import Comparison, compare, load, measure

QUICK = ("single/", "loss/")

SMALL = "at 1 Mbit/s and a quarter of a BDP a window is 8 to 12 segments: one more or less lost decides the cycle"
BURST = (
    "where a burst overflows the buffer, microseconds decide which segments, or whether a retransmission, are lost"
)
SLIP = "one loss of two or none in a cycle of few: the phase of delayed ACKs decides"
EXCEPTIONS = {
    # case: why, and by how much goodput, cwnd, srtt (%) and retransmissions (%) may differ
    "single/westwood/1M100/0.25bdp": (SMALL, 40, 35, 5, 50),
    "single/veno/1M100/0.25bdp": (SMALL, 12, 12, 5, 30),
    "single/hybla/1M100/0.25bdp": (SMALL, 9, 12, 5, 15),
    "single/illinois/1M100/0.25bdp": (SMALL, 8, 8, 5, 50),
    "single/cubic/1M100/0.25bdp": (SMALL, 6, 6, 5, 20),
    "single/htcp/1M100/0.25bdp": (SMALL, 3, 5, 5, 15),
    "single/htcp/1M100/1bdp": (SMALL, 3, 7, 5, 15),
    "single/yeah/1M100/1bdp": (SMALL, 3, 5, 5, 15),
    "single/lp/1M100/1bdp": (SMALL, 4, 5, 5, 15),
    "single/hybla/1M100/4bdp": (BURST, 2, 5, 5, 15),
    "single/bbr/1M100/1bdp": (BURST, 1, 5, 5, 100),
    "single/westwood/100M20/0.25bdp": (BURST, 15, 15, 5, 110),
    "single/vegas/100M20/0.25bdp": (BURST, 10, 12, 5, 15),
    "single/htcp/100M20/0.25bdp": (BURST, 4, 6, 5, 15),
    "single/veno/100M20/0.25bdp": (BURST, 3, 5, 5, 15),
    "single/yeah/100M20/0.25bdp": (BURST, 1, 5, 5, 25),
    "single/bic/100M20/1bdp": (BURST, 1, 8, 8, 120),
    "single/yeah/100M20/1bdp": (BURST, 1, 5, 5, 40),
    "single/scalable/100M20/1bdp": (BURST, 1, 5, 5, 35),
    "single/veno/100M20/4bdp": (BURST, 1, 45, 45, 15),
    "single/dctcp/100M20/4bdp": (BURST, 1, 30, 30, 15),
    "single/lp/100M20/4bdp": (BURST, 1, 30, 30, 15),
    "single/reno/100M20/4bdp": (BURST, 1, 30, 30, 15),
    "single/illinois/100M20/4bdp": (BURST, 1, 20, 20, 15),
    "single/highspeed/100M20/4bdp": (BURST, 1, 14, 14, 15),
    "single/scalable/100M20/4bdp": (BURST, 1, 5, 5, 50),
    "single/bic/100M20/4bdp": (BURST, 1, 5, 5, 45),
    "single/bbr/10M40/0.25bdp": (BURST, 3, 5, 5, 15),
    "single/lp/10M40/0.25bdp": (SLIP, 3, 5, 5, 80),
    "single/veno/10M40/0.25bdp": (SLIP, 3, 5, 5, 60),
}


@pytest.fixture(scope="module")
def rows() -> list[Comparison]:
    held = [(case, measured) for case, measured in load(beside.HERE) if case.name.startswith(QUICK)]
    sim = measure([case for case, _ in held], Simulator(), jobs=cores())
    return [c for case, measured in held for c in compare(case.name, sim[case.name], measured)]


def test_every_variant_is_there(rows: list[Comparison]) -> None:
    assert len({c.variant for c in rows}) == 17
    assert len(rows) == 17 * (3 * 3 + 2)


def test_flows_are_within_the_tolerances(rows: list[Comparison]) -> None:
    outside = {c.case: beside.line(c) for c in rows if c.outside and c.case not in EXCEPTIONS}
    assert outside == {}


def test_what_is_outside_is_near(rows: list[Comparison]) -> None:
    by_name = {c.case: c for c in rows}
    assert by_name.keys() >= EXCEPTIONS.keys()
    for name, (why, *bounds) in EXCEPTIONS.items():
        c = by_name[name]
        for figure, bound in zip(beside.SHOWN, bounds, strict=True):
            apart = 100 * abs(c.differences[figure].relative)
            assert apart <= bound or figure not in c.outside, f"{beside.line(c)}: {figure} by {apart:.1f} %: {why}"


def test_curves_have_the_kernels_shape(rows: list[Comparison]) -> None:
    # Sorted cwnd, mean difference over a second's bins, in parts of the mean: a sawtooth of another height, or with
    # another share of its time at the top, is apart by more. Without dice only: one run's curve is stored.
    for c in rows:
        if c.case.startswith("single/") and c.case not in EXCEPTIONS and c.variant not in ("cdg", "bbr1"):
            assert c.shape is not None and c.shape < 0.06, (c.case, c.shape)
