"""The real Linux kernel in virtual time: each run is a virtual machine, an ordinary process of an ordinary user.

The plan is the simulator's. A run is repeatable: the same plan and seed give the same results, however busy the host
is.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby
from typing import Any, Literal

from dumbbell import _core
from dumbbell.backends.base import Finished, Job, RowLists
from dumbbell.backends.options import Switch, cell_of, is_on, number, one_of, sample
from dumbbell.common.run_folders import UML_PREFIX, Folder, captures, clean
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import end, program
from dumbbell.kernel.programs import commands
from dumbbell.kernel.uml.store import Kernel, find
from dumbbell.kernel.uml.tools import unsupported
from dumbbell.kernel.uml.virtual_machine import run_guest

__all__ = ["Uml", "bottleneck_packets", "packets_of"]

WAIT_S = 0.2
"""Longest wait for a result, s: Python handles Ctrl-C between two waits."""
PROGRAMS_MB = 128
PROGRAM_MB = 96
"""Memory of the guest for programs, MiB: the files that they share; their own, with 64 of directories in memory."""
BYTES_A_PACKET = 200.0
"""Least payload of a transfer for each of its packets, bytes: data and ACKs, with many retransmissions."""

SERIES_BYTES = 16 << 20
LEAST_PART = 256 << 10
"""Bytes of series in the guest's memory, and the least bytes of a series that become a part of it on disk."""


