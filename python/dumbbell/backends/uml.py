"""The real Linux kernel in virtual time: each run is a virtual machine, an ordinary process of an ordinary user.

The plan is the simulator's. A run is repeatable: the same plan and seed give the same figures, whatever the host does
meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Literal, get_args

from dumbbell import _core
from dumbbell.backends.base import Finished, Job
from dumbbell.exceptions import BackendError
from dumbbell.kernel.folders import UML_PREFIX, Folder, captures, clean
from dumbbell.kernel.guest import end, program, run_guest
from dumbbell.kernel.store import Kernel, find
from dumbbell.registry import unknown

__all__ = ["Switch", "Uml", "is_on", "packets_of", "where"]

WAIT_S = 0.2

Switch = Literal["off", "on"]


class Uml:
    """User-mode Linux with time travel.

    Parameters
    ----------
    sample_ms : float
        From one sample of a connection's state (cwnd, ssthresh, srtt ...) to the next.
    limit_s : float, optional
        A run is given up after so long on the host's clock. Default: by its size, generously.
    offloads : "off" or "on"
        Whether interfaces may segment and merge: hosts then send super-packets of up to 64 KiB.
    """

    name = "uml"
    said = "kernel: in virtual time (uml)"
    """What is said of a run made this way."""

    def __init__(self, sample_ms: float = 10.0, limit_s: float | None = None, offloads: Switch = "off") -> None:
        if not 0.1 <= sample_ms <= 10_000:
            raise BackendError(f"{sample_ms:g} ms between two samples given: must be from 0.1 to 10000")
        self.sample_ms = sample_ms
        self.limit_s = limit_s
        self.offloads = is_on("offloads", offloads)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse what the kernel can't honour, by name, before anything is made.

        Raises
        ------
        BackendError
            The place in the scenario, and why.
        """
        for job in {id(job.cell): job for job in jobs}.values():
            self.steps(job)

    def steps(self, job: Job) -> list[str]:
        """Give every step of a run as a command that would do the same; BackendError as `check` has it."""
        return self._layout(job)[0]

    def _layout(self, job: Job) -> tuple[list[str], list[str]]:
        """Lay a run out: its steps, and the options that its kernel boots with."""
        try:
            return _core.layout(json.dumps(job.plan(), allow_nan=False), self.offloads)
        except _core.RunError as e:
            raise BackendError(f"back end 'uml': {e}{where(job)}") from None

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Make all runs; see `Backend.run`."""
        self.check(jobs)
        program()
        kernel = find()
        clean()
        self._ended.clear()
        pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="dumbbell-uml")
        remaining = iter(jobs)
        running: set[Future[Finished]] = set()
        try:
            while True:
                while len(running) < parallel and (job := next(remaining, None)) is not None:
                    running.add(pool.submit(self._one, kernel, job))
                if not running:
                    return
                # With a limit: a library's signal handler may keep Ctrl-C from ending a wait without one.
                done, running = wait(running, timeout=WAIT_S, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            self._end_all()
            pool.shutdown(wait=True, cancel_futures=True)

    def _end_all(self) -> None:
        self._ended.set()
        with self._lock:
            for process in self._processes:
                process.kill()

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._processes.add(process)
            if self._ended.is_set():
                end(process)

    def _one(self, kernel: Kernel, job: Job) -> Finished:
        plan = job.plan()
        packets = packets_of(plan)
        memory = 256 + len(plan["flows"]) * 2 + (packets // 4000 if plan["trace"]["series"] else packets // 40_000)
        folder = Folder(UML_PREFIX)
        kept = captures(folder, plan)
        memory += packets // 1500 if kept else 0
        processes: list[subprocess.Popen[bytes]] = []

        def started(process: subprocess.Popen[bytes]) -> None:
            processes.append(process)
            self._started(process)

        try:
            outcome = run_guest(
                kernel,
                {"plan": plan, "sample_ns": round(self.sample_ms * 1e6), "offloads": self.offloads},
                memory_mb=memory,
                seed=job.seed,
                options=self._layout(job)[1],
                limit_s=self.limit_s or 120 + packets / 500,
                watch=started,
                folder=folder,
            )
        except BackendError as e:
            raise BackendError(f"back end 'uml', repetition {job.repetition}{where(job)}: {e}") from None
        finally:
            with self._lock:
                self._processes.difference_update(processes)
            if not kept:
                folder.remove()
        result = outcome.result
        facts = {"way": "uml", "host": result["facts"]["host"], "counters": result["counters"]}
        return Finished(job, result["flows"], result["queues"], result["transfers"], outcome.tables, kept, facts)


def is_on(option: str, value: Switch) -> bool:
    """Whether a switch is on; BackendError if it is neither that nor off."""
    if value not in get_args(Switch):
        raise BackendError(unknown(option, str(value), list(get_args(Switch))))
    return value == "on"


def packets_of(plan: dict[str, Any]) -> int:
    """Estimate how many packets a run has at most: for memory and time limits."""
    slowest = sorted(link["rate_bps"] for link in plan["links"])
    return int(sum(slowest[: len(slowest) // 2 or 1]) / 12_000 * plan["duration_ns"] * 1e-9)


def where(job: Job) -> str:
    """Name the cell of a run, in brackets; nothing where there is but one."""
    cell = ", ".join(f"{k} = {v!r}" for k, v in job.cell.values.items())
    return f" (cell {cell})" if cell else ""
