#!/usr/bin/env python3
"""How fast the simulator is: packets per CPU second (beside ns-2), a whole sweep, instructions, memory.

    python benches/speed.py                  # a table
    python benches/speed.py --json           # the same as one JSON document
    python benches/speed.py --write-docs     # and renew docs/data/performance
    python benches/speed.py --pairs 3        # shorter

The simulator is timed as a process of its own (crates/sim/examples/run_plan.rs on a plan that Python has written),
so its start is included and Python is not. ns-2 runs validation/ns2/bench.tcl. Both by user CPU time, in turns,
because a machine's speed drifts. Where `ns` or `valgrind` is missing, that part is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import Path

import dumbbell
from dumbbell import Scenario
from dumbbell.report.tables import Table, write_tables
from dumbbell.results.runner import cores, jobs_of

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "docs" / "data" / "performance"
SCENARIO = Path(__file__).with_name("two-newreno.toml")
SWEEP = ROOT / "validation" / "scenarios" / "exp1.toml"
MSS = 1000
HOPS = 6
"""Links that a packet and its ACK cross."""


@dataclass(frozen=True)
class Timed:
    """One process that has run.

    Attributes
    ----------
    user_s : float, s
        CPU time in user mode.
    """

    output: str
    user_s: float


def timed(command: Sequence[str | Path], given: str = "") -> Timed:
    """Run a command to its end; RuntimeError if it fails."""
    with tempfile.TemporaryFile("w+") as source, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile() as err:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen([str(c) for c in command], stdin=source, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            err.seek(0)
            raise RuntimeError(f"{command[0]} failed: {err.read().decode(errors='replace')[-500:]}")
        out.seek(0)
        return Timed(out.read(), usage.ru_utime)


def peak_kib(binary: Path, given: str) -> int | None:
    """Largest resident set of a simulator that has made one run, KiB; None where the system doesn't report it.

    Read while the process waits for a further plan. (`ru_maxrss` would count this process too, as it was when the
    other one was made.)
    """
    with subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("no pipes to the simulator")
        process.stdin.write(given)
        process.stdin.flush()
        process.stdout.readline()
        status = Path(f"/proc/{process.pid}/status")
        found = re.search(r"^VmHWM:\s*(\d+) kB", status.read_text(), re.MULTILINE) if status.exists() else None
        process.stdin.close()
    return int(found[1]) if found else None


def example(package: str, name: str) -> Path:
    """Build an example of a crate, and find it."""
    command = ["cargo", "build", "--release", "--quiet", "--package", package, "--example", name]
    command.append("--message-format=json")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"cargo failed: {done.stderr[-500:]}")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    raise RuntimeError(f"cargo built no {name}")


def plan(duration: str) -> str:
    """Write the plan of the two flows."""
    scenario = Scenario.load(SCENARIO, {"duration": duration})
    return json.dumps(jobs_of(scenario)[0].plan()) + "\n"


def delivered(output: str) -> int:
    """Count the data packets that a run of ours has delivered."""
    return sum(int(flow["delivered_bytes"]) for flow in json.loads(output)["flows"]) // MSS


@dataclass
class Report:
    """All measurements; None where a measurement failed.

    Attributes
    ----------
    ours_per_s, ns2_per_s : list of float
        Delivered data packets per CPU second, one for each run; pair by pair.
    delivered, ns2_delivered : int
        Data packets delivered in 60 s of simulated time.
    sweep_s, sweep_runs : float (s on the wall), int
        Experiment 1 with jittered CBR, through the Python API.
    instructions : float or None
        Per delivered data packet.
    memory_kib : dict
        Peak resident set, KiB, by simulated seconds.
    """

    cpu: str
    cores: int
    version: str
    day: str
    ours_per_s: list[float] = field(default_factory=list)
    ns2_per_s: list[float] = field(default_factory=list)
    delivered: int = 0
    ns2_delivered: int | None = None
    sweep_s: float = 0.0
    sweep_runs: int = 0
    instructions: float | None = None
    memory_kib: dict[int, int] = field(default_factory=dict)

    @property
    def ratios(self) -> list[float]:
        """Ours over ns-2's, pair by pair."""
        return [a / b for a, b in zip(self.ours_per_s, self.ns2_per_s, strict=False)]


