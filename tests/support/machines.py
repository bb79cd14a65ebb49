"""Shared by the tests in virtual time: their requirements, a scenario, a run of it."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import Scenario, run
from dumbbell.kernel import installed
from dumbbell.kernel.guest import GUEST
from dumbbell.kernel.uml import tools
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import Results
from kernels import one_flow
from required import require

__all__ = ["KERNELS", "once", "require_uml", "scenario"]

KERNELS = installed()


@pytest.fixture
def require_uml() -> None:
    """Require the virtual-time kernel and its guest program."""
    reason = tools.unsupported()
    if reason is None and not GUEST.exists():
        reason = "no dumbbell-guest: install libc6-dev (Fedora: glibc-static) and build the package again"
    elif reason is None and not KERNELS:
        reason = "no virtual-time kernel: `dumbbell kernel build` builds it (a few minutes)"
    require("uml", reason)


def scenario(*, rate: str = "10 Mbit/s", limit: str = "33 packets", **changes: Any) -> Scenario:
    return one_flow("uml", "10 s", rate=rate, limit=limit, **changes)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=Uml(**options), jobs=2)
