#!/usr/bin/env python3
"""The Wi-Fi medium under the TCP and UDP of a real kernel, beside the simulator's.

python validation/wifi/on_kernel.py                 # the table on the terminal; needs a host that runs link emulation
python validation/wifi/on_kernel.py --write-docs    # and renew docs/data/wifi
python validation/wifi/on_kernel.py --uml           # the same on the virtual-time kernel, which must be built
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import dumbbell
from dumbbell.backends import Backend
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.kernel.uml.backend import Uml
from dumbbell.report.tables import Table, write_tables
from dumbbell.results import Results

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "wifi"
Floats = npt.NDArray[np.float64]

DURATION_S, FROM_S = 20, 4
REPETITIONS = 5
DATAGRAMS = {"transport": "udp", "application": {"kind": "cbr", "rate": "20 Mbit/s", "packet": "1500 bytes"}}
BULK = {"variant": "cubic", "stack": "linux-tuned"}
TWO = {"standard": "11g", "signal": "-45 dBm", "rate_control": "ideal", "stations": {"d2": {"signal": "-84 dBm"}}}
CASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "`lecture-hall`, datagrams": ({"preset": "lecture-hall"}, {"a": DATAGRAMS}),
    "11g, -45 and -84 dBm, datagrams": (TWO, {"near": DATAGRAMS, "far": DATAGRAMS}),
    "the same with airtime fairness": ({**TWO, "airtime_fairness": True}, {"near": DATAGRAMS, "far": DATAGRAMS}),
    "`strong`, CUBIC": ({"preset": "strong"}, {"a": BULK}),
    "`weak`, CUBIC": ({"preset": "weak"}, {"a": BULK}),
    "`lecture-hall`, CUBIC": ({"preset": "lecture-hall"}, {"a": BULK}),
}
"""Medium and flows of each case."""


def scenario(wifi: dict[str, Any], flows: dict[str, dict[str, Any]], repetitions: int) -> dumbbell.Scenario:
    """Return a dumbbell whose bottleneck is this medium."""
    return dumbbell.Scenario.from_dict(
        {
            "name": "wifi",
            "duration": f"{DURATION_S} s",
            "measure_from": f"{FROM_S} s",
            "repetitions": repetitions,
            "network": {
                "bottleneck": {"wifi": wifi, "queue": {"discipline": "droptail", "limit": "200 packets"}},
                "access": {"rate": "1 Gbit/s", "delay": "10 ms"},
            },
            "flows": [{"name": name, **flow} for name, flow in flows.items()],
        }
    )


def throughput(results: Results) -> list[Floats]:
    """Return the throughput of each flow by repetition; (n,) float64, Mbit/s."""
    names = [flow.name for flow in results.scenario.flows]
    return [1e-6 * results.flows.filter(pl.col("name") == name)["throughput_bps"].to_numpy() for name in names]


def simulated(given: dumbbell.Scenario) -> list[Floats]:
    """Return the throughput of each flow in the simulator."""
    return throughput(dumbbell.run(given))


def shown(values: Floats) -> str:
    """Return mean and range."""
    return f"{values.mean():.2f} ({values.min():.2f} to {values.max():.2f})"


def measure(repetitions: int, kernel: Backend) -> Table:
    """Make every run."""
    rows = []
    for words, (wifi, flows) in CASES.items():
        given = scenario(wifi, flows, repetitions)
        real = throughput(dumbbell.run(given, backend=kernel))
        for name, model, linux in zip(flows, simulated(given), real, strict=True):
            difference = f"{100 * (np.mean(model) / np.mean(linux) - 1):+.1f}"
            values = [words, name, shown(model), shown(linux), difference]
            print(*values, sep="  ", flush=True)
            rows.append(values)
    return Table(["medium and traffic", "flow", "simulator (Mbit/s)", "kernel (Mbit/s)", "difference (%)"], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="runs of each case")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/wifi")
    parser.add_argument("--uml", action="store_true", help="on the virtual-time kernel")
    options = parser.parse_args()
    kernel: Backend = Uml(emulation="link") if options.uml else LinkEmulation(calibration="off")
    table = measure(options.repetitions, kernel)
    if options.write_docs:
        write_tables(DATA, {"on-uml" if options.uml else "on-kernel": table})


if __name__ == "__main__":
    main()