def cpu_model() -> str:
    """Name the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else "unknown processor"


def measure(pairs: int, report_step: Callable[[str], None]) -> Report:
    """Measure everything."""
    report = Report(cpu_model(), cores(), dumbbell.__version__, date.today().isoformat())
    binary = example("dumbbell-sim", "run_plan")
    given = plan("60 s")
    ns = shutil.which("ns")
    for number in range(pairs):
        report_step(f"two flows, 60 s: {number + 1} of {pairs}")
        run = timed([binary], given)
        report.delivered = delivered(run.output)
        report.ours_per_s.append(report.delivered / run.user_s)
        if ns is not None:
            peer = timed([ns, ROOT / "validation" / "ns2" / "bench.tcl"])
            report.ns2_delivered = int(json.loads(peer.output.splitlines()[-1])["delivered"])
            report.ns2_per_s.append(report.ns2_delivered / peer.user_s)
    report_step("experiment 1")
    case = {"flows.tcp.stack.window": "20 packets", "flows.cbr.application.jitter": 0.5}
    document = Scenario.load(SWEEP).to_dict()
    document["sweep"] = {**document["sweep"], "cases": [case]}
    began = time.perf_counter()
    results = dumbbell.run(Scenario.from_dict(document))
    report.sweep_s, report.sweep_runs = time.perf_counter() - began, len(results)
    report_step("memory")
    for seconds in (10, 600):
        peak = peak_kib(binary, plan(f"{seconds} s"))
        if peak is not None:
            report.memory_kib[seconds] = peak
    if shutil.which("valgrind"):
        report_step("instructions")
        report.instructions = instructions(binary)
    return report


def instructions(binary: Path) -> float:
    """Count instructions per delivered packet: 20 s of simulated time less 10 s, so that start-up doesn't count."""
    totals = []
    with tempfile.TemporaryDirectory() as place:
        for number, duration in enumerate(("10 s", "20 s")):
            out = Path(place) / str(number)
            command: list[str | Path] = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", binary]
            run = timed(command, plan(duration))
            found = re.search(r"^(?:summary|totals):\s*(\d+)", out.read_text(), re.MULTILINE)
            if found is None:
                raise RuntimeError("callgrind wrote no total")
            totals.append((int(found[1]), delivered(run.output)))
    (first, few), (second, many) = totals
    return (second - first) / (many - few)


# ---------------------------------------------------------------- output


def _millions(values: Sequence[float]) -> str:
    return f"{statistics.median(values) / 1e6:.2f} million"


def lines(report: Report) -> list[tuple[str, str]]:
    """Return the measured quantities with their values."""
    found = [
        ("data packets delivered per CPU second, Dumbbell, median", _millions(report.ours_per_s)),
        ("links crossed by data and ACKs per CPU second", _millions([HOPS * v for v in report.ours_per_s])),
    ]
    if report.ratios:
        low, high = min(report.ratios), max(report.ratios)
        found += [
            ("the same, ns-2 2.35 (`ns validation/ns2/bench.tcl`), median", _millions(report.ns2_per_s)),
            (
                f"ratio, {len(report.ratios)} pairs run in turn: median (lowest to highest)",
                f"{statistics.median(report.ratios):.1f} ({low:.1f} to {high:.1f})",
            ),
            ("data packets delivered in 60 s, Dumbbell / ns-2", f"{report.delivered} / {report.ns2_delivered}"),
        ]
    if report.instructions is not None:
        found.append(("instructions per data packet delivered (callgrind)", f"{report.instructions:.0f}"))
    found.append(
        (
            f"experiment 1, {report.sweep_runs} runs of 10 s, Python included, {report.cores} cores",
            f"{report.sweep_s:.2f} s",
        )
    )
    if report.memory_kib:
        memory = ", ".join(f"{kib / 1024:.2f} MiB for {seconds} s" for seconds, kib in report.memory_kib.items())
        first, *_, last = report.memory_kib.values()
        found.append(("peak memory of the two flows, by simulated time", f"{memory}: {last - first:+d} KiB"))
    return found


def table(report: Report) -> Table:
    """Return the table of docs/data/performance."""
    head = (
        f"Measured on {report.day} with version {report.version}, {report.cores} cores of an {report.cpu}, "
        "by `python benches/speed.py --write-docs`"
    )
    return Table(["quantity", "value"], lines(report), head)


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    parser.add_argument("--pairs", type=int, default=7, help="runs of the two flows, each beside one of ns-2")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs}: at least 1 is needed")
    report = measure(options.pairs, lambda what: print(f"... {what}", file=sys.stderr))
    if options.json:
        print(json.dumps({**asdict(report), "ratios": report.ratios}, indent=2))
    else:
        width = max(len(what) for what, _ in lines(report))
        print(f"{report.cpu}, {report.cores} cores, {report.day}, version {report.version}")
        for what, value in lines(report):
            print(f"{what:<{width}}  {value}")
        if not report.ratios:
            print("ns-2 is not installed (command ns, Debian package ns2): nothing to compare with")
    if options.write_docs:
        write_tables(DATA, {"speed": table(report)})


if __name__ == "__main__":
    main()
