"""Requirements of tests: a test skips with one line that says how to get what is missing, or fails where it must run.

``DUMBBELL_KERNEL_TESTS=required`` (set by ``.ci/run``) makes every missing requirement a failure. A list of words
requires only some: ``linux`` (what each Linux has, such as /proc), ``host`` (the host's own kernel, and root),
``users`` (ordinary users can make namespaces), ``uml`` (the virtual-time kernel), ``programs`` (of the host:
a browser, ns-2, tshark, iperf3, valgrind and others), ``packages`` (of Python: the extras ``dev``, ``studies``,
``web``, ``ssh`` and ``cluster``), ``studio`` (``dumbbell.wasm``),
``wheel`` (a wheel of ``make wheel``, and an index of packages to install it).
"""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from typing import Literal

import pytest

__all__ = ["quick", "require", "require_packages", "require_programs", "require_root"]

Group = Literal["linux", "host", "users", "uml", "programs", "packages", "studio", "wheel"]

quick = False
"""The running test is quick: it requires packages and Linux, nothing else (tiers.py)."""
WORDS = os.environ.get("DUMBBELL_KERNEL_TESTS", "").split()
PACKAGES = {
    "cargo": "cargo",
    "chromium": "chromium",
    "clang": "clang",
    "curl": "curl",
    "iperf3": "iperf3",
    "llvm-strip": "llvm",
    "make": "make",
    "node": "nodejs",
    "ns": "ns2",
    "ping": "iputils-ping",
    "python3": "python3",
    "ip": "iproute2",
    "setpriv": "util-linux",
    "sleep": "coreutils",
    "ssh-keygen": "openssh-client",
    "sshd": "openssh-server",
    "tc": "iproute2",
    "tshark": "tshark",
    "unshare": "util-linux",
    "valgrind": "valgrind",
}
"""Debian's package of each program that tests use."""


DISTRIBUTIONS = {"sklearn": "scikit-learn"}
"""Names of Python's packages where they are installed by another one."""


def require(group: Group, reason: str | None) -> None:
    """Skip a test for this reason; fail it if tests of that group are required. None: nothing is missing."""
    if quick and group not in ("packages", "linux"):
        pytest.fail(f"a quick test requires {group!r}: tests/support/tiers.py didn't see it; add a marker")
    if reason is None:
        return
    if group in WORDS or "required" in WORDS:
        pytest.fail(f"DUMBBELL_KERNEL_TESTS={' '.join(WORDS)}, but: {reason}")
    pytest.skip(reason, allow_module_level=True)


def require_packages(*names: str) -> None:
    """Require packages of Python. The extras but ``docs`` and ``plots`` have all that tests name."""
    missing = [name for name in names if find_spec(name) is None]
    given = " ".join(DISTRIBUTIONS.get(name, name) for name in missing)
    require("packages", f"needs {', '.join(missing)}: `pip install {given}`" if missing else None)


def require_programs(*names: str) -> None:
    """Require programs of the host."""
    missing = [name for name in names if shutil.which(name) is None]
    packages = " ".join(PACKAGES[name] for name in missing)
    require("programs", f"needs {', '.join(missing)}: `apt-get install {packages}`" if missing else None)


def require_root() -> None:
    """Require root, for tests that become another user or give namespaces names."""
    require("host", None if os.getuid() == 0 else "needs root")
