"""Requirements of tests: a test skips with one line that says how to get what is missing, or fails where it must run.

``DUMBBELL_KERNEL_TESTS=required`` (set by ``.ci/run``) makes every missing requirement a failure. A list of words
requires only some: ``host`` (the host's own kernel), ``uml`` (the virtual-time kernel), ``programs`` (of the host:
a browser, ns-2, tshark, iperf3 and others).
"""

from __future__ import annotations

import os
import shutil
from typing import Literal

import pytest

__all__ = ["require", "require_programs"]

Group = Literal["host", "uml", "programs"]

WORDS = os.environ.get("DUMBBELL_KERNEL_TESTS", "").split()
PACKAGES = {
    "chromium": "chromium",
    "clang": "clang",
    "curl": "curl",
    "iperf3": "iperf3",
    "llvm-strip": "llvm",
    "make": "make",
    "ns": "ns2",
    "ping": "iputils-ping",
    "python3": "python3",
    "tc": "iproute2",
    "tshark": "tshark",
    "unshare": "util-linux",
}
"""Debian's package of each program that tests use."""


def require(group: Group, reason: str | None) -> None:
    """Skip a test for this reason; fail it if tests of that group are required. None: nothing is missing."""
    if reason is None:
        return
    if group in WORDS or "required" in WORDS:
        pytest.fail(f"DUMBBELL_KERNEL_TESTS={' '.join(WORDS)}, but: {reason}")
    pytest.skip(reason)


def require_programs(*names: str) -> None:
    """Require programs of the host."""
    missing = [name for name in names if shutil.which(name) is None]
    packages = " ".join(PACKAGES[name] for name in missing)
    require("programs", f"needs {', '.join(missing)}: `apt-get install {packages}`" if missing else None)
