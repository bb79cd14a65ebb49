#!/usr/bin/env python3
"""Compare congestion control in BPF, on the host's kernel, with the modules of the kernel in virtual time.

    python validation/linux/in_bpf.py                 # tables on the terminal, from in_bpf.csv
    python validation/linux/in_bpf.py --measure       # first measure the missing rows (all of them: 50 minutes)
    python validation/linux/in_bpf.py --write-docs    # and renew docs/data/bpf

Measuring needs root, a kernel that can load BPF, and the kernel that `dumbbell kernel build` makes.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from dumbbell import Scenario, _core, run
from dumbbell.backends import Backend
from dumbbell.exceptions import BackendError
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.uml.backend import Uml
from dumbbell.report.tables import Table, write_tables

HERE = Path(__file__).resolve().parent
STORE = HERE / "in_bpf.csv"
DATA = HERE.parents[1] / "docs" / "data" / "bpf"
OWN = "reno"
"""Variants that both kernels have built in: they show the difference of the kernels without BPF."""
KERNELS = ("host", "uml")


@dataclass(frozen=True)
class Condition:
    """One flow for 20 s over this, measured from 5 s on: Mbit/s, ms, packets, percent."""

    rate: int
    rtt: int
    limit: int
    loss: float = 0.0
    repetitions: int = 1

    @property
    def name(self) -> str:
        """Return its name in the table."""
        loss = f", {self.loss:g} % loss" if self.loss else ""
        return f"{self.rate} Mbit/s, {self.rtt} ms, {self.limit} packets{loss}"

    def scenario(self, variant: str) -> Scenario:
        """Return the runs of a variant."""
        queue = {"discipline": "droptail", "limit": f"{self.limit} packets"}
        link = {"rate": f"{self.rate} Mbit/s", "delay": f"{self.rtt / 2:g} ms", "queue": queue}
        if self.loss:
            link["loss"] = f"{self.loss:g} %"
        document: dict[str, Any] = {
            "name": "in-bpf",
            "duration": "20 s",
            "measure_from": "5 s",
            "repetitions": self.repetitions,
            "network": {"bottleneck": link, "access": {"rate": "100 Mbit/s", "delay": "0 ms"}},
            "flows": [{"name": "f", "variant": variant, "stack": "linux-tuned"}],
        }
        return Scenario.from_dict(document)


CONDITIONS = {
    "modules": [Condition(10, 40, 33), Condition(10, 40, 133), Condition(5, 80, 20)],
    "elsewhere": [
        Condition(50, 10, 42),
        Condition(50, 100, 417),
        Condition(20, 200, 100),
        Condition(20, 100, 167, 1.0, 5),
    ],
}
"""The conditions of each table of the page."""


@dataclass(frozen=True)
class Row:
    """One run on one kernel: `host` or `uml`."""

    condition: str
    variant: str
    kernel: str
    repetition: int
    cwnd_packets: float
    srtt_ms: float
    goodput_mbps: float
    episodes: int
    late_p99_ms: float


def load() -> list[Row]:
    """Read the stored measurements."""
    kinds = {f.name: {"str": str, "int": int, "float": float}[str(f.type)] for f in fields(Row)}
    if not STORE.exists():
        return []
    with STORE.open(encoding="utf-8", newline="") as file:
        return [Row(**{name: kinds[name](text) for name, text in line.items()}) for line in csv.DictReader(file)]


def save(rows: Iterable[Row]) -> None:
    """Store the measurements."""
    with STORE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


def runs(condition: Condition, variant: str, kernel: str, backend: Backend) -> list[Row]:
    """Measure a variant under one condition."""
    found = []
    for measured in run(condition.scenario(variant), backend=backend).runs:
        (flow,) = measured.flows
        late = measured.facts["link"]["late_p99_ms"] if kernel == "host" else 0.0
        found.append(
            Row(
                condition=condition.name,
                variant=variant,
                kernel=kernel,
                repetition=measured.repetition,
                cwnd_packets=round(flow["cwnd_mean_packets"], 3),
                srtt_ms=round(flow["srtt_mean_ms"], 3),
                goodput_mbps=round(flow["goodput_bps"] / 1e6, 4),
                episodes=flow["fast_retransmits"] + flow["timeouts"],
                late_p99_ms=round(late, 4),
            )
        )
    return found


def measure() -> None:
    """Measure the missing rows."""
    rows = load()
    backends: dict[str, Backend] = {"uml": Uml(), "host": LinkEmulation(calibration="mark")}
    for condition in (c for group in CONDITIONS.values() for c in group):
        for kernel, backend in backends.items():
            held = {r.variant for r in rows if (r.condition, r.kernel) == (condition.name, kernel)}
            missing = [v for v in (OWN, *_core.bpf_variants()) if v not in held]
            for variant in missing:
                try:
                    rows += runs(condition, variant, kernel, backend)
                    save(rows)
                except BackendError as e:
                    print(f"{condition.name}: {e}", file=sys.stderr)


def line(condition: Condition, variant: str, rows: Sequence[Row]) -> list[str]:
    """Write a row of a table."""
    host, uml = (
        [r for r in rows if (r.condition, r.variant, r.kernel) == (condition.name, variant, kernel)]
        for kernel in KERNELS
    )
    (here, there), (srtt, srtt_there), (goodput, goodput_there), (episodes, episodes_there) = (
        [float(np.mean([getattr(r, figure) for r in side])) for side in (host, uml)]
        for figure in ("cwnd_packets", "srtt_ms", "goodput_mbps", "episodes")
    )
    error = ""
    if min(len(host), len(uml)) > 1:
        variances = [np.var([r.cwnd_packets for r in side], ddof=1) / len(side) for side in (host, uml)]
        error = f"{100 * np.sqrt(sum(variances)) / there:.1f}"
    return [
        f"{here:.2f}",
        f"{there:.2f}",
        f"{round(100 * (here / there - 1), 1) + 0.0:+.1f}",
        error,
        *(f"{value:.1f}" for value in (srtt, srtt_there)),
        *(f"{value:.3f}" for value in (goodput, goodput_there)),
        *(f"{value:g}" for value in (episodes, episodes_there)),
    ]


def table(conditions: Sequence[Condition], rows: Sequence[Row]) -> Table:
    """Write a table: every condition, every variant, `OWN` first."""
    lines = []
    for condition in conditions:
        here, there = ({r.variant for r in rows if (r.condition, r.kernel) == (condition.name, k)} for k in KERNELS)
        for variant in sorted(here & there, key=lambda v: (v != OWN, v)):
            lines.append([condition.name, variant, *line(condition, variant, rows)])
    head = ["scenario", "variant", "cwnd, BPF", "cwnd, module", "difference (%)", "difference (%) ±"]
    for figure, unit in (("srtt", " (ms)"), ("goodput", " (Mbit/s)"), ("losses found", "")):
        head += [f"{figure}, BPF{unit}", f"{figure}, module{unit}"]
    return Table(head, lines)


def main() -> None:
    """Measure, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="measure the rows that in_bpf.csv lacks")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/bpf")
    options = parser.parse_args()
    if options.measure:
        measure()
    rows = load()
    tables = {name: table(conditions, rows) for name, conditions in CONDITIONS.items()}
    print("\n\n".join(table.markdown() for table in tables.values()))
    if options.write_docs:
        write_tables(DATA, tables)


if __name__ == "__main__":
    main()
