"""Runs in virtual time are the same whether they are watched or not; validation/linux/watching.py compares all."""

from __future__ import annotations

import pytest

import watching

pytestmark = pytest.mark.usefixtures("require_uml")

OTHERS = ("bbr", "cdg", "vegas", "htcp", "dctcp", "lp", "nv", "westwood", "reno")
"""Variants that draw random numbers, pace, or compute with times; one for each discipline."""


@pytest.mark.parametrize(("discipline", "variant"), list(zip(watching.DISCIPLINES, OTHERS, strict=True)))
def test_watching_changes_nothing(discipline: str, variant: str) -> None:
    assert watching.differences(watching.scenario(discipline, (variant, "cubic"), "3 s")) == []


@pytest.mark.parametrize("discipline", ["fq_codel", "pie"])
def test_random_numbers_do_not_depend_on_the_time_that_passes(discipline: str) -> None:
    """The kernel renews its random numbers after some seconds; two BBR flows take random phases."""
    assert watching.differences(watching.scenario(discipline, ("bbr", "bbr"), "8 s")) == []
