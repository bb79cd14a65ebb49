"""Runs on the host's own kernel leave nothing behind, however they end."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dumbbell.common.run_folders import HOST_PREFIX, clean
from dumbbell.kernel.host.features import bpf_variants
from hosts import registered, scenario

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
    return output_of("ip", "netns"), links + registered(), "\n".join(processes()), in_bpf()


def processes(of: str = "") -> list[str]:
    """List the processes of runs, or of those whose folder begins so: others may be at work on this host too."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"{HOST_PREFIX}{of}" in str((entry / "cwd").readlink()):
                found.append(entry.name)
        except OSError:
            continue
    return found


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
        until = time.monotonic() + 30
        folders = f"{HOST_PREFIX}{process.pid}-*/flow-0-client/there"
        while not list(Path(tempfile.gettempdir()).glob(folders)) and time.monotonic() < until:
            time.sleep(0.02)
        assert len(commands_with(sleep)) >= 3  # sh and both that it has started
        process.send_signal(which)
        process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
    clean()
    assert settles(before)
    until = time.monotonic() + 30
    while commands_with(sleep) and time.monotonic() < until:
        time.sleep(0.02)
    assert not commands_with(sleep)


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
    until = time.monotonic() + 60
    while not processes(f"{process.pid}-") and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    assert processes(f"{process.pid}-"), process.poll()


def settles(before: State) -> bool:
    """Wait until all is as before; BPF objects of an earlier run may have been removed meanwhile."""

    def settled() -> bool:
        now = state()
        return now[:3] == before[:3] and now[3] <= before[3]

    until = time.monotonic() + 20
    while not settled() and time.monotonic() < until:
        time.sleep(0.05)
    return settled()


@pytest.mark.parametrize(
    ("emulation", "after"),
    [*(("link", t) for t in (0.0, 0.004, 0.03, 0.2, 1.3)), *(("tc", t) for t in (0.0, 0.02, 0.06, 0.4, 1.3))],
)
def test_a_kill_leaves_nothing_that_clean_does_not_remove(
    emulation: str, after: float, request: pytest.FixtureRequest
) -> None:
    del emulation  # the fixture reads it
    before = state()
    process = request.getfixturevalue("running")
    wait_for_run(process)
    time.sleep(after)
    process.kill()
    process.wait()
    clean()
    assert settles(before)
    assert not list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*"))


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing_at_all(which: signal.Signals, request: pytest.FixtureRequest) -> None:
    before = state()
    process = request.getfixturevalue("running")
    wait_for_run(process)
    time.sleep(0.3)
    process.send_signal(which)
    assert process.wait(timeout=30) == (130 if which == signal.SIGINT else 143)
    assert settles(before)
    assert not list(Path(tempfile.gettempdir()).glob(f"{HOST_PREFIX}{process.pid}-*"))
