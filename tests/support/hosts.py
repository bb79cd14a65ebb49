"""Shared by the tests on the host's own kernel: their requirements, a scenario, a run of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario, run
from dumbbell.kernel.host.features import why_not
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.results import Results
from kernels import one_flow
from required import require

__all__ = ["once", "registered", "require_link_emulation", "scenario"]

REASON = why_not()


@pytest.fixture
def require_link_emulation() -> None:
    """Require a host that can run link emulation."""
    require("host", REASON)


def scenario(*, rate: str = "10 Mbit/s", limit: str = "33 packets", **changes: Any) -> Scenario:
    return one_flow("host", "4 s", rate=rate, limit=limit, **changes)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=LinkEmulation(**{"calibration": "mark", **options}))


def registered() -> str:
    """Return the names of the congestion control that the kernel has."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
