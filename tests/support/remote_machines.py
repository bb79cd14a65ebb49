"""Shared by the tests of the back end ssh: three machines as network namespaces, each with an sshd of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.kernel.guest import GUEST
from namespaces import Machines
from required import require, require_packages, require_programs, require_root

__all__ = ["Machines", "machines", "require_machines"]


@pytest.fixture(scope="session")
def require_machines() -> None:
    """Require what these machines need."""
    require_packages("asyncssh")
    require_root()
    require_programs("sshd", "ssh-keygen", "ip")
    missing = None if Path("/dev/net/tun").exists() else "needs /dev/net/tun"
    require(
        "host", missing if GUEST.exists() else "needs dumbbell-guest: install libc6-dev and build the package again"
    )


@pytest.fixture(scope="session")
def machines(require_machines: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """The three machines."""
    del require_machines
    with Machines.running(tmp_path_factory.mktemp("machines")) as m:
        yield m
        assert m.left() == []
