#!/usr/bin/env python3
"""How late the link between real kernels is, by rate.

    python benches/link.py                 # a table
    python benches/link.py --write-docs    # and renew docs/data/link

One CUBIC flow with large buffers, 20 ms, a queue of one bandwidth-delay product, 10 s, measured from 4 s on. Lateness
and CPU use are measured by the link itself (`facts.link`) over the whole run. Real-time priority needs root.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from dumbbell import Scenario, run
from dumbbell.backends.options import Automatic
from dumbbell.kernel.host.features import why_not
from dumbbell.kernel.host.link_emulation import LinkEmulation
from dumbbell.report.tables import Table, write_tables

DATA = Path(__file__).resolve().parents[1] / "docs" / "data" / "link"
RATES = (10, 100, 200, 300, 500, 1000, 2000)
SINGLE = (500, 1000)
"""Rates that are measured without offloads too."""
PACKET = 1500
PAYLOAD = 1448
RTT = 0.02


def scenario(rate: int) -> Scenario:
    """Return the run at a rate in Mbit/s."""
    limit = max(10, round(rate * 1e6 * RTT / 8 / PACKET))
    queue = {"discipline": "droptail", "limit": f"{limit} packets"}
    bottleneck = {"rate": f"{rate} Mbit/s", "delay": f"{RTT / 2 * 1e3:g} ms", "queue": queue}
    # Late packets make bursts of ACKs and data, which the access link holds.
    roomy = {"discipline": "droptail", "limit": "20000 packets"}
    document: dict[str, Any] = {
        "name": "link",
        "duration": "10 s",
        "measure_from": "4 s",
        "network": {"bottleneck": bottleneck, "access": {"rate": "10 Gbit/s", "delay": "0 ms", "queue": roomy}},
        "flows": [{"name": "f", "variant": "cubic", "stack": "linux-tuned"}],
    }
    return Scenario.from_dict(document)


def line(rate: int, offloads: Automatic = "auto") -> list[str]:
    """Measure at a rate; return a row of the table."""
    busy = os.getloadavg()[0]
    (measured,) = run(scenario(rate), backend=LinkEmulation(calibration="mark", offloads=offloads)).runs
    link, (flow,) = measured.facts["link"], measured.flows
    on = link["moderation_ms"] > 0
    ceiling = rate * 1e6 * PAYLOAD / PACKET
    return [
        str(rate),
        "on" if on else "off",
        f"{flow['goodput_bps'] / 1e6:.1f}",
        f"{100 * flow['goodput_bps'] / ceiling:.1f}",
        f"{link['packets'] / 10 / 1e3:.1f}",
        f"{100 * link['cpu_share']:.0f}",
        f"{1e3 * link['late_p50_ms']:.1f}",
        f"{1e3 * link['late_p99_ms']:.1f}",
        f"{max(PACKET * 8 / rate, 1e3 * link['moderation_ms']):.0f}",
        "invalid" if measured.invalid else "valid",
        f"{busy:.1f}",
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/link")
    options = parser.parse_args()
    if (reason := why_not()) is not None:
        print(f"the link between real kernels can't be measured: {reason}")
        return
    head = ["bottleneck (Mbit/s)", "offloads", "goodput (Mbit/s)", "of the capacity (%)", "packets (1000/s)"]
    head += ["share of a processor (%)", "late p50 (µs)", "late p99 (µs)", "allowed (µs)", "run", "load before"]
    table = Table(head, [*(line(rate) for rate in RATES), *(line(rate, "off") for rate in SINGLE)])
    print(table.markdown())
    if options.write_docs:
        write_tables(DATA, {"lateness": table})


if __name__ == "__main__":
    main()
