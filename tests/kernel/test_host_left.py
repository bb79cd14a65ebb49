"""Runs on the host's own kernel leave nothing behind, however they end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dumbbell.common.run_folders import HOST_PREFIX, clean
from dumbbell.kernel.host.features import bpf_variants
from hosts import registered, scenario
from waiting import DEADLINE_S, cpu_s, wait_until, working_in

pytestmark = pytest.mark.usefixtures("require_link_emulation")


BPF_CALL = 321
"""The number of `bpf` on x86-64."""


def in_bpf() -> set[tuple[int, int]]:
    """Return the ids of BPF programs, maps, BTFs and links in the kernel; ids are never reused."""
    if bpf_variants()[1] is not None:
        return set()
    call, every = ctypes.CDLL(None).syscall, set()
    for next_of_them in (11, 12, 23, 31):
        number = (ctypes.c_uint32 * 3)()  # after which; which it is; flags
        while call(BPF_CALL, next_of_them, number, ctypes.sizeof(number)) == 0:
            every.add((next_of_them, number[1]))
            number[0] = number[1]
    return every


State = tuple[str, str, str, set[tuple[int, int]]]


def state() -> State:
    """Namespaces, interfaces with congestion control, the processes that could be ours, BPF."""

    def output_of(*command: str) -> str:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    links = "\n".join(line.split(":")[1] for line in output_of("ip", "-o", "link").splitlines())
    return output_of("ip", "netns"), links + registered(), str(processes()), in_bpf()


def processes(of: str = "") -> list[int]:
    """List the processes of runs, or of those whose folder begins so: others may be at work on this host too."""
    return working_in(f"{HOST_PREFIX}{of}")


def files(process: subprocess.Popen[bytes], name: str) -> list[Path]:
    """Find a file in the folders of a process's runs."""
    return list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*/{name}"))


@pytest.fixture
def running(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[bytes]]:
    """A long run, just started; its variant is loaded as BPF where that is possible."""
    file = tmp_path / "long.toml"
    flows = [{"name": "f", "variant": "highspeed" if bpf_variants()[0] else "reno"}]
    delay = {"network__bottleneck__delay": "0 ms"}  # without netem too
    file.write_text(scenario(duration="100 s", flows=flows, **delay).to_toml())
    emulation = request.node.callspec.params.get("emulation", "link")
    command = [
        sys.executable,
        "-m",
        "dumbbell",
        "run",
        str(file),
        "--backend",
        "kernel",
        "-o",
        f"emulation={emulation}",
    ]
    # Children of a background job inherit its ignored SIGINT.
    command = ["env", "--default-signal=INT", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("which", [signal.SIGKILL, signal.SIGINT])
def test_processes_that_programs_start_end_with_the_run(which: signal.Signals, tmp_path: Path) -> None:
    """Also in another session and group, whose parent is gone."""
    sleep = f"sleep 1000.{os.getpid()}"
    client = ["sh", "-c", f"setsid {sleep} & touch there; {sleep}"]
    flows = [{"name": "f", "variant": "reno", "application": {"kind": "command", "client": client}}]
    file = tmp_path / "long.toml"
    file.write_text(scenario(duration="100 s", flows=flows).to_toml())
    before = state()
    command = [sys.executable, "-m", "dumbbell", "run", str(file), "--backend", "kernel", "-o", "calibration=off"]
    command += ["--allow-programs"]
    command = ["env", "--default-signal=INT", *command]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_run(process)
        wait_until(lambda: files(process, "flow-0-client/there"), process)
        wait_until(lambda: len(commands_with(sleep)) >= 3, process)  # sh and both that it has started
        process.send_signal(which)
        process.wait(timeout=DEADLINE_S)
    finally:
        process.kill()
        process.wait()
    clean()
    wait_until(lambda: is_as(before))
    wait_until(lambda: not commands_with(sleep))


def commands_with(text: str) -> list[str]:
    """List the processes with this text in their command."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if text in (entry / "cmdline").read_text(errors="replace").replace("\0", " "):
                found.append(entry.name)
        except OSError:
            continue
    return found


def wait_for_run(process: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: processes(f"{process.pid}-"), process)


def is_as(before: State) -> bool:
    """Compare with the state now; BPF objects of an earlier run may have been removed meanwhile."""
    now = state()
    return now[:3] == before[:3] and now[3] <= before[3]


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
    before = state()
    process = request.getfixturevalue("running")
    wait_for_run(process)
    wait_until(lambda: moment(process), process)
    process.kill()
    process.wait()
    clean()
    wait_until(lambda: is_as(before))
    assert not files(process, "")


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing_at_all(which: signal.Signals, request: pytest.FixtureRequest) -> None:
    before = state()
    process = request.getfixturevalue("running")
    wait_until(lambda: has_network(process), process)
    process.send_signal(which)
    assert process.wait(timeout=DEADLINE_S) == (130 if which == signal.SIGINT else 143)
    wait_until(lambda: is_as(before))
    assert not files(process, "")
