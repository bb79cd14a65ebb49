"""The stack `linux` compared with Linux 6.12 (validation/linux): the quick cases; `beside.py` compares all."""

from __future__ import annotations

import pytest

import beside
from dumbbell.backends import Simulator
from dumbbell.common.processors import cores
from dumbbell.kernel.validate import Comparison, compare, load, measure

QUICK = ("single/", "loss/")

NEAR = "near/"

ODD = "the kernel's run is the odd one: with other delays it does what the simulator does"
MICROSECOND = (
    "a microsecond of the smallest round trip decides what queue it believes in: either side is spread by 10 %"
)
ROOT = "the kernel's cube root is from a table: one segment is sent earlier, and from then on the runs differ"
STAMPS = "the kernel computes with the timestamps' absolute values, which begin at random"
DICE = "it draws random numbers"
SEEDS = "five seeds: over 17 and 12 others both have 5.06 Mbit/s"
BURST = "microseconds decide which segments a full buffer loses"
EXCEPTIONS = {
    # case: why, and by how much goodput, cwnd, srtt (%) and retransmissions (%) may differ
    "single/cubic/1M100/0.25bdp": (ROOT, 4, 5, 5, 15),
    "single/bic/100M20/1bdp": (ODD, 1, 8, 8, 100),
    "single/vegas/100M20/0.25bdp": (MICROSECOND, 12, 12, 5, 15),
    "single/bbr/10M40/0.25bdp": (BURST, 3, 5, 5, 15),
    "single/cdg/10M40/0.25bdp": (DICE, 4, 5, 5, 30),
    "single/lp/1M100/1bdp": (STAMPS, 3, 5, 5, 15),
    "loss/bic/10M40/1bdp/1%": (SEEDS, 9, 10, 5, 15),
}
DIFFERENT = {
    # ensembles whose means differ, by how much goodput, cwnd, srtt (%) and retransmissions (%) may
    "near/bbr/10M40/0.25bdp": (3, 5, 5, 20),
    "near/hybla/1M100/0.25bdp": (3, 5, 5, 20),  # SACKed segments in the send buffer: 62 bytes above the limit
}
SAME = (
    "reno/10M40/0.25bdp",
    "veno/10M40/0.25bdp",
    "htcp/1M100/1bdp",
    "westwood/1M100/0.25bdp",
    "illinois/1M100/0.25bdp",
)
"""Ensembles that are the kernel's run for run."""


@pytest.fixture(scope="module")
def rows() -> list[Comparison]:
    return compared(QUICK)


@pytest.fixture(scope="module")
def near() -> list[beside.Ensemble]:
    return beside.ensembles(compared((NEAR,)))


def compared(groups: tuple[str, ...]) -> list[Comparison]:
    held = [(case, measured) for case, measured in load(beside.HERE) if case.name.startswith(groups)]
    sim = measure([case for case, _ in held], Simulator(), jobs=cores())
    return [c for case, measured in held for c in compare(case.name, sim[case.name], measured)]


def test_every_variant_has_cases(rows: list[Comparison]) -> None:
    assert len({c.variant for c in rows}) == 17
    assert len(rows) == 17 * (3 * 3 + 2)


def test_flows_are_within_the_tolerances(rows: list[Comparison]) -> None:
    outside = {c.case: beside.line(c) for c in rows if c.outside and c.case not in EXCEPTIONS}
    assert outside == {}


def test_flows_outside_of_the_tolerances_are_near(rows: list[Comparison]) -> None:
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


def test_nearly_the_same_cases_agree_in_the_mean(near: list[beside.Ensemble]) -> None:
    assert len(near) == 18
    assert {e.case for e in near if e.outside} <= DIFFERENT.keys()
    # They are the same, not alike.
    for e in near:
        if e.case.removeprefix("near/") in SAME:
            assert abs(e.differences["retransmitted_packets"].relative) < 0.005, e.case
            assert abs(e.differences["cwnd_mean_packets"].relative) < 0.001, e.case


def test_means_that_differ_are_near(near: list[beside.Ensemble]) -> None:
    for e in near:
        for figure, bound in zip(beside.SHOWN, DIFFERENT.get(e.case, (1e9,) * 4), strict=True):
            apart = 100 * abs(e.differences[figure].relative)
            assert apart <= bound or figure not in e.outside, f"{e.case}: {figure} by {apart:.1f} %"


def test_shares_are_the_kernels_in_the_mean() -> None:
    # Ten runs of each side. Those at 100 Mbit/s take longer and are on the page only.
    held = [(c, m) for c, m in load(beside.HERE) if c.name.startswith("shares/") and "/100M40/" not in c.name]
    sim = measure([case for case, _ in held], Simulator(), jobs=cores())
    found = beside.shares(held, sim)
    assert len(found) == 5 * 2 + 4
    assert all(len(side) == 10 for s in found for side in s.goodput)
    outside = {(s.case, s.flow): beside.shared([s]).rows for s in found if s.outside}
    assert outside == {}
    # Where runs hardly differ the means are close, not only within what counts as the same.
    assert all(abs(s.apart) < 0.01 for s in found if s.case.startswith(("shares/vegas-", "shares/bbr-vegas")))
