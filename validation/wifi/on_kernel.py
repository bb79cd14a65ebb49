#!/usr/bin/env python3
"""The Wi-Fi medium under this host's TCP and UDP, beside the simulator's.

python validation/wifi/on_kernel.py                 # the table on the terminal; needs a host that runs link emulation
python validation/wifi/on_kernel.py --write-docs    # and renew docs/data/wifi
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dumbbell
from dumbbell.backends import LinkEmulation
from dumbbell.report.tables import Table, write_tables

DATA = Path(__file__).resolve().parents[2] / "docs" / "data" / "wifi"
DURATION_S, FROM_S = 20, 4
DATAGRAMS = {"transport": "udp", "application": {"kind": "cbr", "rate": "20 Mbit/s", "packet": "1500 bytes"}}
BULK = {"variant": "cubic"}
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


def measure(repetitions: int) -> Table:
    """Make every run."""
    rows = []
    for words, (wifi, flows) in CASES.items():
        given = scenario(wifi, flows, repetitions)
        simulated = dumbbell.run(given).flows
        real = dumbbell.run(given, backend=LinkEmulation(calibration="off")).flows
        for name in flows:
            model, kernel = (
                1e-6 * rows_.filter(pl.col("name") == name)["throughput_bps"].to_numpy()
                for rows_ in (simulated, real)
            )
            values = [
                words,
                name,
                *(f"{x.mean():.2f} ({x.min():.2f} to {x.max():.2f})" for x in (model, kernel)),
                f"{100 * (np.mean(model) / np.mean(kernel) - 1):+.1f}",
            ]
            print(*values, sep="  ", flush=True)
            rows.append(values)
    return Table(["medium and traffic", "flow", "simulator (Mbit/s)", "kernel (Mbit/s)", "difference (%)"], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5, help="runs of each case; default: 5")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/wifi")
    options = parser.parse_args()
    table = measure(options.repetitions)
    if options.write_docs:
        write_tables(DATA, {"on-kernel": table})


if __name__ == "__main__":
    main()
