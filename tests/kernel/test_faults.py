"""Runs that are killed or interrupted leave the host as it was; validation/linux/faults.py has a hundred of them."""

from __future__ import annotations

import signal

import pytest

from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import run
from faults import WAYS, end_once
from host_state import differences, state
from hosts import once, scenario
from required import require_programs

pytestmark = pytest.mark.usefixtures("require_link_emulation", "require_uml")


# Each kind of run once, at moments from its first steps to its traffic.
@pytest.mark.parametrize(
    ("way", "which", "after"),
    [(way, (signal.SIGKILL, signal.SIGINT)[n % 2], (0.0, 0.03, 0.3, 1.2)[n % 4]) for n, way in enumerate(WAYS)],
)
def test_nothing_stays_of_a_run_that_is_ended(way: str, which: signal.Signals, after: float) -> None:
    require_programs("ip", "tc")
    assert end_once(way, which, after) == []


def test_nothing_stays_of_a_run_that_ends() -> None:
    """Settings, interfaces, queue disciplines, mounts and BPF objects are those of before."""
    require_programs("ip", "tc")
    before = state(set())
    given = scenario(duration="1 s")
    once(given, calibration="off")
    run(given, backend=Uml())
    assert differences(before, set()) == []
