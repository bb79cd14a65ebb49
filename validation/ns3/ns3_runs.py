#!/usr/bin/env python3
"""Run the reference set in ns-3 and store it in data/: `flows.csv` and `curves.csv` (cwnd over time), one row a run.

    make flow && python3 ns3_runs.py [--only ledbat] [--jobs 2]

Needs Debian's libns3-dev (ns-3.37) and g++. About 12 minutes on two cores.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
VARIANTS = {
    "reno": "TcpLinuxReno",
    "newreno": "TcpNewReno",
    "vegas": "TcpVegas",
    "veno": "TcpVeno",
    "westwood": "TcpWestwoodPlus",
    "bic": "TcpBic",
    "cubic": "TcpCubic",
    "highspeed": "TcpHighSpeed",
    "scalable": "TcpScalable",
    "htcp": "TcpHtcp",
    "hybla": "TcpHybla",
    "illinois": "TcpIllinois",
    "yeah": "TcpYeah",
    "lp": "TcpLp",
    "ledbat": "TcpLedbat",
    "bbr1": "TcpBbr",
}
"""Our name and ns-3's type. TcpWestwoodPlus is a variant of its TcpWestwood, chosen by an attribute."""

NETWORKS = ((10, 40, 60), (100, 20, 20), (1, 100, 120))
"""Rate in Mbit/s, RTT in ms, length in s."""

BUFFERS = (0.25, 1.0, 4.0)
PACKET = 1502
"""Bytes of a full packet on ns-3's link: 1500 and PPP's two."""


@dataclass(frozen=True)
class Run:
    """One run: what is varied."""

    variant: str
    rate_mbps: int
    rtt_ms: int
    seconds: int
    buffer_bdp: float
    loss: float = 0.0

    @property
    def packets(self) -> int:
        """The queue's limit: rate x RTT in full packets of 1500 bytes, at least 2."""
        return max(2, round(self.buffer_bdp * self.rate_mbps * 1e6 * self.rtt_ms / 1000 / 8 / 1500))

    def command(self) -> list[str]:
        """The command line of this run."""
        kind = VARIANTS[self.variant]
        options = [] if kind != "TcpWestwoodPlus" else ["--ns3::TcpWestwood::ProtocolType=WestwoodPlus"]
        return [
            str(HERE / "flow"),
            f"--variant={'TcpWestwood' if options else kind}",
            *options,
            f"--rate={self.rate_mbps}",
            f"--rtt={self.rtt_ms}",
            f"--queue={self.packets}",
            f"--seconds={self.seconds}",
            f"--loss={self.loss}",
            f"--every={0.1 if self.rtt_ms < 100 else 0.2}",
        ]


def runs() -> Iterator[Run]:
    """Every run of the set."""
    for variant in VARIANTS:
        for rate, rtt, seconds in NETWORKS:
            for buffer in BUFFERS:
                yield Run(variant, rate, rtt, seconds, buffer)
        for loss in (0.001, 0.01):
            yield Run(variant, 10, 40, 60, 1.0, loss)


def run(one: Run) -> tuple[Run, dict[str, object]]:
    """Run one and read its flow."""
    done = subprocess.run(one.command(), capture_output=True, text=True, check=True)
    return one, json.loads(done.stdout)


def main() -> None:
    """Run all and write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=VARIANTS, help="this variant only (may be repeated)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options = parser.parse_args()
    wanted = [r for r in runs() if not options.only or r.variant in options.only]
    (HERE / "data").mkdir(exist_ok=True)
    with (
        ThreadPoolExecutor(options.jobs) as pool,
        (HERE / "data" / "flows.csv").open("w", newline="") as flows_file,
        (HERE / "data" / "curves.csv").open("w", newline="") as curves_file,
    ):
        flows = csv.writer(flows_file, lineterminator="\n")
        curves = csv.writer(curves_file, lineterminator="\n")
        figures = ("goodput_bps", "mean_cwnd", "srtt_s", "retransmits", "drops", "mean_queue")
        flows.writerow((*asdict(wanted[0]), "queue_packets", *figures))
        curves.writerow(("variant", "rate_mbps", "rtt_ms", "buffer_bdp", "loss", "step_s", "windows"))
        for one, flow in pool.map(run, wanted):
            flows.writerow((*asdict(one).values(), one.packets, *(flow[f] for f in figures)))
            key = (one.variant, one.rate_mbps, one.rtt_ms, one.buffer_bdp, one.loss)
            curve = flow["curve"]
            assert isinstance(curve, list)
            kept = curve[:: max(1, len(curve) // 300)]
            step = round(kept[1][0] - kept[0][0], 6)
            curves.writerow((*key, step, " ".join(_short(cwnd) for _, cwnd in kept)))


def _short(cwnd: float) -> str:
    """A window in segments; tenths where they matter."""
    return f"{cwnd:.0f}" if cwnd >= 20 else f"{cwnd:.1f}".removesuffix(".0")


if __name__ == "__main__":
    main()
