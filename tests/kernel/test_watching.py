"""Runs in virtual time are the same whether they are watched or not; validation/linux/watching.py has all pairs."""

from __future__ import annotations

import pytest

import watching
from dumbbell import registry
from dumbbell.backends import Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml.backend import Uml

EACH = 3
"""Variants beside each discipline."""


def variants(discipline: str) -> tuple[str, ...]:
    """Return the variants that are tested with a discipline: the next ones of all."""
    first = EACH * watching.DISCIPLINES.index(discipline)
    return tuple(watching.VARIANTS[(first + n) % len(watching.VARIANTS)] for n in range(EACH))


def test_every_discipline_and_every_variant_of_the_kernel_is_compared() -> None:
    assert {v for d in watching.DISCIPLINES for v in variants(d)} == set(watching.VARIANTS)
    for discipline in registry.disciplines():
        job = Job(watching.scenario(discipline, ("reno",)).cells[0], 0, 1)
        if discipline in watching.DISCIPLINES:
            assert Uml().steps(job)
        else:
            with pytest.raises(BackendError, match=r"links\.r1->r2\.queue"):
                Uml().steps(job)


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("discipline", watching.DISCIPLINES)
def test_watching_changes_nothing(discipline: str) -> None:
    assert watching.differences(watching.scenario(discipline, variants(discipline), "3 s")) == []


@pytest.mark.usefixtures("require_uml")
@pytest.mark.parametrize("discipline", ["fq_codel", "pie"])
def test_random_numbers_do_not_depend_on_the_time_that_passes(discipline: str) -> None:
    """The kernel renews its random numbers after some seconds; two BBR flows take random phases."""
    assert watching.differences(watching.scenario(discipline, ("bbr", "bbr"), "8 s")) == []
