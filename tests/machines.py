"""What the tests of runs in virtual time share: whether there is a kernel for them, a scenario, a run of it."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell import Scenario, run
from dumbbell.backends import Uml
from dumbbell.kernel import installed
from dumbbell.kernel.guest import GUEST
from dumbbell.results import Results
from kernels import changed

__all__ = ["KERNELS", "needs_kernel", "once", "scenario"]

KERNELS = installed()
needs_kernel = pytest.mark.skipif(
    not (KERNELS and GUEST.exists()), reason="no virtual-time kernel: `dumbbell kernel build` makes it"
)


def scenario(*, rate: str = "10 Mbit/s", limit: str = "33 packets", **changes: Any) -> Scenario:
    document: dict[str, Any] = {
        "name": "uml",
        "duration": "10 s",
        "network": {
            "bottleneck": {"rate": rate, "delay": "20 ms", "queue": {"discipline": "droptail", "limit": limit}},
            "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
        },
        "flows": [{"name": "f", "variant": "reno"}],
    }
    return changed(document, changes)


def once(given: Scenario, **options: Any) -> Results:
    return run(given, backend=Uml(**options), jobs=2)