class Uml:
    """User-mode Linux with time travel.

    Parameters
    ----------
    sample_ms : float
        Time between two samples of a connection's state (cwnd, ssthresh, srtt ...).
    limit_s : float, optional
        A run is killed after so many seconds of the host's clock. Default: a generous bound from its size.
    offloads : "off" or "on"
        ``on``: interfaces may segment and merge, so that hosts send super-packets of up to 64 KiB.
        Only with ``emulation="tc"``.
    emulation : "tc" or "link"
        The emulation of the network between the hosts. ``tc``: links made of the kernel's queue disciplines.
        ``link``: links emulated by Dumbbell, as on the host's kernel: Wi-Fi, traces, outages and all others that the
        simulator has.
    allow_programs : "off" or "on"
        ``on``: a scenario may start programs of its own choice, within the virtual machine; see
        `programs.own_commands`.
    """

    name = "uml"
    description = "kernel: in virtual time (uml)"

    def __init__(
        self,
        sample_ms: float = 10.0,
        limit_s: float | None = None,
        offloads: Switch = "off",
        allow_programs: Switch = "off",
        emulation: Literal["tc", "link"] = "tc",
    ) -> None:
        self.sample_ms = sample(sample_ms)
        self.limit_s = None if limit_s is None else number("limit_s", limit_s, 0.1)
        self.offloads = is_on("offloads", offloads)
        self.emulation = one_of("emulation", emulation, ["tc", "link"])
        if self.offloads and emulation == "link":
            raise BackendError("offloads: 'on' given: in virtual time only emulation=tc has them")
        self.allow_programs = is_on("allow_programs", allow_programs)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse jobs that the kernel can't run; see `Backend.check`."""
        if (reason := unsupported()) is not None:
            raise BackendError(f"back end 'uml': {reason}")
        for job in {id(job.cell): job for job in jobs}.values():
            reason = commands.without_consent(job.cell.scenario, allowed=self.allow_programs)
            if reason is not None:
                raise BackendError(f"back end 'uml': {reason}{cell_of(job)}")
            self.steps(job)

    def require_installed(self) -> None:
        """Raise BackendError if the kernel or the program in it is missing."""
        program()
        find()

    def steps(self, job: Job) -> list[str]:
        """Return every step of a run as a command that would do the same; BackendError as `check` has it."""
        steps, flows, *_ = self._translated(job)
        return [*steps, *flows, f"during the run: TCP_INFO of every sender, every {self.sample_ms:g} ms"]

    def _translated(self, job: Job) -> tuple[list[str], list[str], list[str], int]:
        """Translate a plan: steps, flows in words, options of the kernel's command line, bytes of memory."""
        plan = job.plan()
        if (reason := commands.machine_refusal(plan)) is not None:
            raise BackendError(f"back end 'uml': {reason}{cell_of(job)}")
        try:
            text = json.dumps(commands.commands(plan, public=True), allow_nan=False)
            return _core.plan_uml_link(text) if self.emulation == "link" else _core.plan_uml(text, self.offloads)
        except _core.RunError as e:
            raise BackendError(f"back end 'uml': {e}{cell_of(job)}") from None

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs; see `Backend.run`."""
        self.check(jobs)
        program()
        kernel = find()
        clean()
        self._ended.clear()
        pool = ThreadPoolExecutor(max_workers=parallel, thread_name_prefix="dumbbell-uml")
        remaining = iter(jobs)
        running: set[Future[Finished]] = set()
        failed: list[str] = []
        try:
            while True:
                while len(running) < parallel and (job := next(remaining, None)) is not None:
                    running.add(pool.submit(self._one, kernel, job))
                if not running:
                    break
                # With a timeout: a library's signal handler may keep Ctrl-C from interrupting a wait without one.
                done, running = wait(running, timeout=WAIT_S, return_when=FIRST_COMPLETED)
                for future in done:
                    try:
                        yield future.result()
                    except commands.ProgramError as e:  # the other runs are made first
                        failed.append(str(e))
        finally:
            self._end_all()
            pool.shutdown(wait=True, cancel_futures=True)
        if failed:
            count = f"{len(failed)} of {len(jobs)} runs failed: " if len(jobs) > 1 else ""
            raise BackendError(count + "\n".join(sorted(failed)))

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
        *_, options, made = self._translated(job)
        kept_packets = min(packets, bottleneck_packets(plan))
        memory = 256 + (made >> 20) + kept_packets // (4000 if plan["trace"]["series"] else 40_000)
        folder = Folder(UML_PREFIX, kernel.path)
        kept = captures(folder, plan)
        memory += packets // 1500 if kept else 0
        started_programs = commands.in_plan(plan)
        memory += (PROGRAMS_MB + PROGRAM_MB * started_programs) if started_programs else 0
        processes: list[subprocess.Popen[bytes]] = []

        def started(process: subprocess.Popen[bytes]) -> None:
            processes.append(process)
            self._started(process)

        try:
            finished = run_guest(
                kernel,
                {
                    "plan": commands.commands(plan, public=True),
                    "sample_ns": round(self.sample_ms * 1e6),
                    "offloads": self.offloads,
                    "emulation": self.emulation,
                    "part_bytes": part_bytes(plan),
                },
                memory_mb=memory,
                seed=job.seed,
                options=options,
                limit_s=self.limit_s or 120 + packets / 500,
                on_start=started,
                folder=folder,
                host_files=started_programs > 0,
            )
        except BackendError as e:
            raise BackendError(f"back end 'uml', repetition {job.repetition}{cell_of(job)}: {e}") from None
        finally:
            with self._lock:
                self._processes.difference_update(processes)
            if not kept:
                folder.remove()
        result = finished.result
        emulation = "uml" if self.emulation == "tc" else "uml, emulation=link"
        facts = {"emulation": emulation, "host": result["facts"]["host"], "counters": result["counters"]}
        if started_programs:
            from dumbbell.kernel.programs import program_outputs  # imports numpy and polars

            read = program_outputs.read(plan, result, finished.tables)
            if read.failures:
                failures = "; ".join(read.failures)
                raise commands.ProgramError(f"back end 'uml', repetition {job.repetition}{cell_of(job)}: {failures}")
            facts |= {"programs": read.reports, "invalid": read.contradictions, "warnings": read.warnings}
        rows = RowLists(result["flows"], result["queues"], result["transfers"])
        return Finished(job, rows, finished.tables, kept, facts=facts)


def part_bytes(plan: dict[str, Any]) -> int:
    """Return the bytes of a series from which the guest writes them to disk while the run is in progress."""
    return max(SERIES_BYTES // (2 * len(plan["flows"]) + 3 * len(plan["links"])), LEAST_PART)


def bottleneck_packets(plan: dict[str, Any]) -> int:
    """Return an upper estimate of a run's packets from the bottlenecks of its flows: four times what they can carry.

    The factor is for ACKs, and for packets below 1500 bytes. Beside fast links this is much less than `packets_of`: a
    guest with memory for the packets of a link of 1 Gbit/s begins with a memory map of 1 GiB, which takes seconds.

    Links are added from the fastest one on, until both hosts of a flow are connected: no path between them is wider.
    """
    parent = list(range(len(plan["nodes"])))

    def group(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    open_ = [(flow["from"], flow["to"]) for flow in plan["flows"]]
    rates = 0
    for rate, links in groupby(sorted(plan["links"], key=_rate, reverse=True), key=_rate):
        joined = 0
        for link in links:
            one, other = group(link["from"]), group(link["to"])
            parent[one] = other
            joined += one != other
        apart = [(a, b) for a, b in open_ if group(a) != group(b)]
        rates += rate * min(len(open_) - len(apart), joined)
        open_ = apart
    return int(4 * rates / 12_000 * plan["duration_ns"] * 1e-9)


def _rate(link: dict[str, Any]) -> int:
    return int(link["rate_bps"])


def packets_of(plan: dict[str, Any]) -> int:
    """Return an upper estimate of the packets of a run, for its memory and its time limit."""
    slowest = sorted(link["rate_bps"] for link in plan["links"])
    by_rate = sum(slowest[: len(slowest) // 2 or 1]) / 12_000 * plan["duration_ns"] * 1e-9
    bounded = [flow["application"] for flow in plan["flows"] if flow["application"].get("repeat", 0)]
    if len(bounded) < len(plan["flows"]):
        return int(by_rate)
    return int(min(by_rate, sum(a["bytes"] * a["repeat"] for a in bounded) / BYTES_A_PACKET))
