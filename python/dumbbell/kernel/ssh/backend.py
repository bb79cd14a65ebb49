"""Real machines over SSH: flows between clients and servers; links on a router, or the path as it is."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

from dumbbell import _core
from dumbbell.backends.base import Finished, Job, RowLists
from dumbbell.backends.options import Switch, cell_of, is_on, number, one_of, sample
from dumbbell.common.extras import require
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.host_kernel import Calibration
from dumbbell.kernel.ssh.calibration import differences, measuring
from dumbbell.kernel.ssh.connection import Lost
from dumbbell.kernel.ssh.hosts import read
from dumbbell.kernel.ssh.merge import merge
from dumbbell.kernel.ssh.orders import Pair, order, pairs, to_load
from dumbbell.kernel.ssh.session import Made, make
from dumbbell.kernel.ssh.team import Team, settings_that_differ

__all__ = ["Ssh"]

ATTEMPTS = 3
"""Attempts to make a run whose machines are lost, or whose path differs from the scenario."""
PAUSE_S = 1.0
"""Time between two attempts, s."""
GIVE_UP = 3
"""Runs in a row that fail for want of a machine, after which the others aren't tried."""
START_MS = 5.0
"""Largest difference between the starts of two machines, ms: beyond, a run is marked invalid."""
DIFFERS = "the path differs from the scenario"


