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
from queue import Empty, SimpleQueue
from typing import Any, Generic, Self, TypeVar

from dumbbell.activity import report
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.workers.cluster import Cluster
from dumbbell.workers.process import maker

__all__ = ["DaskPool", "do"]

AHEAD = 3
"""Tasks for each thread of the workers that the scheduler has: enough to hide the way to a worker and back."""
NOTICED_S = 0.1
"""Seconds after which a wait for replies notices Ctrl-C."""
COUNTED_S = 1.0
"""Seconds after which the number of workers is asked for again."""
CONNECT_S = 10
"""Seconds that a scheduler has to answer."""
CLOSE_S = 0.3
"""Seconds for the end of the connection: it must not delay Ctrl-C."""

Task = TypeVar("Task")
_WORK = threading.local()
"""The function of a task that this thread of a worker has made, and the name of its setup."""


class DaskPool(Generic[Task]):
    """Workers that a scheduler of dask knows; see `dumbbell.workers.Pool`."""

    def __init__(self, cluster: Cluster, make: str, setup: object) -> None:
        self._cluster = cluster
        self._make = make
        self._setup = pickle.dumps(setup, protocol=5)
        self._name = hashlib.sha256(self._setup).hexdigest()[:24]
        self._client: Any = None
        self._jobs: Any = None
        self._counted: tuple[float, int] = (float("-inf"), 0)

    def __enter__(self) -> Self:
        from distributed import Client  # noqa: PLC0415 - slow to import

        logging.getLogger("distributed").setLevel(logging.ERROR)  # errors are raised here
        try:
            place = self._cluster.address
            if self._cluster.kind != "dask":
                place = self._jobs = _job_queue(self._cluster)
            self._client = Client(place, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as e:
            self.__exit__()
            where = self._cluster.address or self._cluster.kind
            raise BackendError(f"--cluster: {where}: {_line(e)}") from None
        return self

    def __exit__(self, *error: object) -> None:
        for opened in (self._client, self._jobs):
            if opened is not None:
                opened.close(timeout=CLOSE_S)
        self._client = self._jobs = None

    @property
    def count(self) -> int:
        """The number of threads of all workers."""
        asked, count = self._counted
        if time.monotonic() - asked > COUNTED_S:
            count = sum(self._client.nthreads().values())
            self._counted = time.monotonic(), count
        return count

    def run(self, next_task: Callable[[], Task | None]) -> Iterator[tuple[Task, Any]]:
        """Give out tasks, and yield each with its reply; see `dumbbell.workers.Pool.run`."""
        setup = self._client.submit(_same, self._setup, key=f"dumbbell-setup-{self._name}")
        ended: SimpleQueue[Any] = SimpleQueue()
        tasks: dict[str, tuple[Any, Task]] = {}
        while True:
            while len(tasks) < AHEAD * max(self.count, 1) and (task := next_task()) is not None:
                future = self._client.submit(do, self._make, self._name, setup, task, pure=False)
                tasks[future.key] = future, task
                future.add_done_callback(ended.put)
            if not tasks:
                return
            try:
                future = ended.get(timeout=NOTICED_S)
            except Empty:
                report("" if self.count else "waiting for workers")
                continue
            report("")
            _, task = tasks.pop(future.key)
            yield task, _reply(future)


def _reply(future: Any) -> Any:  # noqa: ANN401
    """Return the reply of a task that has ended; BackendError without one."""
    if future.status == "finished":
        succeeded, content = future.result()
        if succeeded:
            return content
        raise BackendError(content)
    if future.status == "error":
        raise BackendError(f"--cluster: {_line(future.exception())}")
    raise BackendError("--cluster: the connection to the scheduler was lost")


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


def _job_queue(cluster: Cluster) -> Any:  # noqa: ANN401
    """Ask a batch system for the jobs of a cluster; dask's configuration has their size."""
    import dask.config  # noqa: PLC0415 - slow to import
    from dask_jobqueue import PBSCluster, SLURMCluster  # noqa: PLC0415 - needs an extra

    for key in ("cores", "memory"):
        if dask.config.get(f"jobqueue.{cluster.kind}.{key}", None) is None:
            raise BackendError(
                f"--cluster: {cluster.kind}: the size of a job is unknown: set jobqueue.{cluster.kind}.{key} in "
                "~/.config/dask/jobqueue.yaml"
            )
    jobs = {"slurm": SLURMCluster, "pbs": PBSCluster}[cluster.kind]()
    jobs.scale(jobs=cluster.number)
    return jobs


def _line(error: BaseException | None) -> str:
    """Return the first line of an exception."""
    return f"{str(error).strip() or type(error).__name__}".splitlines()[0]
