"""The page's table of the simulator, virtual time and the host's clock, beside runs of today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import three_ways
from dumbbell.backends import Simulator
from dumbbell.kernel.uml.backend import Uml
from dumbbell.report.tables import read_table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanations" / "validation-linux.md"
ROWS = read_table(three_ways.DATA / f"{three_ways.NAME}.csv").records()
QUICK = three_ways.CASES[-3:-1]
"""Cases whose runs are short."""


def stored(case: three_ways.Case, side: str) -> list[str]:
    """Return the figures of a side as the table has them."""
    (row,) = (r for r in ROWS if (r["variant"], r["scenario"]) == (case.variant, three_ways.name(case)))
    return [row[f"{figure}, {side}"] for figure in three_ways.FIGURES]


def test_the_table_has_every_case() -> None:
    assert list(ROWS[0]) == three_ways.titles()
    assert [(r["variant"], r["scenario"]) for r in ROWS] == [(c.variant, three_ways.name(c)) for c in three_ways.CASES]


@pytest.mark.parametrize("case", three_ways.CASES, ids=three_ways.name)
def test_the_simulator_has_the_stored_figures(case: three_ways.Case) -> None:
    assert list(three_ways.measured(case, Simulator()).figures) == stored(case, "simulator")


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("case", QUICK, ids=lambda case: f"{case.variant}, {three_ways.name(case)}")
def test_virtual_time_has_the_stored_figures_and_packets(case: three_ways.Case) -> None:
    simulator, virtual = (three_ways.measured(case, backend) for backend in (Simulator(), Uml()))
    assert list(virtual.figures) == stored(case, "virtual time")
    (row,) = (r for r in ROWS if (r["variant"], r["scenario"]) == (case.variant, three_ways.name(case)))
    assert int(row["data packets"]) == len(simulator.packets)
    equal = three_ways.equal_packets(simulator.packets, virtual.packets)
    assert int(row["equal ones, virtual time"]) == equal


def test_the_page_has_the_stored_figures() -> None:
    """Its sentence about the first row."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    (goodputs,) = re.findall(
        r"CUBIC at 20 Mbit/s and 40 ms has a goodput of ([\d.]+), ([\d.]+) and ([\d.]+) Mbit/s", text
    )
    assert [ROWS[0][f"goodput (Mbit/s), {side}"] for side in three_ways.SIDES] == list(goodputs)
    (same, all_) = re.findall(r"the same packet for packet in (\w+) of (\w+) flows", text)[0]
    words = ("none", "one", "two", "three", "four", "five", "six", "seven")
    whole = sum(row["equal ones, virtual time"] == row["data packets"] for row in ROWS)
    assert (words[whole], words[len(ROWS)]) == (same, all_)


def test_packets_are_compared_up_to_the_first_difference() -> None:
    packets = tuple((n, 1) for n in range(5))
    assert three_ways.equal_packets(packets, packets) == 5
    assert three_ways.equal_packets(packets, packets[:3]) == 3
    assert three_ways.equal_packets(packets, ((0, 1), (7, 1), (2, 1))) == 1
    assert three_ways.equal_packets((), packets) == 0
