"""Workers on other machines, which a scheduler of dask reaches.

A task is a task of dask. The scheduler gives the tasks of a lost worker to others. Replies come back to this process,
the only one that writes results.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, Self, TypeVar
from uuid import uuid4

from dumbbell.cluster import batch_jobs
from dumbbell.common.activity import report
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.workers.process import maker

__all__ = ["DaskCluster", "DaskPool", "do"]

AHEAD = 3
"""Tasks for each thread of the workers that the scheduler has: enough to hide the way to a worker and back."""
NOTICED_S = 0.1
"""Seconds after which a wait for replies notices Ctrl-C."""
COUNTED_S = 1.0
"""Seconds after which the number of workers is asked for again."""
CONNECT_S = 10
"""Seconds that a scheduler has to answer, at the start and after its connection broke."""
MOST_TIMES = 5
"""Times that a task is given out before its cancellation is an error."""
GONE_S = 15.0
"""Seconds without workers after which a job of a batch system that had some is submitted again."""
READERS = 4
"""Replies that are read, or wait for this process, at a time. A scheduler looks for that of a lost worker for 30 s
(its ``distributed.comm.timeouts.connect``); the other replies must not wait for it."""
CLOSE_S = 0.2
"""Seconds for the end of the connection: it must not delay Ctrl-C."""

Task = TypeVar("Task")
_LOST = object()
_WORK = threading.local()
"""The function of a task that this thread of a worker has made, and the name of its setup."""


@dataclass(frozen=True)
class DaskCluster:
    """Where workers are.

    Attributes
    ----------
    kind : str
        "dask", "slurm" or "pbs".
    number : int
        Jobs ("slurm", "pbs").
    address : str
        Of the scheduler ("dask").
    """

    kind: str
    number: int = 0
    address: str = ""
    is_local: ClassVar[bool] = False

    def workers(self, make: str, setup: object) -> DaskPool[Any]:
        """Return the workers, not started yet; see `dumbbell.workers.places.Cluster`."""
        return DaskPool(self, make, setup)


class DaskPool(Generic[Task]):
    """Workers that a scheduler of dask knows; see `dumbbell.workers.Pool`."""

    def __init__(self, cluster: DaskCluster, make: str, setup: object) -> None:
        self._cluster = cluster
        self._make = make
        self._setup = pickle.dumps(setup, protocol=5)
        self._name = hashlib.sha256(self._setup).hexdigest()[:24]
        self._client: Any = None
        self._jobs: Any = None
        self._folder: TemporaryDirectory[str] | None = None
        """What only jobs of this user may read."""
        self._counted: tuple[float, int] = (float("-inf"), 0)
        self._had_workers: dict[str, float] = {}
        """Jobs of a batch system that had workers, and when they had some last."""

    def __enter__(self) -> Self:
        from distributed import Client  # slow to import

        logging.getLogger("distributed").setLevel(logging.ERROR)  # errors are raised here
        try:
            place = self._cluster.address
            if self._cluster.kind != "dask":
                kind, number = self._cluster.kind, self._cluster.number
                self._folder = batch_jobs.private_folder(kind)
                place = self._jobs = batch_jobs.submit(kind, number, Path(self._folder.name))
            else:
                _check_configuration(place)
            self._client = Client(place, timeout=CONNECT_S, set_as_default=False)
        except BaseException as e:
            self.__exit__()
            if not isinstance(e, (ImportError, OSError, ValueError, RuntimeError)):  # cryptography is imported late
                raise
            where = self._cluster.address or self._cluster.kind
            raise BackendError(f"--cluster: {where}: {_line(e)}") from None
        return self

    def __exit__(self, *error: object) -> None:
        for opened in (self._jobs, self._client):
            # A batch system may need longer to end jobs, or know them no more. Workers end without their scheduler.
            with suppress(Exception):
                if opened is not None:
                    opened.close(timeout=CLOSE_S)
        if self._folder is not None:
            self._folder.cleanup()
        self._client = self._jobs = self._folder = None

    @property
    def count(self) -> int:
        """The number of threads of all workers."""
        asked, count = self._counted
        if time.monotonic() - asked > COUNTED_S and self._client.status == "running":
            with suppress(OSError):  # the connection breaks now
                count = self._count_of_jobs() if self._jobs is not None else sum(self._client.nthreads().values())
            self._counted = time.monotonic(), count
        return count

    def _count_of_jobs(self) -> int:
        """Return the number of threads of all jobs.

        Jobs whose workers have gone are submitted again, such as those at their time limit. A job that never had
        workers is not.
        """
        now, jobs = time.monotonic(), self._jobs
        workers = [(str(worker.name), worker.nthreads) for worker in [*jobs.scheduler.workers.values()]]
        for job in map(str, jobs.worker_spec):
            if any(name == job or name.startswith(f"{job}-") for name, _ in workers):
                self._had_workers[job] = now
        gone = [job for job, at in self._had_workers.items() if now - at > GONE_S]
        for job in gone:
            del self._had_workers[job]
        if gone:
            jobs.loop.add_callback(jobs.scale_down, gone)
        elif len(jobs.worker_spec) < self._cluster.number:
            jobs.scale(jobs=self._cluster.number)
        return sum(threads for _, threads in workers)

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[tuple[Task, Any]]:
        """Give out tasks, and yield each with its reply; see `dumbbell.workers.Pool.run`.

        A scheduler cancels tasks that depend on data it has lost, and a client cancels all tasks when its connection
        breaks. Such tasks are given out again, at most `MOST_TIMES` times.
        """
        replies = _Replies()
        try:
            yield from self._replies(next_task, replies)
        finally:
            replies.close()

    def _replies(self, next_task: Callable[[], Task | None], replies: _Replies) -> Iterator[tuple[Task, Any]]:
        """Give out tasks; see `run`."""
        given: dict[str, tuple[Any, Task, int]] = {}
        again: list[tuple[Task, int]] = []
        setup: Any = None

        def give(task: Task, times: int) -> None:
            nonlocal setup
            if setup is None:
                setup = self._client.submit(_same, self._setup, key=f"dumbbell-setup-{self._name}-{uuid4().hex}")
            future = self._client.submit(do, self._make, self._name, setup, task, pure=False)
            given[future.key] = future, task, times
            future.add_done_callback(replies.ended.put)

        while True:
            if connected := self._connected():
                while again:
                    give(*again.pop())
                while len(given) < AHEAD * max(self.count, 1) and (task := next_task()) is not None:
                    give(task, 1)
            if not given and not again:
                return
            try:
                key, reply = replies.get(NOTICED_S)
            except Empty:
                waits_for = "" if self.count else "workers"
                if not connected:
                    waits_for = "the scheduler"
                report(waits_for and f"waiting for {waits_for}")
                continue
            report("")
            _, task, times = given.pop(key)
            if reply is not _LOST:
                yield task, reply
            elif times < MOST_TIMES:
                again.append((task, times + 1))
                setup = None
            else:
                raise BackendError(f"--cluster: the scheduler canceled a task {times} times")

    def _connected(self) -> bool:
        """Return whether the scheduler can be reached now; BackendError if the client has given up."""
        if self._client.status == "closed":
            raise BackendError("--cluster: the connection to the scheduler was lost")
        return bool(self._client.status == "running")


class _Replies:
    """The replies of ended tasks, which threads read from the scheduler.

    Attributes
    ----------
    ended : queue
        Takes each future as it ends.
    """

    def __init__(self) -> None:
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self._read: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._room = threading.Semaphore(READERS)
        for _ in range(READERS):
            threading.Thread(target=self._reader, name="dumbbell-replies", daemon=True).start()

    def _reader(self) -> None:
        while True:
            self._room.acquire()  # replies are large: those that have no room stay with the workers
            if (future := self.ended.get()) is None:
                return
            try:
                reply = _reply(future)
            except Exception as e:
                reply = e
            self._read.put((future.key, reply))

    def get(self, timeout_s: float) -> tuple[str, Any]:
        """Return the key of a task and its reply, or _LOST; queue.Empty after the time, BackendError if it failed."""
        key, reply = self._read.get(timeout=timeout_s)
        self._room.release()
        if isinstance(reply, Exception):
            raise reply
        return key, reply

    def close(self) -> None:
        """End the threads, as soon as each has read its reply."""
        for _ in range(READERS):
            self.ended.put(None)
        self._room.release(READERS)


def _reply(future: Any) -> Any:  # noqa: ANN401
    """Return the reply of a task that has ended, or _LOST; BackendError if it failed."""
    if future.status == "error":
        raise BackendError(f"--cluster: {_line(future.exception())}")
    try:
        succeeded, content = future.result()
    except (OSError, CancelledError):  # the connection broke, or the task was canceled
        return _LOST
    if succeeded:
        return content
    raise BackendError(content)


def _same(setup: bytes) -> bytes:
    return setup


def do(make: str, name: str, setup: bytes, task: object) -> tuple[bool, Any]:
    """Do a task on a worker: True and its reply, or False and a message."""
    try:
        if getattr(_WORK, "name", None) != name:
            _WORK.function = maker(make)(pickle.loads(setup))
            _WORK.name = name
        return True, _WORK.function(task)
    except DumbbellError as e:
        return False, str(e)


def _check_configuration(address: str) -> None:
    """Raise BackendError if dask's configuration doesn't allow a connection to this address of a scheduler."""
    import dask.config  # slow to import

    file = "~/.config/dask/distributed.yaml"
    if not address.startswith("tls:"):
        if dask.config.get("distributed.comm.require-encryption"):
            raise BackendError(f"--cluster: {file} requires encryption, which dask:// doesn't have: use tls://")
        return
    for key in ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.cert"):
        if not (given := dask.config.get(key)) or not Path(given).is_file():
            raise BackendError(
                f"--cluster: {key} is {given or 'not set'}: tls:// needs a file of certificates there: set it in {file}"
            )


def _line(error: BaseException | None) -> str:
    """Return the first line of an exception."""
    return f"{str(error).strip() or type(error).__name__}".splitlines()[0]