class Ssh:
    """Real machines, reached over SSH.

    Parameters
    ----------
    hosts : str
        The hosts file: machines with their roles.
    sample_ms : float
        Time between two samples of a connection's state (cwnd, ssthresh, srtt ...).
    calibration : "refuse", "mark" or "off"
        With a router: action on a run whose path differs from the scenario, in rate by more than 2 % or in RTT
        by more than 5 % (or 0.5 ms if that is more): it is refused after three attempts, it is marked invalid, or
        nothing is measured. Without a router the path is what it is: differences are warnings.
    keep_agent : "off" or "on"
        ``on``: the agent's executable stays on the machines, for repeated work.
    timeout_s : float
        Longest wait for a connection and for a sign of life of a machine, s.
    """

    name = "ssh"

    def __init__(
        self,
        hosts: str | Path = "",
        sample_ms: float = 10.0,
        calibration: Calibration = "refuse",
        keep_agent: Switch = "off",
        timeout_s: float = 10.0,
    ) -> None:
        if not str(hosts):
            raise BackendError("back end 'ssh': no hosts given: --hosts FILE names the machines and their roles")
        one_of("calibration", calibration, get_args(Calibration))
        require("asyncssh")
        self.hosts = read(hosts)
        self.sample_ms = sample(sample_ms)
        self.calibration: Calibration = calibration
        self.timeout_s = number("timeout_s", timeout_s, 0.5, 600)
        self._team = Team(self.hosts, self.timeout_s, keep=is_on("keep_agent", keep_agent))
        self._measured: dict[str, tuple[list[dict[str, Any]], list[str]]] = {}

    def check(self, jobs: Sequence[Job]) -> None:
        """Refuse jobs that no kernel can run; see `Backend.check`. The machines are asked when the runs begin."""
        for job in {id(job.cell): job for job in jobs}.values():
            plan = job.plan()
            for flow in plan["flows"]:
                if flow.get("ip", 4) != 4:
                    raise BackendError(
                        f"back end 'ssh': flows.{flow['name']}.ip: {flow['ip']} given: the machines are reached over "
                        f"IPv4 only: back ends 'sim' and 'kernel' (-o emulation=link or tc) have IPv6{cell_of(job)}"
                    )
                if flow["application"]["kind"] == "program":
                    kind = flow["application"]["name"]
                    raise BackendError(
                        f"back end 'ssh': flows.{flow['name']}.application: '{kind}' is a program: the agents start "
                        f"none: use bulk, transfer, page, cbr, onoff or ping{cell_of(job)}"
                    )
                if flow["application"]["kind"] == "workload":
                    raise BackendError(
                        f"back end 'ssh': flows.{flow['name']}.application: 'workload' needs many connections at a "
                        f"time, and an agent serves one: use back end 'sim', 'uml' or 'kernel'{cell_of(job)}"
                    )
                if flow["application"]["kind"] == "voice":
                    raise BackendError(
                        f"back end 'ssh': flows.{flow['name']}.application: 'voice' needs the path of each packet, "
                        f"which the agents don't record: use back end 'sim', 'uml' or 'kernel'{cell_of(job)}"
                    )
            if plan.get("capture", {}).get("points") and not self.hosts.of("router"):
                raise BackendError(
                    f"back end 'ssh': capture: packets are observed on the router, and {self.hosts.file} has "
                    f"none{cell_of(job)}"
                )
            try:
                _core.plan_link(json.dumps(plan, allow_nan=False))
            except _core.RunError as e:
                raise BackendError(f"back end 'ssh': {e}{cell_of(job)}") from None

    def run(self, jobs: Sequence[Job], parallel: int) -> Iterator[Finished]:
        """Run all jobs, one after the other; see `Backend.run`. An error waits until the other runs are made."""
        del parallel
        self.check(jobs)
        failed: list[str] = []
        lost_in_a_row = 0
        with asyncio.Runner() as runner:
            try:
                self._begin(runner)
                for job in jobs:
                    try:
                        finished = self._tried(runner, job)
                    except BackendError as e:
                        failed.append(f"repetition {job.repetition}{cell_of(job)}: {e}")
                        lost_in_a_row = lost_in_a_row + 1 if isinstance(e, Lost) else 0
                        if lost_in_a_row == GIVE_UP:
                            failed.append(f"{GIVE_UP} runs in a row were lost: the others aren't tried")
                            break
                        continue
                    lost_in_a_row = 0
                    yield finished
                runner.run(self._team.close())
            finally:
                self._team.abort()
        if failed:
            count = f"{len(failed)} of {len(jobs)} runs failed: " if len(jobs) > 1 else ""
            raise BackendError(f"back end 'ssh', {count}" + "\n".join(failed))

    def _begin(self, runner: asyncio.Runner) -> None:
        """Start all agents; a machine that is missing now is an error at once."""
        try:
            runner.run(self._team.ready())
        except BackendError as e:
            raise BackendError(f"back end 'ssh': {e}") from None

    def _tried(self, runner: asyncio.Runner, job: Job) -> Finished:
        """Make a run; after the loss of a machine all connections are made again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return runner.run(self._one(job))
            except BackendError as e:
                again = isinstance(e, Lost) or DIFFERS in str(e)
                self._team.abort()
                self._measured.clear()
                if not again:
                    raise
                if attempt == ATTEMPTS:
                    raise type(e)(f"{e} (attempt {attempt} of {ATTEMPTS})") from None
            time.sleep(PAUSE_S)
        raise AssertionError

    async def _one(self, job: Job) -> Finished:
        plan = job.plan()
        team = self._team
        await team.ready()
        chosen = pairs(team, len(plan["flows"]))
        paths, differ = await self._calibrated(plan)
        made = await self._made(plan, chosen)
        merged = merge(plan, made.ends, made.router)
        router = made.router
        invalid, warnings = self._verdict(made)
        if self.calibration == "mark" and router is not None:
            invalid += differ
        else:
            warnings += differ
        for agent in team.all():
            warnings += settings_that_differ(plan, agent)
        agents = team.all()
        facts = {
            "emulation": "ssh" if router is not None else "ssh, the path as it is",
            "host": {"kernel": ", ".join(sorted({agent.about["kernel"] for agent in agents}))},
            "hosts": {a.machine.name: {"role": a.machine.role, **a.about} for a in agents},
            "calibration": paths,
            "clocks": made.clocks(),
            "invalid": invalid,
            "warnings": warnings,
        }
        if router is not None:
            facts["link"] = router.document["link"]
        captures: dict[str, Callable[[Path], None]] = {}
        points = plan.get("capture", {}).get("points", [])
        for n, point in enumerate(points if router is not None else []):
            captures[point["name"]] = partial(_write, router.payloads[1 + n] if router else b"")
        queues = router.document["queues"] if router is not None else []
        rows = RowLists(merged.flows, queues, merged.transfers)
        return Finished(job, rows, merged.tables, captures, facts=facts)

    async def _calibrated(self, plan: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
        """Measure the path, once for each network: values, and sentences about differences."""
        if self.calibration == "off" or not plan["flows"]:
            return [], []
        measured, chosen = measuring(plan, pairs(self._team, len(plan["flows"])))
        key = json.dumps({k: measured[k] for k in ("links", "nodes", "flows")}, sort_keys=True)
        if key not in self._measured:
            made = await self._made(measured, chosen)
            rows = merge(measured, made.ends, None).flows  # as the hosts see it, whatever the router reports
            values, sentences = differences(measured, chosen, rows)
            router = self._team.of("router")
            if router and made.router is not None and not made.router.document["link"]["packets"]:
                raise BackendError(
                    f"no packet of the flows has passed router '{router[0].machine.name}': the routes between "
                    "clients and servers must go over it"
                )
            if sentences and router and self.calibration == "refuse":
                raise BackendError(f"{DIFFERS}: {'; '.join(sentences)}")
            if any(value["rtt_ms"] is None for value in values):
                raise BackendError("; ".join(sentences))
            self._measured[key] = values, sentences
        return self._measured[key]

    async def _made(self, plan: dict[str, Any], chosen: Sequence[Pair]) -> Made:
        """Make a run of a plan on the machines."""
        bpf = to_load(plan, chosen)
        team, nanoseconds = self._team, round(self.sample_ms * 1e6)
        orders = {
            agent.machine.name: order(plan, agent, chosen, team, nanoseconds, bpf.get(agent.machine.name, []))
            for agent in team.all()
        }
        return await make(team, orders, plan["duration_ns"] * 1e-9, self.timeout_s)

    def _verdict(self, made: Made) -> tuple[list[str], list[str]]:
        """Return two lists of sentences: why the run is invalid, and why it is doubtful."""
        invalid, warnings = [], []
        spread = made.start_spread_ms()
        if spread > START_MS:
            invalid.append(
                f"the machines may have started {spread:.3g} ms apart: {START_MS:g} ms are allowed (their lateness, "
                "and the bounds of their clocks' offsets)"
            )
        if made.router is not None:
            link = made.router.document["link"]
            if link["late_p99_ms"] > 1.0:
                warnings.append(f"one packet in a hundred left the emulated link {link['late_p99_ms']:.3g} ms late")
            if link["refused"]:
                warnings.append(f"the router's kernel did not accept {link['refused']} packets")
        return invalid, warnings


def _write(content: bytes, to: Path) -> None:
    to.write_bytes(content)
