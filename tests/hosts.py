"""Shared by the tests on the host's own kernel: their requirements, a scenario, a run of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario, run
from dumbbell.backends import LinkEmulation
from dumbbell.kernel.host import why_not
from dumbbell.results import Results
from kernels import changed
from required import require

__all__ = ["once", "registered", "require_link_emulation", "scenario"]

REASON = why_not()


@pytest.fixture
def require_link_emulation() -> None:
    """Require a host that can run link emulation."""
    require("host", REASON)


def scenario(*, rate: str = "10 Mbit/s", limit: str = "33 packets", **changes: Any) -> Scenario:
    document: dict[str, Any] = {
        "name": "host",
        "duration": "4 s",
        "network": {
            "bottleneck": {"rate": rate, "delay": "20 ms", "queue": {"discipline": "droptail", "limit": limit}},
            "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
        },
        "flows": [{"name": "f", "variant": "reno"}],
    }
    return changed(document, changes)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=LinkEmulation(**{"calibration": "mark", **options}))


def registered() -> str:
    """Return the names of the congestion control that the kernel has."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
