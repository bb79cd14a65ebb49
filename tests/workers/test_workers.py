"""Worker processes: replies, lost workers, errors, and their end with the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell import BackendError
from dumbbell.workers import Pool, allowed, at_most, limit
from waiting import DEADLINE_S, is_alive, wait_until

MAKER = "worker_tasks:maker"


def feed(*tasks: str) -> Callable[[], str | None]:
    """Return the function that gives out tasks."""
    left = deque(tasks)
    return lambda: left.popleft() if left else None


def test_every_task_has_its_reply() -> None:
    with Pool[str](MAKER, "setup", 2) as pool:
        names = [f"{n}" for n in range(20)]
        assert sorted(pool.run(feed(*names))) == sorted((name, f"setup {name}") for name in names)
        assert list(pool.run(feed("again"))) == [("again", "setup again")]


def test_tasks_that_come_with_a_reply_are_given_out() -> None:
    left = deque(["first"])
    with Pool[str](MAKER, "s", 1) as pool:
        found = []
        for task, _ in pool.run(lambda: left.popleft() if left else None):
            found.append(task)
            if task == "first":
                left.extend(["second", "third"])
    assert found == ["first", "second", "third"]


def test_prints_do_not_get_between_replies(capfd: pytest.CaptureFixture[str]) -> None:
    with Pool[str](MAKER, "s", 1) as pool:
        assert list(pool.run(feed("print", "x"))) == [("print", "s print"), ("x", "s x")]
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "printed\n")


def test_a_lost_worker_is_replaced_and_its_tasks_are_done() -> None:
    with Pool[str](MAKER, "s", 2) as pool:
        names = [f"{n}" for n in range(12)]
        done: list[str] = []
        for task, _ in pool.run(feed(*names)):
            if not done:
                before = pool.pids
                os.kill(before[0], signal.SIGKILL)
            done.append(task)
        # The pool may have had its last reply before it noticed the loss.
        assert before[1] in pool.pids
    assert sorted(done) == sorted(names)


def test_a_task_that_ends_workers_is_an_error() -> None:
    message = r"3 worker processes were lost with the same task \(exit code 3\)"
    with Pool[str](MAKER, "s", 1) as pool, pytest.raises(BackendError, match=message):
        list(pool.run(feed("end")))


def test_a_task_that_fails_is_an_error() -> None:
    with Pool[str](MAKER, "s", 1) as pool, pytest.raises(BackendError, match="failed: ValueError: no good"):
        list(pool.run(feed("fail")))


def test_a_process_that_cannot_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(BackendError, match="a worker process can't be started: No such file"):
        Pool[str](MAKER, "s", 1).__enter__()


def test_the_number_of_processes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "cores", lambda: 8)
    assert allowed() == 8
    with at_most(3):
        assert allowed() == 3
    monkeypatch.setattr(sys, "executable", "")
    assert allowed() == 1


PROGRAM = """
import os, signal, sys
from dumbbell.workers import Pool

signal.signal(signal.SIGINT, signal.default_int_handler)
left = ["x", "wait", "wait"]
try:
    with Pool("worker_tasks:maker", "s", 2) as pool:
        for task, _ in pool.run(lambda: left.pop(0) if left else None):
            print(*pool.pids, flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
"""Prints the process IDs of two workers, then waits for tasks that don't end."""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_the_process_that_started_them(number: signal.Signals) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
    )  # fmt: skip
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    if number == signal.SIGINT:
        os.killpg(parent.pid, number)  # as the terminal does
    else:
        parent.kill()
    out, err = parent.communicate(timeout=DEADLINE_S)
    assert (out, err) == ("interrupted\n" if number == signal.SIGINT else "", "")
    wait_until(lambda: not any(map(is_alive, pids)))
