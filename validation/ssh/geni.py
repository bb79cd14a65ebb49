#!/usr/bin/env python3
"""The study geni-fairness, quick, between machines that are reached over SSH, beside the simulator.

    python validation/ssh/geni.py --out results/ssh-geni                  # every run (70 minutes of real time)
    python validation/ssh/geni.py --out results/ssh-geni --only part1     # the runs of one experiment
    python validation/ssh/geni.py --out results/ssh-geni --write-docs     # and renew docs/data/ssh

The machines are those of the report: PC1 and PC2 send, PC3 receives, the delay node carries the links. Each is a
network namespace with an sshd of its own; the flows are this host's TCP. Runs that ``--out`` holds are not made
again. It needs root, openssh-server and the extra ``ssh``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from dumbbell import run
from dumbbell.kernel.ssh.backend import Ssh
from dumbbell.report.tables import write_tables
from dumbbell.results import Results
from dumbbell.studies import study
from geni_tables import tables
from namespaces import Machines

__all__ = ["ROLES", "STUDY", "main"]

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "ssh"
STUDY = "geni-fairness"
SIMULATED = ("bbr", "newer")
"""Experiments with variants and settings that no kernel has."""
ROLES = {"pc1": "client", "pc2": "client", "pc3": "server", "delay": "router"}
BUFFERS = {"tcp_rmem": "4096 33554432 268435456", "tcp_wmem": "4096 1048576 268435456"}
"""Settings of the hosts: those of the stack linux-tuned, which the scenarios name."""


def make_runs(out: Path, hosts: Path, only: list[str]) -> None:
    """Make the runs of these experiments that are missing; the program runs where the machines can be reached."""
    found = study(STUDY)
    backend = Ssh(str(hosts), calibration="mark", keep_agent="on")
    for experiment in (e for e in found.experiments if e.name in only):
        scenario = found.scenario(experiment, quick=True, kernel=True)

        def moved(done: int, every: int, name: str = experiment.name) -> None:
            print(f"{name}: {done} of {every}", flush=True)

        run(scenario, out=out / "runs" / f"{experiment.name}-ssh-quick", backend=backend, progress=moved)


def between_machines(out: Path, only: list[str]) -> None:
    """Make the machines, and the runs between them."""
    with tempfile.TemporaryDirectory(prefix="geni-") as folder, Machines.running(Path(folder), ROLES) as machines:
        for name in machines.ends:
            for setting, value in BUFFERS.items():
                machines.inside(name, "sysctl", "-qw", f"net.ipv4.{setting}={value}")
        hosts = machines.hosts_file()
        call = [sys.executable, __file__, "--out", str(out.resolve()), "--hosts", str(hosts), "--only", *only]
        inside = ["ip", "netns", "exec", machines.namespace("control"), *call]
        subprocess.run(inside, check=True)
        if left := machines.left():
            raise SystemExit(f"left on the machines: {', '.join(left)}")


def main() -> None:
    """Make the runs, then the tables."""
    found = study(STUDY)
    names = [e.name for e in found.experiments if e.name not in SIMULATED]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="directory of the runs")
    parser.add_argument("--only", choices=names, nargs="+", default=names, help="some of the experiments")
    parser.add_argument("--hosts", type=Path, help="a hosts file: no machines are made")
    parser.add_argument("--write-docs", action="store_true", help="write the data of the page")
    given = parser.parse_args()
    if given.hosts is not None:
        make_runs(given.out, given.hosts, given.only)
        return
    between_machines(given.out, given.only)
    if given.only != names:
        return
    scenarios = {e.name: found.scenario(e, quick=True, kernel=True) for e in found.experiments if e.name in names}
    simulated = {name: run(scenario, out=given.out / "runs" / f"{name}-sim") for name, scenario in scenarios.items()}
    measured = {name: Results.load(given.out / "runs" / f"{name}-ssh-quick") for name in scenarios}
    made = tables(simulated, measured)
    for name, table in made.items():
        print(f"\n{name}\n\n{table.markdown()}")
    if given.write_docs:
        write_tables(DATA, made)


if __name__ == "__main__":
    main()
