#!/usr/bin/env python3
"""Which congestion control do captures of simulated transfers show? A confusion matrix.

    python3 validation/classify/simulated.py [--write-docs]

Every variant of the registry, on the stacks `linux` and `rfc` as far as it knows them, alone over several networks,
captured at the sender and at the receiver; and what the analysis makes of each capture, without being told.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import dumbbell
from dumbbell import capture, registry
from dumbbell.exceptions import DumbbellError
from dumbbell.scenario import Scenario

NETWORKS = {
    "8 Mbit/s, 34 ms, 1.5 bdp": ('rate = "8 Mbit/s", delay = "15 ms"', '"1.5 bdp"', ""),
    "30 Mbit/s, 84 ms, 0.7 bdp": ('rate = "30 Mbit/s", delay = "40 ms"', '"0.7 bdp"', ""),
    "100 Mbit/s, 24 ms, 1 bdp": ('rate = "100 Mbit/s", delay = "10 ms"', '"1 bdp"', ""),
    "15 Mbit/s, 64 ms, 0.8 bdp, loss 0.01 %": (
        'rate = "15 Mbit/s", delay = "30 ms"',
        '"0.8 bdp"',
        ', loss = "0.01 %"',
    ),
}
"""Other ones than those that the rules were made with."""
Row = tuple[str, str, str, str, str, float, str]
TEMPLATE = """
name = "classify"
duration = "{seconds} s"
seed = {seed}
capture = {{at = ["sender", "receiver"], snaplen = "96 bytes"}}
[network]
topology = "dumbbell"
bottleneck = {{{link}{more}, queue = {{discipline = "droptail", limit = {queue}}}}}
access = {{rate = "1 Gbit/s", delay = "1 ms"}}
[[flows]]
name = "f"
variant = "{variant}"
stack = "{stack}"
"""


def one(job: tuple[str, str, str, int, int]) -> list[Row]:
    """Run, capture, classify: variant, stack, network, place, family, evidence."""
    variant, stack, network, seconds, seed = job
    link, queue, more = NETWORKS[network]
    text = TEMPLATE.format(
        variant=variant, stack=stack, link=link, queue=queue, more=more, seconds=seconds, seed=seed
    )
    rows: list[Row] = []
    try:
        scenario = Scenario.from_toml(text)
        with tempfile.TemporaryDirectory() as folder:
            results = dumbbell.run(scenario, out=folder, jobs=1)
            for place, path in results.captures(0).items():
                found = capture.analyze(path, threads=1)
                table = found.classify.filter(found.classify["direction"] == 0)
                for row in table.iter_rows(named=True):
                    rows.append((variant, stack, network, place, row["family"], row["confidence"], row["evidence"]))
                if not table.height:
                    rows.append((variant, stack, network, place, "unknown", 0.0, "too few rounds"))
    except DumbbellError as e:
        if "stack" not in str(e):
            rows.append((variant, stack, network, "-", "error", 0.0, str(e)))
    return rows


def main() -> int:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--stack", action="append", default=[])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="all rows as JSON")
    options = parser.parse_args()
    names = options.variant or list(registry.variants())
    stacks = options.stack or ["linux", "rfc"]
    jobs = [(v, s, n, options.seconds, options.seed) for v in names for s in stacks for n in NETWORKS]
    with ProcessPoolExecutor(options.jobs) as pool:
        rows = [row for part in pool.map(one, jobs) for row in part]
    for row in rows:
        print(f"{row[0]:12} {row[1]:6} {row[2]:40} {row[3]:9} {row[4]:14} {row[5]:.2f} {row[6]}")
    if options.out:
        options.out.write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
