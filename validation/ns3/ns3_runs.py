#!/usr/bin/env python3
"""Run the reference set in ns-3 and store it in data/: `flows.csv` and `curves.csv` (cwnd over time), one row a run.

    make && python3 ns3_runs.py [--only ledbat] [--jobs 2]

Needs Debian's libns3-dev (ns-3.37) and g++. About half an hour on two cores.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
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

NETWORKS = {
    (10, 40): {0.25: 60, 1.0: 60, 4.0: 240},
    (100, 20): {0.25: 20, 1.0: 40, 4.0: 120},
    (1, 100): {0.25: 120, 1.0: 120, 4.0: 240},
}
"""Rate in Mbit/s and RTT in ms: lengths in s by buffer in BDP, some saw teeth each."""

LOSSES = {0.001: 240, 0.01: 120}
"""Probability that a packet is lost: length in s, some hundred losses each."""

WARM_UP = 0.25
"""Share of a run after which it is measured: slow start, its overshoot and the recovery from it aren't compared."""

PACKET = 1502
"""Bytes of a full packet on ns-3's link: 1500 and PPP's two."""


@dataclass(frozen=True)
class Run:
    """The varied settings of one run."""

    variant: str
    rate_mbps: int
    rtt_ms: int
    seconds: int
    buffer_bdp: float
    loss: float = 0.0
    ack_every: int = 1

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
            f"--from={WARM_UP * self.seconds}",
            f"--loss={self.loss}",
            f"--ackevery={self.ack_every}",
            f"--every={0.1 if self.rtt_ms < 100 else 0.2}",
        ]


KEY = tuple(f.name for f in fields(Run))
FIGURES = ("goodput_bps", "mean_cwnd", "srtt_s", "retransmits", "drops", "mean_queue")
FLOWS, CURVES = (HERE / "data" / name for name in ("flows.csv", "curves.csv"))


def runs() -> Iterator[Run]:
    """Every run of the set."""
    for variant in VARIANTS:
        for (rate, rtt), lengths in NETWORKS.items():
            for buffer, seconds in lengths.items():
                yield Run(variant, rate, rtt, seconds, buffer)
        for loss, seconds in LOSSES.items():
            yield Run(variant, 10, 40, seconds, 1.0, loss)
        for buffer, seconds in NETWORKS[10, 40].items():
            yield Run(variant, 10, 40, seconds, buffer, ack_every=2)


def run(one: Run) -> tuple[Run, dict[str, object]]:
    """Run one and read its flow."""
    done = subprocess.run(one.command(), capture_output=True, text=True, check=True)
    return one, json.loads(done.stdout)


def main() -> None:
    """Run the chosen variants; rows of other variants stay in the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=VARIANTS, help="this variant only (may be repeated)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    options = parser.parse_args()
    wanted = [r for r in runs() if not options.only or r.variant in options.only]
    kept = stored()
    with ThreadPoolExecutor(options.jobs) as pool:
        for one, flow in pool.map(run, wanted):
            kept[one] = rows(one, flow)
            store(kept)


def rows(one: Run, flow: dict[str, object]) -> tuple[list[str], list[str]]:
    """A run's row in both files."""
    curve = flow["curve"]
    assert isinstance(curve, list)
    thin = curve[:: max(1, len(curve) // 300)]
    step = round(thin[1][0] - thin[0][0], 6)
    key = (one.variant, one.rate_mbps, one.rtt_ms, one.buffer_bdp, one.loss, one.ack_every)
    figures = (*asdict(one).values(), one.packets, *(flow[f] for f in FIGURES))
    windows = (*key, step, " ".join(_short(cwnd) for _, cwnd in thin))
    return [str(x) for x in figures], [str(x) for x in windows]


def stored() -> dict[Run, tuple[list[str], list[str]]]:
    """Return the stored rows of the set."""
    if not FLOWS.exists():
        return {}
    with FLOWS.open(newline="") as flows, CURVES.open(newline="") as curves:
        both = list(zip(csv.reader(flows), csv.reader(curves), strict=True))[1:]
    known = {tuple(str(x) for x in asdict(one).values()): one for one in runs()}
    return {known[key]: (f, c) for f, c in both if (key := tuple(f[: len(KEY)])) in known}


def store(kept: dict[Run, tuple[list[str], list[str]]]) -> None:
    """Write both files, in the set's order."""
    order = [kept[one] for one in runs() if one in kept]
    heads = ([*KEY, "queue_packets", *FIGURES], [*(k for k in KEY if k != "seconds"), "step_s", "windows"])
    for file, head, at in ((FLOWS, heads[0], 0), (CURVES, heads[1], 1)):
        file.parent.mkdir(exist_ok=True)
        with file.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows([head, *(pair[at] for pair in order)])


def _short(cwnd: float) -> str:
    """A window in segments; small ones with tenths."""
    return f"{cwnd:.0f}" if cwnd >= 20 else f"{cwnd:.1f}".removesuffix(".0")


if __name__ == "__main__":
    main()
