#!/usr/bin/env python3
"""How fast the simulator is, with its goals: packets per CPU second beside ns-2, CPU time, memory, instructions.

    python benches/speed.py                  # a table
    python benches/speed.py --json           # the same as one JSON document
    python benches/speed.py --write-docs     # and renew docs/data/performance
    python benches/speed.py --pairs 3        # fewer runs beside ns-2 (7)
    python benches/speed.py --htsim PROGRAM  # beside htsim too

The simulator is timed as a process of its own (crates/sim/src/bin/run_plan.rs on a plan that Python has written), so
that its start is included and Python is not. ns-2 runs validation/ns2/bench.tcl. The simulators take turns, because a
machine's speed drifts. CPU time is that of user and system. The least of some runs counts, because other processes
only add to it. Where `ns` or `valgrind` is missing, that part is left out.

htsim isn't packaged: PROGRAM is one of your own that runs the two flows of bench.tcl for 60 s and prints a last line
such as {"delivered": 704213}, data packets.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import Scenario
from dumbbell.common.processors import cores
from dumbbell.report.tables import Table, write_tables
from measuring import DATA, ROOT, Ran, counted, cpu_model, measured_on, program, run_plan, timed
from workloads import FAST, FQ_CODEL, NEWRENO, QUIC, SACK, SHORT, TWO, Workload, delivered

SWEEP = ROOT / "validation" / "scenarios" / "exp1.toml"
REPEATS = 3
GOALS: dict[str, dict[str, float]] = {
    "instructions": {"two-ns2": 2000, "two-rfc": 1700, "two-linux": 2500},
    "CPU time": {"sack-16": 0.08, "cubic-64": 1.5, "newreno-1000": 0.2, "short-10000": 0.5, "cubic-2000": 4},
    "memory": {"newreno-1000": 10, "short-10000": 40},
}


@dataclass(frozen=True)
class Row:
    """A measured quantity.

    Attributes
    ----------
    workload, quantity : str
        The setup, and what was measured of it, with its unit.
    value : float
        In that unit.
    goal : float or None
        The goal, where one is set.
    at_least : bool
        True if larger values are better.
    """

    workload: str
    quantity: str
    value: float
    goal: float | None = None
    at_least: bool = False

    @property
    def reached(self) -> bool | None:
        """True if the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        goal = "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {self.goal:g}"
        reached = {True: "yes", False: "no", None: ""}[self.reached]
        return [self.workload, self.quantity, number(self.value), goal, reached]


@dataclass(frozen=True)
class Window:
    """The work between two synchronizations of a run in parts that are simulated in parallel.

    Attributes
    ----------
    lookahead_ms : float, ms
        Simulated time that one part may be ahead of another: the delay of the links between them.
    packets : float
        Packets delivered in that time.
    cpu_us : float, us
        CPU time of the whole run in that time.
    """

    workload: str
    lookahead_ms: float
    packets: float
    cpu_us: float

    def cells(self) -> list[str]:
        """Return the cells of the table."""
        return [self.workload, f"{self.lookahead_ms:g}", number(self.packets), number(self.cpu_us)]


WINDOW_TITLES = ["workload", "lookahead (ms)", "packets per window", "CPU time per window (µs)"]
TITLES = ["workload", "quantity", "measured", "goal", "reached"]


