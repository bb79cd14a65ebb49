"""Worker processes on this machine.

A worker is a Python process that reads tasks from its stdin and writes replies to its stdout, each a pickle. It ends
when its stdin is closed, so also when this process is killed. A worker that is lost is replaced, and its tasks are
given out again.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Generic, Self, TypeVar

from dumbbell.exceptions import BackendError

__all__ = ["Pool"]

AHEAD = 2
"""Tasks that a worker has at a time: it begins the second one while the reply to the first one is read."""
ATTEMPTS = 3
"""Workers that may be lost with the same task."""
NOTICED_S = 0.1
"""Seconds after which a wait for replies notices Ctrl-C."""
PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from dumbbell.workers.process import main; main()"
SINGLE = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Variables that keep libraries from starting threads: every processor has a worker."""

Task = TypeVar("Task")


@dataclass
class _Worker:
    """A worker process, the numbers of its tasks in their order, and the thread that reads its replies."""

    process: subprocess.Popen[bytes]
    tasks: deque[int] = field(default_factory=deque)
    reader: Thread | None = None


class Pool(Generic[Task]):
    """Worker processes that do one kind of task.

    Parameters
    ----------
    make : str
        ``module:function`` of a function that a worker calls with ``setup``. It returns the function of a task.
    setup : object
        Anything that can be pickled.
    count : int
        Number of processes.
    """

    def __init__(self, make: str, setup: object, count: int) -> None:
        self._first = pickle.dumps((make, setup), protocol=5)
        self._count = count
        self._workers: list[_Worker] = []
        self._replies: SimpleQueue[tuple[_Worker, tuple[int, bool, Any] | None]] = SimpleQueue()
        self._tasks: dict[int, Task] = {}
        self._lost: dict[int, int] = {}
        """Workers that were lost with a task, by its number."""
        self._again: deque[int] = deque()
        self._given = 0

    def __enter__(self) -> Self:
        try:
            for _ in range(self._count):
                self._workers.append(self._started())
        except OSError as e:
            self.close()
            raise BackendError(f"a worker process can't be started: {e.strerror or e}") from None
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def count(self) -> int:
        """The number of processes."""
        return self._count

    @property
    def pids(self) -> list[int]:
        """The process IDs of the workers."""
        return [worker.process.pid for worker in self._workers]

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[tuple[Task, Any]]:
        """Give out tasks, and yield each with its reply, in any order.

        ``next_task`` is called when a worker has room; None means that there is no task now. The end comes when no
        task is in progress and there is no further one.

        Raises
        ------
        BackendError
            If a task failed, or too many workers were lost with it.
        """
        self._give(next_task)
        while self._tasks:
            try:
                worker, reply = self._replies.get(timeout=NOTICED_S)
            except Empty:
                continue
            if reply is None:
                self._replace(worker)
            else:
                number, succeeded, content = reply
                worker.tasks.remove(number)
                task = self._tasks.pop(number)
                if not succeeded:
                    raise BackendError(content)
                self._give(next_task)
                yield task, content
            self._give(next_task)

    def _give(self, next_task: Callable[[], Task | None]) -> None:
        """Give tasks to workers that have room, those with the fewest first."""
        while self._workers:
            worker = min(self._workers, key=lambda w: len(w.tasks))
            if len(worker.tasks) >= AHEAD:
                return
            if self._again:
                number = self._again.popleft()
            else:
                task = next_task()
                if task is None:
                    return
                number, self._given = self._given, self._given + 1
                self._tasks[number] = task
            worker.tasks.append(number)
            self._write(worker, pickle.dumps((number, self._tasks[number]), protocol=5))

    def _replace(self, worker: _Worker) -> None:
        """Start another worker in the place of a lost one; its tasks are given out again."""
        status = worker.process.wait()
        if worker.tasks:
            first = worker.tasks[0]  # the one that was in progress
            self._lost[first] = self._lost.get(first, 0) + 1
            if self._lost[first] >= ATTEMPTS:
                raise BackendError(f"{ATTEMPTS} worker processes were lost with the same task ({_how(status)})")
        self._again.extend(worker.tasks)
        self._ended(worker)
        self._workers[self._workers.index(worker)] = self._started()

    def _started(self) -> _Worker:
        with _without_interrupts():
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM, json.dumps(sys.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **dict.fromkeys(SINGLE, "1")},
            )
        worker = _Worker(process)
        worker.reader = Thread(target=self._read, args=(worker,), name="dumbbell-worker", daemon=True)
        worker.reader.start()
        self._write(worker, self._first)
        return worker

    @staticmethod
    def _write(worker: _Worker, message: bytes) -> None:
        assert worker.process.stdin is not None
        with suppress(OSError):  # the worker is lost: its reader notices
            worker.process.stdin.write(message)
            worker.process.stdin.flush()

    def _read(self, worker: _Worker) -> None:
        """Read the replies of a worker until it ends."""
        stream = worker.process.stdout
        assert stream is not None
        with suppress(EOFError, OSError, pickle.UnpicklingError, ValueError):
            while True:
                self._replies.put((worker, pickle.load(stream)))
        self._replies.put((worker, None))

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            self._ended(worker)
        self._workers = []

    @staticmethod
    def _ended(worker: _Worker) -> None:
        worker.process.wait()
        if worker.reader is not None:
            worker.reader.join()
        for stream in (worker.process.stdin, worker.process.stdout):
            with suppress(OSError):  # what was still to be written has no reader
                if stream is not None:
                    stream.close()


def _how(status: int) -> str:
    """Describe the end of a process."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Block SIGINT for this time, and in processes that are started meanwhile.

    Ctrl-C reaches every process of the terminal: this one ends the others, which would print tracebacks.
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
