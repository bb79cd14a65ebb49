"""Shared by the tests on the host's own kernel: their requirements, a scenario, a run of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dumbbell import Scenario, run
from dumbbell.backends import LinkEmulation
from dumbbell.kernel.host import why_not
from dumbbell.results import Results
from kernels import changed

__all__ = ["REQUIRED", "once", "registered", "require", "require_link_emulation", "scenario"]

REQUIRED = os.environ.get("DUMBBELL_KERNEL_TESTS") == "required"
REASON = why_not()


def require(reason: str | None) -> None:
    """Skip a test that this host can't run, for that reason; where the tests are required it fails."""
    if reason is not None and REQUIRED:
        pytest.fail(f"DUMBBELL_KERNEL_TESTS=required, but: {reason}")
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def require_link_emulation() -> None:
    """Skip a test where runs with link emulation are impossible."""
    require(REASON)


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
    """The congestion control that the kernel has."""
    return Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