def number(value: float) -> str:
    """Write a value with three digits, or as many as are before the point."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


@dataclass
class Report:
    """All measurements."""

    machine: str
    version: str
    rows: list[Row] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, workload: str, quantity: str, value: float, goal: float | None = None) -> None:
        """Add a quantity whose goal is an upper bound."""
        self.rows.append(Row(workload, quantity, value, goal))

    def add_ratio(self, workload: str, quantity: str, value: float, goal: float | None = None) -> None:
        """Add a quantity whose goal is a lower bound."""
        self.rows.append(Row(workload, quantity, value, goal, at_least=True))


Step = Callable[[str], None]


def beside_others(report: Report, binary: Path, pairs: int, htsim: str | None, report_step: Step) -> None:
    """Compare packets per CPU second with other simulators, in turns."""
    plan, title = TWO["ns2"].plan(60), TWO["ns2"].title + ", 60 s"
    others: dict[str, tuple[list[str | Path], float]] = {}
    if ns := shutil.which("ns"):
        others["ns-2"] = ([ns, ROOT / "validation" / "ns2" / "bench.tcl"], 10)
    else:
        report.notes.append("ns-2 is not installed (command ns, Debian package ns2): nothing to compare with")
    if htsim is not None:
        others["htsim"] = ([htsim], 4)
    else:
        report.notes.append("htsim was not measured: --htsim PROGRAM gives a program that runs the two flows in it")
    ours: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in others}
    for turn in range(pairs):
        report_step(f"two flows, 60 s: {turn + 1} of {pairs}")
        run = run_plan(binary, plan)
        ours.append(delivered(run.output) / run.cpu_s)
        for name, (command, _) in others.items():
            peer = timed(command)
            theirs[name].append(json.loads(peer.output.splitlines()[-1])["delivered"] / peer.cpu_s)
    report.add_ratio(title, "million packets per CPU second", statistics.median(ours) / 1e6)
    for name, (_, goal) in others.items():
        ratios = sorted(a / b for a, b in zip(ours, theirs[name], strict=True))
        report.add_ratio(title, f"{name}: million packets per CPU second", statistics.median(theirs[name]) / 1e6)
        report.add_ratio(title, f"times {name}, median of {pairs} pairs", statistics.median(ratios), goal)
        report.add_ratio(title, f"times {name}, lowest", ratios[0])
        report.add_ratio(title, f"times {name}, highest", ratios[-1])


def _least(binary: Path, workload: Workload) -> Ran:
    plan = workload.plan(workload.timed_s)
    return min((run_plan(binary, plan) for _ in range(REPEATS)), key=lambda run: run.cpu_s)


def over_quic(report: Report, binary: Path, report_step: Step) -> None:
    """Count packets per CPU second of two flows over QUIC."""
    title = f"{QUIC.title}, {QUIC.timed_s:g} s"
    report_step(title)
    run = _least(binary, QUIC)
    report.add_ratio(title, "million packets per CPU second", delivered(run.output) / run.cpu_s / 1e6, 2)


def costs(report: Report, binary: Path, report_step: Step) -> None:
    """Time the larger workloads; their memory too."""
    for workload in (SACK, FQ_CODEL, NEWRENO[1000], SHORT, FAST):
        title = f"{workload.title}, {workload.timed_s:g} s"
        report_step(title)
        run = _least(binary, workload)
        report.add(title, "CPU time (s)", run.cpu_s, GOALS["CPU time"].get(workload.name))
        report.add(title, "CPU time per packet (µs)", run.cpu_s / delivered(run.output) * 1e6)
        if run.peak_kib is not None:
            report.add(title, "memory (MiB)", run.peak_kib / 1024, GOALS["memory"].get(workload.name))
        for lookahead_ms in (18.0, 1.0):  # the delays of the bottleneck and of the access links
            share = lookahead_ms / 1e3 / workload.timed_s
            packets, cpu_us = delivered(run.output) * share, run.cpu_s * share * 1e6
            report.windows.append(Window(workload.title, lookahead_ms, packets, cpu_us))


def memory_over_time(report: Report, binary: Path, report_step: Step) -> None:
    """Compare the memory of a short and of a long run."""
    report_step("memory over time")
    peaks = [run_plan(binary, TWO["ns2"].plan(seconds)).peak_kib for seconds in (10, 600)]
    if peaks[0] is not None and peaks[1] is not None:
        report.add(TWO["ns2"].title, "memory of 10 s (MiB)", peaks[0] / 1024)
        report.add(TWO["ns2"].title, "memory of 600 s (MiB)", peaks[1] / 1024)


def instructions(binary: Path, workload: Workload, lengths: tuple[float, float]) -> float:
    """Count instructions per delivered packet: a longer run less a shorter one."""
    runs = [counted([binary], workload.plan(seconds)) for seconds in lengths]
    (first, few), (second, many) = ((total, delivered(output)) for total, output in runs)
    return (second - first) / (many - few)


def counts(report: Report, binary: Path, report_step: Step) -> None:
    """Count instructions of a packet, by stack and by number of flows; CPU time by number of flows."""
    for workload in TWO.values():
        report_step(f"instructions: {workload.title}")
        goal = GOALS["instructions"][workload.name]
        report.add(workload.title, "instructions per packet", instructions(binary, workload, (10, 20)), goal)
    few: float | None = None
    for workload in NEWRENO.values():
        report_step(f"instructions: {workload.title}")
        found = instructions(binary, workload, (1.5, 2))
        report.add(workload.title, "instructions per packet", found)
        if few is not None:
            report.add(workload.title, "instructions, times those of 2 flows", found / few, 1.3)
        few = few or found


def scale(report: Report, binary: Path, report_step: Step) -> None:
    """Compare the CPU time of a packet by number of flows; the workloads take turns."""
    times: dict[int, list[float]] = {flows: [] for flows in NEWRENO}
    for _ in range(REPEATS):
        for flows, workload in NEWRENO.items():
            report_step(f"CPU time per packet: {workload.title}")
            short, long = (run_plan(binary, workload.plan(seconds)) for seconds in (2, 5))
            packets = delivered(long.output) - delivered(short.output)
            times[flows].append((long.cpu_s - short.cpu_s) / packets)
    for flows, workload in NEWRENO.items():
        each = [many / few for many, few in zip(times[flows], times[2], strict=True)]
        report.add(workload.title, "CPU time per packet (µs), from 2 s on", min(times[flows]) * 1e6)
        if flows != 2:
            report.add(workload.title, "CPU time per packet, times that of 2 flows", statistics.median(each), 2)


def through_python(report: Report, report_step: Step) -> None:
    """Time many short runs, traces, and a whole sweep, all through Python."""
    for over, title, goal in (("repetitions", "10,000 runs of 10 ms", 1.0), ("sweep", "10,000 cells of 10 ms", 1.0)):
        report_step(title)
        found = json.loads(timed([sys.executable, ROOT / "benches" / "cells.py", over]).output)
        report.add(f"{title} through Python", "CPU time (s)", found["cpu_s"], goal)
        report.add(f"{title} through Python", "CPU time with the frame of flows (s)", found["cpu_read_s"])
        if found["peak_kib"] is not None:
            report.add(f"{title} through Python", "memory (MiB)", found["peak_kib"] / 1024)
    report_step("traces")
    for what, ratio in traced().items():
        report.add(TWO["ns2"].title + ", 20 s", f"CPU time with {what}, times that without", ratio, 1.5)
    report_step("experiment 1")
    case = {"flows.tcp.stack.window": "20 packets", "flows.cbr.application.jitter": 0.5}
    document = Scenario.load(SWEEP).to_dict()
    document["sweep"] = {**document["sweep"], "cases": [case]}
    began = time.perf_counter()
    results = dumbbell.run(Scenario.from_dict(document))
    title = f"experiment 1 of the ns-2 report, {len(results)} runs of 10 s, {cores()} cores"
    report.add(title, "time (s)", time.perf_counter() - began)


def traced() -> dict[str, float]:
    """Compare the CPU time of a run with traces to that without: columns are made, in turns."""
    kinds: dict[str, dict[str, Any]] = {
        "nothing": {},
        "packet events": {"packets": True},
        "series": {"series": True},
        "packet events and series": {"packets": True, "series": True},
    }
    trace = json.loads(TWO["ns2"].plan(20))["trace"]
    plans = {what: TWO["ns2"].plan(20, trace={**trace, **change}) for what, change in kinds.items()}
    times: dict[str, list[float]] = {what: [] for what in kinds}
    for _ in range(7):
        for what, plan in plans.items():
            began = time.process_time()
            output = dumbbell._core.run(plan)
            for name in output.tables():
                output.table(name)
            times[what].append(time.process_time() - began)
    return {what: min(spent) / min(times["nothing"]) for what, spent in times.items() if what != "nothing"}


def measure(pairs: int, htsim: str | None, report_step: Step) -> Report:
    """Measure everything."""
    report = Report(f"{cores()} cores of an {cpu_model()}", dumbbell.__version__)
    binary = program("dumbbell-sim", "run_plan")
    beside_others(report, binary, pairs, htsim, report_step)
    if shutil.which("valgrind"):
        counts(report, binary, report_step)
    else:
        report.notes.append("valgrind is not installed: instructions were not counted")
    over_quic(report, binary, report_step)
    costs(report, binary, report_step)
    scale(report, binary, report_step)
    memory_over_time(report, binary, report_step)
    through_python(report, report_step)
    return report


def lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """Set a table in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def main() -> None:
    """Parse the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/performance")
    parser.add_argument("--pairs", type=int, default=7, help="runs of the two flows, each beside other simulators")
    parser.add_argument("--htsim", metavar="PROGRAM", help="a program that runs the two flows in htsim")
    options = parser.parse_args()
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs}: at least 1 is needed")
    if options.htsim is not None and shutil.which(options.htsim) is None:
        parser.error(f"--htsim {options.htsim}: no such program")
    load = os.getloadavg()[0]
    report = measure(options.pairs, options.htsim, lambda what: print(f"... {what}", file=sys.stderr))
    if options.json:
        rows = [{**asdict(row), "reached": row.reached} for row in report.rows]
        print(json.dumps({**asdict(report), "rows": rows}, indent=2))
    else:
        print(f"{report.machine}, version {report.version}")
        print("\n".join([*lines([TITLES, *(row.cells() for row in report.rows)]), *report.notes]))
    if options.write_docs:
        note = f"{measured_on('python benches/speed.py --write-docs')}; load of the system before it: {load:.1f}"
        speed = Table(TITLES, [row.cells() for row in report.rows], note)
        lookahead = Table(WINDOW_TITLES, [window.cells() for window in report.windows], note)
        write_tables(DATA, {"speed": speed, "lookahead": lookahead})


if __name__ == "__main__":
    main()
