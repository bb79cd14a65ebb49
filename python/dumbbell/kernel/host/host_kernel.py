"""Runs on the host's own kernel, in real time: the parts that link emulation and tc share.

One run at a time, whatever ``parallel`` is: runs at the same time would delay each other's packets. Only a study,
which knows what its runs need (`weigh`), makes those of slow links at the same time. Each has its own hosts.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from dumbbell import _core
from dumbbell.backends.base import Finished, Job, RowLists
from dumbbell.backends.options import Switch, cell_of, is_on, one_of, sample
from dumbbell.common import activity
from dumbbell.common.run_folders import HOST_PREFIX, Folder, captures, clean, qlogs
from dumbbell.exceptions import BackendError
from dumbbell.kernel.guest import end, program
from dumbbell.kernel.host.features import available_variants, bpf_variants, remedy_for_variant, why_no_ipv6
from dumbbell.kernel.host.host_load import HostLoad
from dumbbell.kernel.host.live import ENTERED, LiveNetwork, read_network
from dumbbell.kernel.outcome import Outcome, outcome
from dumbbell.kernel.programs import commands

__all__ = ["Calibration", "Held", "HostKernel", "Requirements", "run_host"]

Calibration = Literal["refuse", "mark", "off"]
TRAIN_OVER_RATE = 1.5
"""Rate of a calibration's packet train over the bottleneck's rate, as `calibrate.rs` has it."""
LINK_DIFFERS = "the link differs from the scenario"
"""The beginning of the error of `calibrate.rs` that is worth another attempt."""
ATTEMPTS = 3
PAUSE_S = 1.0
"""Time between two attempts, s."""
GRACE_S = 60.0
"""Time that a run may take beyond its duration, s."""
POLL_S = 0.5
"""Time between two looks at the progress of a run, s."""
WAIT_S = 0.2
"""Longest wait for a result, s: Python handles Ctrl-C between two waits."""
PROGRESS = "progress"
"""File with the number of paths that are measured, and of all, as `calibrate.rs` writes it."""
BUSY = 0.8
"""Share of the processors' time above which a run gets a warning."""
LARGEST_WINDOW = 2**30 / 536
"""Segments: the largest receive window [RFC 7323 §2.3] in segments of the smallest default size [RFC 9293 §3.7.1]."""


class Requirements(NamedTuple):
    """A plan, translated for the host's kernel.

    Attributes
    ----------
    steps : list of str
        How the network is made.
    flows : list of str
        The flows in words.
    variants : list of str
        Congestion control that the kernel must have, by its names.
    """

    steps: list[str]
    flows: list[str]
    variants: list[str]


