"""Runs on the host's own kernel leave nothing behind, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from begun_runs import begun, commands_with

from dumbbell.common.run_folders import HOST_PREFIX, clean
from dumbbell.kernel.host.features import bpf_variants
from host_state import settles, state
from hosts import scenario
from waiting import DEADLINE_S, cpu_s, wait_until, working_in

pytestmark = pytest.mark.usefixtures("require_link_emulation")


def processes(of: str = "") -> list[int]:
    """List the processes of runs, or of those whose folder begins so: others may be at work on this host too."""
    return working_in(f"{HOST_PREFIX}{of}")


def files(process: subprocess.Popen[bytes], name: str) -> list[Path]:
    """Find a file in the folders of a process's runs."""
    return list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*/{name}"))


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A long run, just started; its variant is loaded as BPF where that is possible."""
    flows = [{"name": "f", "variant": "highspeed" if bpf_variants()[0] else "reno"}]
    delay = {"network__bottleneck__delay": "0 ms"}  # without netem too
    emulation = request.node.callspec.params.get("emulation", "link")
    given = scenario(duration="100 s", flows=flows, **delay)
    with begun(tmp_path, given, "--backend", "kernel", "-o", f"emulation={emulation}") as process:
        yield process


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGINT])
def test_processes_that_programs_start_end_with_the_run(which: signal.Signals, tmp_path: Path) -> None:
    """Also in another session and group, whose parent is gone."""
    sleep = f"sleep 1000.{os.getpid()}"
    client = ["sh", "-c", f"setsid {sleep} & touch there; {sleep}"]
    flows = [{"name": "f", "variant": "reno", "application": {"kind": "command", "client": client}}]
    before = state(set())
    options = ("--backend", "kernel", "-o", "calibration=off", "--allow-programs")
    with begun(tmp_path, scenario(duration="100 s", flows=flows), *options) as process:
        wait_for_run(process)
        wait_until(lambda: files(process, "flow-0-client/there"), process)
        wait_until(lambda: len(commands_with(sleep)) >= 3, process)  # sh and both that it has started
        process.send_signal(which)
        process.wait(timeout=DEADLINE_S)
    clean()
    assert settles(before, {process.pid}, DEADLINE_S) == []
    wait_until(lambda: not commands_with(sleep))


def wait_for_run(process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: processes(f"{process.pid}-"), process)


def worked(seconds: float) -> Callable[[subprocess.Popen[bytes]], bool]:
    """The run's process has used this CPU time: moments while it makes its network, and after."""
    return lambda process: cpu_s(*processes(f"{process.pid}-")) >= seconds


def has_network(process: subprocess.Popen[bytes]) -> bool:
    return bool(files(process, "network.json"))


@pytest.mark.parametrize("emulation", ["link", "tc"])
@pytest.mark.parametrize(
    "moment",
    [worked(0), worked(0.01), worked(0.03), has_network, worked(0.3)],
    ids=["0", "0.01", "0.03", "network", "0.3"],
)
def test_a_kill_leaves_nothing_that_clean_does_not_remove(
    emulation: str, moment: Callable[[subprocess.Popen[bytes]], bool], request: pytest.FixtureRequest
) -> None:
    del emulation  # the fixture reads it
    before = state(set())
    process = request.getfixturevalue("running")
    wait_for_run(process)
    wait_until(lambda: moment(process), process)
    process.kill()
    process.wait()
    clean()
    assert settles(before, {process.pid}, DEADLINE_S) == []


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing_at_all(which: signal.Signals, request: pytest.FixtureRequest) -> None:
    before = state(set())
    process = request.getfixturevalue("running")
    wait_until(lambda: has_network(process), process)
    process.send_signal(which)
    assert process.wait(timeout=DEADLINE_S) == (130 if which == signal.SIGINT else 143)
    assert settles(before, {process.pid}, DEADLINE_S) == []
