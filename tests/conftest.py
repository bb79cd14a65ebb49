"""A small scenario to start from, and fixtures that run the command line."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

import required
from again import note_repeated
from cluster_runs import batch_system, cluster_scenario
from dumbbell import Scenario
from dumbbell import allow_code as own_code_allowed
from hosts import require_link_emulation
from machines import require_uml
from remote_machines import machines, require_machines
from scenario_texts import BASE, FULL
from tiers import MARKERS, markers

if TYPE_CHECKING:
    from dumbbell.studies import Done


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


@pytest.hookimpl(tryfirst=True)  # before the choice by markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the markers. A failed test on the host's own clock is repeated: other programs may have disturbed it."""
    for item in items:
        if isinstance(item, pytest.Function):
            for name in sorted(markers(item)):
                item.add_marker(name)
        if item.get_closest_marker("host_clock"):
            item.add_marker(pytest.mark.flaky(reruns=2))
    # Files are divided among processes: first those that take minutes, so that none is left at the end.
    items.sort(key=lambda item: item.get_closest_marker("studies") is None)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that is repeated, so that the whole check names it as unstable."""
    if str(report.outcome) == "rerun":
        note_repeated(report.nodeid)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Forget the runs that tests of this file share, if the last attempt with them failed."""
    required.quick = item.get_closest_marker("quick") is not None
    if getattr(item, "execution_count", 1) > 1 and isinstance(item, pytest.Function):
        for value in vars(item.module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


# The same random cases in each run; pytest --hypothesis-profile=default tries others. A busy machine fails no test.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")
# A background job of a script ignores Ctrl-C, and so would the processes that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = [
    "BASE",
    "FULL",
    "batch_system",
    "cluster_scenario",
    "machines",
    "require_link_emulation",
    "require_machines",
    "require_uml",
]  # the latter are fixtures


@pytest.fixture(scope="session", autouse=True)
def own_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give this process its own directory for temporary files: tests look at what runs leave there."""
    tmp_path_factory.getbasetemp()  # elsewhere
    place = Path(tempfile.mkdtemp(prefix="db-"))  # short: the names of sockets have 108 characters at most
    place.chmod(0o1777)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(place))
        patch.setattr(tempfile, "tempdir", None)
        yield
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture
def base() -> Scenario:
    return Scenario.from_toml(BASE)


@pytest.fixture
def changed() -> Callable[..., Scenario]:
    """Make the base scenario with changes, path -> value."""

    def make(changes: dict[str, Any] | None = None, text: str = BASE) -> Scenario:
        return Scenario.from_toml(text, changes)

    return make


@pytest.fixture
def allow_code() -> Iterator[None]:
    """Let the scenarios of a test load their own code."""
    with own_code_allowed():
        yield


@pytest.fixture
def base_file(tmp_path: Path) -> Path:
    path = tmp_path / "base.toml"
    path.write_text(BASE)
    return path


@pytest.fixture
def cli(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line as a user does, in a directory of its own."""

    def call(*args: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dumbbell", *map(str, args)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)

    return call


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Done]:
    """Give a quick study that was run, once for all tests of a file."""
    from dumbbell.studies import run_study, study

    return cache(lambda name: run_study(study(name), tmp_path_factory.mktemp(name), quick=True, kernel=False))