def impossible_windows(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each flow whose mean window has more segments than the largest receive window."""
    return [
        f"flow '{f['name']}' had a mean window of {f['cwnd_mean_packets']:.3g} segments, which is impossible: "
        "the kernel lost the values that its congestion control returned"
        for f in flows
        if (f["cwnd_mean_packets"] or 0.0) > LARGEST_WINDOW
    ]


class HostKernel(ABC):
    """A run on the host's own kernel.

    Parameters
    ----------
    sample_ms : float
        Time between two samples of a connection's state (cwnd, ssthresh, srtt ...).
    calibration : "refuse", "mark" or "off"
        Action on a run whose link differs from the scenario, in rate by more than 2 % or in round-trip time by
        more than 5 % (or 0.2 ms if that is more): it is refused, it is marked invalid, or nothing is measured. A
        refused run is tried again twice.
    allow_programs : "off" or "on"
        ``on``: a scenario may start programs of its own choice; see `programs.own_commands`.
    hold : "off" or "on"
        ``on``: the network of the run stays until `release`; see `held`. One run only.

    Attributes
    ----------
    emulation : str
        The emulation of the network, by its name in the option of `Kernel`.
    description : str
        The sentence that the command line prints for such a run.
    weigh : callable or None
        Given a job, returns its part of the room for simultaneous runs, above 0 to 1. Without it each run is alone.
    """

    name = "kernel"
    emulation: str
    description: str

    def __init__(
        self, sample_ms: float, calibration: Calibration, allow_programs: Switch = "off", hold: Switch = "off"
    ) -> None:
        one_of("calibration", calibration, get_args(Calibration))
        self.hold = is_on("hold", hold)
        self._held: Held | None = None
        self.sample_ms = sample(sample_ms)
        self.calibration: Calibration = calibration
        self.allow_programs = is_on("allow_programs", allow_programs)
        self.weigh: Callable[[Job], float] | None = None
        self._ended = threading.Event()

    @abstractmethod
    def _requirements(self, job: Job) -> Requirements:
        """Translate a plan; BackendError if the kernel can't run it."""

    @abstractmethod
    def _why_not(self) -> str | None:
        """Return why this host can't run it at all, with the remedy; None if it can."""

    @abstractmethod
    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Return two lists of sentences: why the run is invalid, and why it is doubtful."""

    def _order(self) -> dict[str, Any]:
        """Return the part of the order that depends on the emulation."""
        return {"emulation": self.emulation}

    def steps(self, job: Job) -> list[str]:
        """Return every step of a run, as a command that would do the same where one exists; see `check`."""
        return self._all_steps(self._requirements(job))

    def _all_steps(self, needed: Requirements) -> list[str]:
        """Return all steps: programs that are loaded, the network, and the measurements before and during the run."""
        loaded = [f"load {name} as BPF, under a name of the run's own" for name in self._in_bpf(needed.variants)]
        wrong = {"refuse": "the run isn't made", "mark": "the run is marked invalid"}
        calibration = [
            f"before the run: echoes of 100 bytes over every path, a train of full packets at {TRAIN_OVER_RATE:g} "
            f"times the rate over every bottleneck; if they are off, {wrong[self.calibration]}"
            for _ in range(self.calibration != "off")
        ]
        samples = f"during the run: TCP_INFO of every sender, every {self.sample_ms:g} ms"
        removed = "at the end of the run, however it ends: everything is removed"
        return [*loaded, *needed.steps, *calibration, *needed.flows, samples, removed]

    @property
    def held(self) -> LiveNetwork | None:
        """The network of the run that was made with ``hold``; None if there is none."""
        return None if self._held is None else read_network(self._held.folder.path)

    def release(self) -> None:
        """End the network that is held."""
        held, self._held = self._held, None
        if held is not None:
            held.end()

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse jobs that this host's kernel can't run; see `Backend.check`."""
        if self.hold and len(jobs) > 1:
            raise BackendError(
                f"back end 'kernel': hold: the scenario has {len(jobs)} runs, and one network can be held: choose a "
                "cell with --set, and give --repetitions 1"
            )
        if platform.system() != "Linux":
            raise BackendError(f"back end 'kernel': the host's kernel is {platform.system()}, not Linux")
        have = {**available_variants(), **dict.fromkeys(bpf_variants()[0], "BPF")}
        for job in {id(job.cell): job for job in jobs}.values():
            reason = commands.without_consent(job.cell.scenario, allowed=self.allow_programs)
            reason = reason or commands.refusal(job.plan()) or _without_ipv6(job)
            if reason is not None:
                raise BackendError(f"back end 'kernel': {reason}{cell_of(job)}")
            for name in self._requirements(job).variants:
                if name not in have:
                    raise BackendError(
                        f"back end 'kernel': {_place(job, name)}: this host's kernel doesn't have '{name}' (it has "
                        f"{', '.join(sorted(have))}): {remedy_for_variant(name)}{cell_of(job)}"
                    )
        reason = self._why_not()
        if reason is not None:
            raise BackendError(f"back end 'kernel': {reason}")

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs, one after the other, or as many as `weigh` allows; see `Backend.run`.

        An error waits until the other runs are made.
        """
        del parallel
        self.check(jobs)
        clean()
        failed = []
        made = self._alone(jobs) if self.weigh is None or self.hold else self._together(jobs, self.weigh)
        for job, result in made:
            if isinstance(result, Finished):
                yield result
            else:
                failed.append(f"repetition {job.repetition}{cell_of(job)}: {result}")
        if failed:
            count = f"{len(failed)} of {len(jobs)} runs failed: " if len(jobs) > 1 else ""
            raise BackendError(f"back end 'kernel', {count}" + "\n".join(failed))

    def _alone(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Finished | BackendError]]:
        """Make one run after the other."""
        for job in jobs:
            yield job, self._result(job)

    def _together(
        self, jobs: Sequence[Job], weigh: Callable[[Job], float]
    ) -> Iterator[tuple[Job, Finished | BackendError]]:
        """Make the runs in their order, each as soon as there is room for it."""
        weights = [weigh(job) for job in jobs]
        self._ended.clear()
        pool = ThreadPoolExecutor(max(len(jobs), 1), thread_name_prefix="dumbbell-kernel")
        running: dict[Future[Finished | BackendError], int] = {}
        begun = 0
        try:
            while begun < len(jobs) or running:
                load = sum(weights[n] for n in running.values())
                while begun < len(jobs) and (not running or load + weights[begun] <= 1 + 1e-9):
                    running[pool.submit(self._result, jobs[begun])] = begun
                    load += weights[begun]
                    begun += 1
                done, _ = wait(running, timeout=WAIT_S, return_when=FIRST_COMPLETED)
                for future in done:
                    yield jobs[running.pop(future)], future.result()
        finally:
            self._ended.set()
            pool.shutdown(wait=True, cancel_futures=True)
            self._ended.clear()

    def _result(self, job: Job) -> Finished | BackendError:
        """Make a run, or return why it failed."""
        try:
            return self._tried(job)
        except BackendError as e:
            return e

    def _tried(self, job: Job) -> Finished:
        """Make a run; one whose link differs from the scenario is tried again."""
        for _ in range(ATTEMPTS - 1):
            try:
                return self._one(job)
            except BackendError as e:
                if LINK_DIFFERS not in str(e):
                    raise
            time.sleep(PAUSE_S)
        load = HostLoad()
        try:
            return self._one(job)
        except BackendError as e:
            if LINK_DIFFERS not in str(e):
                raise
            raise BackendError(f"{e} (attempt {ATTEMPTS} of {ATTEMPTS}; {load.since()})") from None

    def _one(self, job: Job) -> Finished:
        plan = job.plan()
        order = {
            "plan": commands.commands(plan),
            "sample_ns": round(self.sample_ms * 1e6),
            "calibration": self.calibration,
            "bpf": self._in_bpf(self._requirements(job).variants),
            "hold": self.hold,
            **self._order(),
        }
        folder = Folder(HOST_PREFIX, program())
        kept = captures(folder, plan)
        try:
            from dumbbell.kernel.programs import program_outputs, quic_sender  # they import numpy and polars

            commands.prepare(plan, folder.path)
            made, process = run_host(folder.path, order, plan["duration_ns"] * 1e-9, self._ended)
            entered = (folder.path / ENTERED).exists()
            kept |= qlogs(folder, plan)
            senders = quic_sender.records(folder.path, plan)
            if process is not None:
                self.release()
                self._held = Held(folder, *process)
        finally:
            if not kept and self._held is None:
                folder.remove()
        result = made.result
        read = program_outputs.read(plan, result, made.tables, senders)
        if read.failures:
            raise commands.ProgramError("; ".join(read.failures))
        facts = {"emulation": self.emulation, **result["facts"], "counters": result["counters"]}
        facts["invalid"], facts["warnings"] = self._verdict(facts, plan)
        facts["invalid"] += [text for path in facts["calibration"] or [] for text in path["off"]]
        facts["invalid"] += impossible_windows(result["flows"])
        facts["invalid"] += read.contradictions
        if entered:
            facts["invalid"].append(
                "commands were started in its hosts during the run: their packets are counted with the flows'"
            )
        if max((facts["cpu"] or {}).get("share", 0.0), facts["link"].get("cpu_share", 0.0)) > BUSY:
            facts["warnings"].append(f"the processors were busy for more than {100 * BUSY:.0f} % of the run")
        if read.reports:
            facts["programs"] = read.reports
        facts["warnings"] += read.warnings
        rows = RowLists(result["flows"], result["queues"], result["transfers"])
        return Finished(job, rows, made.tables, kept, facts=facts)

    @staticmethod
    def _in_bpf(variants: list[str]) -> list[str]:
        """Return those of the variants that the kernel lacks and that are loaded for the run."""
        have = available_variants()
        return [name for name in variants if name not in have and name in _core.bpf_variants()]


def _without_ipv6(job: Job) -> str | None:
    """Return the first flow over IPv6, with the reason why this host has none."""
    for flow in job.plan()["flows"]:
        if flow.get("ip", 4) == 6 and (reason := why_no_ipv6()) is not None:
            return f"flows.{flow['name']}.ip: 6 given: {reason}"
    return None


@dataclass
class Held:
    """A network that stays after its run.

    Attributes
    ----------
    folder : Folder
        The run's folder.
    process : Popen
        The process that has the network.
    control : socket
        The network ends when this is closed.
    """

    folder: Folder
    process: subprocess.Popen[bytes]
    control: socket.socket

    def end(self) -> None:
        """End the network, and remove the folder."""
        self.control.close()
        end(self.process)
        self.folder.remove()


def run_host(
    place: Path, order: dict[str, Any], duration_s: float, ended: threading.Event | None = None
) -> tuple[Outcome, tuple[subprocess.Popen[bytes], socket.socket] | None]:
    """Execute an order on the host's kernel.

    Parameters
    ----------
    place : Path
        An empty folder.
    order : dict
        The order that ``dumbbell-guest host`` reads.
    duration_s : float
        Duration of the run, s; it is killed if it takes 60 s longer, counted from the last path that it has measured.
    ended : Event, optional
        The run is killed if it is set.

    Returns
    -------
    Outcome, (Popen, socket) or None
        The results. If the order has ``hold``: the process, which keeps the network, and the socket that ends it.

    Raises
    ------
    BackendError
        The order is refused, or the run fails.
    """
    text = json.dumps({**order, "parent_pid": os.getpid()}, allow_nan=False)
    try:
        (place / "plan.json").write_text(text, encoding="utf-8")
    except OSError as e:
        raise BackendError(f"{place}: {e.strerror or e}: a run needs space there (or in $TMPDIR)") from None
    ours, theirs = socket.socketpair() if order.get("hold") else (None, None)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(program()), "host"],
            cwd=place,
            stdin=subprocess.DEVNULL if theirs is None else theirs.fileno(),
            stdout=output,
            stderr=output,
        )
        done = False
        try:
            if theirs is not None:
                theirs.close()
            done = _wait(process, place / PROGRESS, duration_s, ours, ended)
        finally:
            if not done:
                end(process)
                if ours is not None:
                    ours.close()
        output.seek(0)
        made = outcome(place, output.read().decode(errors="replace"), "the run")
        return made, (process, ours) if done and ours is not None else None


def _wait(
    process: subprocess.Popen[bytes],
    progress: Path,
    duration_s: float,
    control: socket.socket | None = None,
    ended: threading.Event | None = None,
) -> bool:
    """Wait for the end of a run, and report how many of its paths are measured.

    Returns True if the process lives on and keeps the network: it has sent a message over ``control``.
    """
    limit_s = duration_s + GRACE_S
    known, until = "", time.monotonic() + limit_s
    while True:
        try:
            if control is None:
                process.wait(timeout=POLL_S)
                return False
            control.settimeout(POLL_S)
            return bool(control.recv(1))  # nothing is received if it has ended
        except (subprocess.TimeoutExpired, TimeoutError):
            pass
        if ended is not None and ended.is_set():
            raise BackendError("the other runs were ended")
        try:
            text = progress.read_text(encoding="ascii")
        except (OSError, ValueError):
            text = known
        if text != known:
            known, until = text, time.monotonic() + limit_s
            done, _, paths = text.partition(" ")
            activity.report("" if done == paths else f"calibrating, {done} of {paths} paths")
        elif time.monotonic() > until:
            raise BackendError(f"the run of {duration_s:.0f} s wasn't done after {limit_s:.0f} s")


def _place(job: Job, kernel_name: str) -> str:
    """Return the place of the first flow that has this congestion control (the kernel's name)."""
    names = _core.kernel_variants()
    for flow in job.plan()["flows"]:
        if names.get(flow["transport"].get("variant", {}).get("name", "")) == kernel_name:
            return f"flows.{flow['name']}.variant"
    return "flows"
