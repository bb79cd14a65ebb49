"""Runs in virtual time that are refused, interrupted, killed or made by another user leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from begun_runs import begun, given_to_nobody

from dumbbell.backends import Job
from dumbbell.common.run_folders import UML_PREFIX as PREFIX
from dumbbell.common.run_folders import clean
from dumbbell.exceptions import BackendError
from dumbbell.kernel import Kernel
from dumbbell.kernel.uml.virtual_machine import command_line, prepare
from machines import KERNELS, once, scenario
from required import require_root
from waiting import DEADLINE_S, cpu_s, wait_until, working_in

pytestmark = pytest.mark.usefixtures("require_uml")


def left_behind() -> list[str]:
    return [str(p) for p in Path(tempfile.gettempdir()).glob(f"{PREFIX}*")]


def test_refusals_come_before_anything_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def never(*_args: Any, **_more: Any) -> None:
        raise AssertionError("a run was begun")

    monkeypatch.setattr("dumbbell.kernel.uml.backend.run_guest", never)
    with pytest.raises(BackendError, match=r"flows\.f\.variant: 'tahoe' given: the kernel doesn't have it"):
        once(scenario(flows=[{"name": "f", "variant": "tahoe"}]))
    sweep = scenario().with_changes({"sweep": {"flows.f.variant": ["reno", "tahoe"]}})
    with pytest.raises(BackendError, match=r"tahoe.*\(cell flows\.f\.variant = 'tahoe'\)"):
        once(sweep)
    trace = tmp_path / "cell.trace"
    trace.write_text("1\n2\n")
    with pytest.raises(BackendError, match=r"links\.r1->r2\.rate: .*traces: the simulator and .* -o emulation=link do"):
        once(scenario(network__bottleneck__rate={"trace": str(trace)}))
    drops = [{"packets": [5]}]
    with pytest.raises(BackendError, match=r"links\.r1->r2\.drops: .*scripted drops"):
        once(scenario(network__bottleneck__drops=drops))


def test_a_run_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(BackendError, match=r"wasn't done after 0 s: killed"):
        once(scenario(duration="1000 s", rate="100 Mbit/s"), limit_s=0.3)
    assert not [p for p in left_behind() if f"{PREFIX}{os.getpid()}-" in p]


def test_an_ordinary_user_can_run_it(tmp_path: Path) -> None:
    require_root()
    place = tmp_path / "guest"
    place.mkdir()
    plan = Job(scenario(duration="1 s").cells[0], 0, 1).plan()
    prepare(place, {"plan": plan, "sample_ns": 10_000_000})
    kernel = Kernel(tmp_path / "linux", "", "")
    user = given_to_nobody(place, kernel.path, KERNELS[0].path)
    within: dict[str, Any] = {"cwd": place, "env": {"HOME": str(place)}, "stdin": subprocess.DEVNULL, **user}
    done = subprocess.run(command_line(kernel, 256, 1), capture_output=True, timeout=300, check=False, **within)
    assert (place / "result.json").exists(), done.stdout + done.stderr
    assert (place / "result.json").stat().st_uid == user["user"]


def of_process(pid: int) -> list[int]:
    """The processes that work in a folder of that process's runs."""
    return working_in(f"/{PREFIX}{pid}-")


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A run that takes long, once its virtual machine has started."""
    given = scenario(duration="1000 s", rate="100 Mbit/s")
    with begun(tmp_path, given, "--backend", "uml", "-j", "1") as process:
        wait_until(lambda: of_process(process.pid), process)
        yield process


@pytest.mark.parametrize("after", [0.0, 0.05, 0.4])
def test_kill_leaves_no_process_and_the_next_run_no_folder(running: subprocess.Popen[bytes], after: float) -> None:
    """At any moment of the start and of the run, in CPU time of the machine."""
    wait_until(lambda: cpu_s(*of_process(running.pid)) >= after, running)
    running.kill()
    running.wait()
    clean()  # a process of the machine may be stopped, its tracer dead
    wait_until(lambda: not of_process(running.pid))
    assert not [p for p in left_behind() if f"{PREFIX}{running.pid}-" in p]


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_leave_nothing(running: subprocess.Popen[bytes], which: signal.Signals) -> None:
    running.send_signal(which)
    assert running.wait(timeout=DEADLINE_S) != 0
    clean()
    wait_until(lambda: not of_process(running.pid))
    assert not [p for p in left_behind() if f"{PREFIX}{running.pid}-" in p]
