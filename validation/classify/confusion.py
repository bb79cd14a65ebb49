#!/usr/bin/env python3
"""The families that the analysis finds in captured transfers of known variants: a confusion matrix.

    python3 validation/classify/confusion.py                   # simulated: every variant, both stacks, four networks
    python3 validation/classify/confusion.py --kernel          # the running kernel's own variants, on the real clock
    python3 validation/classify/confusion.py --uml             # Linux 6.12's, in virtual time

A transfer is alone for a minute over each network, and captured at its sender and its receiver.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import dumbbell
from dumbbell import backends, capture, registry
from dumbbell.exceptions import BackendError, DumbbellError
from dumbbell.report.tables import Table
from dumbbell.scenario import Scenario

NETWORKS = {
    "8 Mbit/s, 34 ms, 1.5 bdp": ('rate = "8 Mbit/s", delay = "15 ms"', "1.5 bdp", ""),
    "30 Mbit/s, 84 ms, 0.7 bdp": ('rate = "30 Mbit/s", delay = "40 ms"', "0.7 bdp", ""),
    "100 Mbit/s, 24 ms, 1 bdp": ('rate = "100 Mbit/s", delay = "10 ms"', "1 bdp", ""),
    "15 Mbit/s, 64 ms, 0.8 bdp, loss 0.01 %": ('rate = "15 Mbit/s", delay = "30 ms"', "0.8 bdp", ', loss = "0.01 %"'),
}
"""Different from those that the rules were made with, and not among the paths of `corpus.py`."""
SLOW = ("8 Mbit/s, 34 ms, 1.5 bdp", "15 Mbit/s, 64 ms, 0.8 bdp, loss 0.01 %")
"""Networks slow enough for link emulation on a busy machine, and for a short run of a kernel in virtual time."""
LINUX = "linux-tuned"
"""The stack of Linux."""
TEMPLATE = """
name = "classify"
duration = "{seconds} s"
capture = {{at = ["sender", "receiver"], snaplen = "96 bytes"}}
[network]
topology = "dumbbell"
bottleneck = {{{link}{more}, queue = {{discipline = "droptail", limit = "{queue}"}}}}
access = {{rate = "1 Gbit/s", delay = "1 ms"}}
[[flows]]
name = "f"
variant = "{variant}"
stack = "{stack}"
"""


@dataclass(frozen=True)
class Job:
    """One transfer."""

    variant: str
    stack: str
    network: str
    seconds: int
    backend: str


@dataclass(frozen=True)
class Seen:
    """The family found for one capture."""

    job: Job
    place: str
    family: str
    confidence: float
    evidence: str


def one(job: Job) -> list[Seen]:
    """Run, capture, classify."""
    link, queue, more = NETWORKS[job.network]
    text = TEMPLATE.format(link=link, queue=queue, more=more, **vars(job))
    try:
        scenario = Scenario.from_toml(text)
    except DumbbellError:
        return []  # this stack doesn't have the variant
    options = {"kernel": {"emulation": "link", "calibration": "mark"}, "uml": {}}
    backend = backends.backend(job.backend, options[job.backend]) if job.backend in options else None
    with tempfile.TemporaryDirectory() as folder:
        try:
            files = dumbbell.run(scenario, out=folder, jobs=1, backend=backend).captures(0)
        except BackendError as e:
            print(f"left out: {job.variant}: {e}", file=sys.stderr)
            return []  # this kernel doesn't have the variant
        return [classified(job, place, path) for place, path in files.items()]


def classified(job: Job, place: str, path: Path) -> Seen:
    """Return the classification of the direction that carried the data."""
    found = capture.analyze(path, threads=1)
    busiest = found.flows.sort("payload_bytes", descending=True).row(0, named=True)
    for row in found.classify.iter_rows(named=True):
        if (row["flow"], row["direction"]) == (busiest["flow"], busiest["direction"]):
            return Seen(job, place, row["family"], row["confidence"], row["evidence"])
    return Seen(job, place, "unknown", 0.0, "too few rounds")


def matrix(rows: Sequence[Seen]) -> Iterator[list[str]]:
    """Return a row per variant: how often each family was found, most frequent first."""
    by: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for row in rows:
        by[row.job.variant][row.place][row.family] += 1
    for variant, places in sorted(by.items()):
        cells = [", ".join(f"{family} {n}" for family, n in places[p].most_common()) for p in ("sender", "receiver")]
        yield [variant, *cells]


def main() -> int:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kernel", action="store_true", help="real flows, over the link of the back end `kernel`")
    parser.add_argument("--uml", action="store_true", help="flows of the back end `uml`")
    parser.add_argument("--rows", action="store_true", help="print every capture with the evidence")
    options = parser.parse_args()
    if options.kernel:
        known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
        stacks, networks, names = [LINUX], list(SLOW), options.variant or sorted(known)
        names = ["bbr1" if name == "bbr" else name for name in names if name in {"bbr", *registry.variants()}]
    else:
        stacks = [LINUX] if options.uml else [LINUX, "rfc"]
        networks, names = list(SLOW if options.uml else NETWORKS), options.variant or list(registry.variants())
    name = "kernel" if options.kernel else "uml" if options.uml else "simulated"
    jobs = [Job(v, s, n, options.seconds, name) for v in names for s in stacks for n in networks]
    if options.kernel:
        rows = [row for job in jobs for row in one(job)]
    else:
        with ProcessPoolExecutor(options.jobs) as pool:
            rows = [row for part in pool.map(one, jobs) for row in part]
    if options.rows:
        for row in rows:
            j = row.job
            print(f"{j.variant:10} {j.stack:11} {j.network:40} {row.place:9} {row.family:12} {row.confidence:.2f}")
            print(f"    {row.evidence}")
    table = Table(["variant", "at the sender", "at the receiver"], list(matrix(rows)))
    print(table.markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
