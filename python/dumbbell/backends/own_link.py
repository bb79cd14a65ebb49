"""The host's own kernel: real TCP stacks in namespaces, with the simulator's links between them on the real clock.

One run at a time, whatever ``parallel`` says: they would make each other late.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from dumbbell import _core
from dumbbell.backends import programs
from dumbbell.backends.base import Finished, Job
from dumbbell.backends.options import number, one_of, sample, where
from dumbbell.exceptions import BackendError
from dumbbell.kernel.folders import HOST_PREFIX, Folder, captures, clean
from dumbbell.kernel.guest import Outcome, end, outcome, program
from dumbbell.kernel.host import available_variants, bpf_variants, remedy_for_variant, why_not

__all__ = ["Calibration", "OwnLink"]

Calibration = Literal["refuse", "mark", "off"]
PUSH = 1.5
"""A train's rate over its bottleneck's, as the calibration has it."""
BUSY = 0.8
"""Share of the processors' time above which a run is doubtful."""
LARGEST_WINDOW = 2**30 / 536
"""Segments: the largest receive window [RFC 7323 §2.3], of the smallest default segment."""


def absurd(flows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which flows had windows that can't be: more segments than the largest receive window holds."""
    return [
        f"flow '{f['name']}' had a mean window of {f['cwnd_mean_packets']:.3g} segments, which can't be: "
        "what its congestion control said was lost in the kernel"
        for f in flows
        if (f["cwnd_mean_packets"] or 0.0) > LARGEST_WINDOW
    ]


class OwnLink:
    """The host's kernel over our own link.

    Parameters
    ----------
    sample_ms : float
        From one sample of a connection's state (cwnd, ssthresh, srtt ...) to the next.
    calibration : "refuse", "mark" or "off"
        What becomes of a run whose link isn't what it should be: the rate off by more than 2 %, the round trip by
        more than 5 % (or 0.2 ms, if that is more).
    max_late_ms : float, optional
        A run is marked invalid if more than one packet in a hundred is handed over later than this. Default: the time
        of a packet of 1500 bytes on the slowest link.
    """

    name = "kernel"
    way = "own link"
    said = "kernel: this host's own, over Dumbbell's link"
    """What is said of a run made this way."""

    def __init__(
        self, sample_ms: float = 10.0, calibration: Calibration = "refuse", max_late_ms: float | None = None
    ) -> None:
        one_of("calibration", calibration, get_args(Calibration))
        self.sample_ms = sample(sample_ms)
        self.calibration: Calibration = calibration
        self.max_late_ms = None if max_late_ms is None else number("max_late_ms", max_late_ms, 1e-6)

    def _layout(self, job: Job) -> tuple[list[str], list[str], list[str]]:
        """Lay a run out: its steps, its flows, and the congestion control that the kernel must have."""
        try:
            return _core.tun_topology(json.dumps(programs.commands(job.plan()), allow_nan=False))
        except _core.RunError as e:
            raise BackendError(f"back end 'kernel': {e}{where(job)}") from None

    def _how(self) -> dict[str, Any]:
        """Give what the order says of the way."""
        return {"way": "link"}

    def _why_not(self) -> str | None:
        return why_not()

    def steps(self, job: Job) -> list[str]:
        """Give every step of a run, as a command that would do the same where there is one; see `check`."""
        return self._around(*self._layout(job))

    def _around(self, steps: list[str], flows: list[str], variants: list[str]) -> list[str]:
        """Give all steps of a run: what is loaded for it, and what is measured before and during it."""
        loaded = [f"load {name} as BPF, under a name of the run's own" for name in self._in_bpf(variants)]
        wrong = {"refuse": "the run isn't made", "mark": "the run is marked invalid"}
        calibration = [
            f"before the run: echoes of 100 bytes over every path, a train of full packets at {PUSH:g} times the "
            f"rate over every bottleneck; if they are off, {wrong[self.calibration]}"
            for _ in range(self.calibration != "off")
        ]
        samples = f"during the run: TCP_INFO of every sender, every {self.sample_ms:g} ms"
        return [*loaded, *steps, *calibration, *flows, samples, "at the end, however it comes: all of this goes"]

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse what can't be honored, by name, before anything is made.

        Raises
        ------
        BackendError
            The place in the scenario, and why.
        """
        have = {**available_variants(), **dict.fromkeys(bpf_variants()[0], "BPF")}
        for job in {id(job.cell): job for job in jobs}.values():
            reason = programs.refusal(job.plan())
            if reason is not None:
                raise BackendError(f"back end 'kernel': {reason}{where(job)}")
            for name in self._layout(job)[2]:
                if name not in have:
                    raise BackendError(
                        f"back end 'kernel': {_place(job, name)}: this host's kernel doesn't have '{name}' (it has "
                        f"{', '.join(sorted(have))}): {remedy_for_variant(name)}{where(job)}"
                    )
        reason = self._why_not()
        if reason is not None:
            raise BackendError(f"back end 'kernel': {reason}")

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Make all runs, one after the other; see `Backend.run`."""
        del parallel
        self.check(jobs)
        clean()
        for job in jobs:
            yield self._one(job)

    def _one(self, job: Job) -> Finished:
        plan = job.plan()
        order = {
            "plan": programs.commands(plan),
            "sample_ns": round(self.sample_ms * 1e6),
            "calibration": self.calibration,
            "bpf": self._in_bpf(self._layout(job)[2]),
            **self._how(),
        }
        folder = Folder(HOST_PREFIX)
        kept = captures(folder, plan)
        try:
            made = run_host(folder.path, order, plan["duration_ns"] * 1e-9)
        except BackendError as e:
            raise BackendError(f"back end 'kernel', repetition {job.repetition}{where(job)}: {e}") from None
        finally:
            if not kept:
                folder.remove()
        result = made.result
        said, wrong = programs.read(plan, result, made.tables)
        facts = {"way": self.way, **result["facts"], "counters": result["counters"]}
        facts["invalid"], facts["warnings"] = self._verdict(facts, plan)
        facts["invalid"] += [text for path in facts["calibration"] or [] for text in path["off"]]
        facts["invalid"] += absurd(result["flows"])
        if max((facts["cpu"] or {}).get("share", 0.0), facts["link"].get("cpu_share", 0.0)) > BUSY:
            facts["warnings"].append(f"the processors were busy for more than {BUSY:.0%} of the run")
        if said:
            facts["programs"] = said
        facts["warnings"] += wrong
        return Finished(job, result["flows"], result["queues"], result["transfers"], made.tables, kept, facts)

    @staticmethod
    def _in_bpf(variants: list[str]) -> list[str]:
        """Name those of the variants that the kernel lacks and that are loaded for the run."""
        have = available_variants()
        return [name for name in variants if name not in have and name in _core.bpf_variants()]

    def _verdict(self, facts: dict[str, Any], plan: dict[str, Any]) -> tuple[list[str], list[str]]:
        """Say what makes a run invalid, and what is doubtful, in sentences."""
        link = facts["link"]
        invalid, warnings = [], []
        allowed = self.max_late_ms or packet_ms(plan)
        if link["late_p99_ms"] > allowed:
            why = (
                ""
                if link["real_time"]
                else "; without real-time priority (root) that is to be expected on a busy host"
            )
            invalid.append(
                f"one packet in a hundred was handed over more than {link['late_p99_ms']:.3g} ms late; "
                f"{allowed:.3g} ms are allowed (max_late_ms){why}"
            )
        if link["missed"]:
            invalid.append(f"{link['missed']} packets of the hosts found no room on their way to the link")
        if link["refused_by_hosts"]:
            warnings.append(f"the hosts took {link['refused_by_hosts']} packets not in")
        return invalid, warnings


def packet_ms(plan: dict[str, Any]) -> float:
    """Time of a packet of 1500 bytes on the slowest link, ms."""
    slowest = min((link["rate_bps"] for link in plan["links"]), default=1)
    return 1500 * 8 / slowest * 1e3


def run_host(place: Path, order: dict[str, Any], duration_s: float) -> Outcome:
    """Run an order on the host's kernel; ``place`` is an empty folder.

    Raises
    ------
    BackendError
        The order is refused, or the run fails.
    """
    (place / "plan.json").write_text(json.dumps({**order, "owner": os.getpid()}, allow_nan=False), encoding="utf-8")
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [str(program()), "live"], cwd=place, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        try:
            process.wait(timeout=duration_s + 60)
        except subprocess.TimeoutExpired:
            raise BackendError(f"the run of {duration_s:.0f} s wasn't done after {duration_s + 60:.0f} s") from None
        finally:
            end(process)
        said.seek(0)
        return outcome(place, said.read().decode(errors="replace"), "the run")


def _place(job: Job, kernel_name: str) -> str:
    """Name the first flow that asks for a congestion control, by the kernel's name of it."""
    names = _core.kernel_variants()
    for flow in job.plan()["flows"]:
        if names.get(flow["transport"].get("variant", {}).get("name", "")) == kernel_name:
            return f"flows.{flow['name']}.variant"
    return "flows"
