"""Ctrl-C during imports, Ctrl-C and a kill while figures are drawn: no traceback, no process is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from required import require_packages

PROGRAM = """
import os, signal, sys

module, mode = sys.argv[1:]

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.SIG_IGN if mode == "ignored" else signal.default_int_handler)
from dumbbell.__main__ import main
sys.argv[1:] = ["variants", "--json"]
main()
"""
"""Prints the variants; the import of the given module sends the signal."""


def interrupted(module: str, how: str = "default") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, module, how], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.parametrize("module", ["dumbbell.cli", "click", "dumbbell.cli.variants", "dumbbell._core"])
def test_an_interrupted_import_is_one_message(module: str) -> None:
    done = interrupted(module)
    assert done.returncode == 130
    assert done.stderr.strip() == "error: interrupted"
    assert done.stdout == ""


def test_a_background_job_goes_on() -> None:
    done = interrupted("click", "ignored")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("[")


SIGNALED = """
import os, signal, sys, threading
from pathlib import Path

signal.signal(signal.SIGINT, signal.default_int_handler)
from dumbbell import _core
from dumbbell.__main__ import main

number, place, out = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
sent = []

def send():
    if (out / "out" / "runs").exists() and threading.current_thread() is threading.main_thread() and not sent:
        sent.append(number)
        os.kill(os.getpid(), number)

class Owner:
    def __del__(self):
        send()

class Waiting(threading.Condition):
    def _acquire_restore(self, state):  # called after a wait
        send()
        super()._acquire_restore(state)

class Failing:
    def __enter__(self):
        pass
    def __exit__(self, *_):
        raise {"os": OSError("disk full"), "own": dumbbell.DumbbellError("wrong"), "runtime": RuntimeError()}[place]

calls = _core.library_calls

def called():
    if place == "del":
        Owner()
    elif place != "wait":
        with Failing():
            send()
    return calls()

import dumbbell
import dumbbell.backends.sim as sim
sim._core.library_calls = called
if place == "wait":
    threading.Event.__init__.__globals__["Condition"] = Waiting
sys.argv[1:] = ["run", str(out / "base.toml"), "--set", "duration=100000 s", "--out", str(out / "out"), "--jobs", "1"]
main()
"""
"""Runs a long scenario; a signal arrives where its exception is ignored or turns into another one."""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("place", ["wait", "del", "os", "own", "runtime"])
def test_a_signal_ends_a_run_where_its_exception_is_lost(base_file: Path, place: str, number: int, code: int) -> None:
    command = [sys.executable, "-c", SIGNALED, str(int(number)), place, str(base_file.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == code, done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("error")] == (
        ["error: interrupted"] if number == signal.SIGINT else []
    )
    assert "Traceback" not in done.stderr
    assert not (base_file.parent / "out" / ".partial").exists()


DRAWING = """
import os, signal, sys, time
from multiprocessing import active_children
from pathlib import Path

import dumbbell.plots.files as files
from dumbbell.plots.spec import Panel, Picture

signal.signal(signal.SIGINT, signal.default_int_handler)
pictures = [Picture(f"p{n}", "title", "", [Panel("panel", "x", "y", [])]) for n in range(40)]
blocked = []

def moved(done, total):
    if done == 1:
        for process in active_children():
            lines = Path(f"/proc/{process.pid}/status").read_text()
            blocked.append(int(lines.split("SigBlk:")[1].split()[0], 16))
        if sys.argv[2] == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        os.killpg(0, signal.SIGINT)
        time.sleep(300)  # the signal ends it

try:
    files.save_all(pictures, sys.argv[1], jobs=2, progress=moved)
except KeyboardInterrupt:
    print(len(active_children()), *blocked, len(list(Path(sys.argv[1]).glob("*.png"))))
"""
"""Draws figures; at the first one the process group is interrupted. Prints how many processes are left, the signals
that each of them blocked, and how many figures exist."""


def drawn_until(folder: Path, end: str) -> subprocess.CompletedProcess[str]:
    """Draw figures in a process that ends by an interrupt or a kill."""
    require_packages("matplotlib")
    return subprocess.run(
        [sys.executable, "-c", DRAWING, str(folder), end],
        capture_output=True, text=True, check=False, timeout=300, start_new_session=True,
    )  # fmt: skip


def test_an_interrupt_ends_the_drawing_processes(tmp_path: Path) -> None:
    done = drawn_until(tmp_path, "interrupt")
    assert (done.returncode, done.stderr) == (0, "")
    left, *blocked, drawn = map(int, done.stdout.split())
    assert left == 0
    assert len(blocked) == 2
    assert all(signals >> (signal.SIGINT - 1) & 1 for signals in blocked), "their imports would print tracebacks"
    assert drawn < 40, "it waited for every figure"


def test_the_drawing_processes_end_with_a_killed_parent(tmp_path: Path) -> None:
    """They hold its output, so reading to the end waits for them. They waited forever for further figures."""
    done = drawn_until(tmp_path, "kill")
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")
