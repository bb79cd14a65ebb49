#!/usr/bin/env python3
"""Compare random lists of dropped packets with ns-2, which has to be installed (Debian package ns2).

    python validation/ns2/random_drops.py --seed 7               # 64 lists, four variants: half a minute
    python validation/ns2/random_drops.py --seed 7 --phase own   # each side with its own phase of the clock
    python validation/ns2/random_drops.py --seed 7 --beside 2    # ns-2 beside itself, with another phase

Each list has 1 to 12 of the first 150 packets. By default both sides have the same phase of the 10 ms clock, which
ns-2 draws from its seed, so that only rules differ.
"""

from __future__ import annotations

import argparse
import random
from typing import Any

import reference
import timelines

VARIANTS = ("tahoe", "reno", "newreno", "sack")
LISTS = 64
MOST = 12
LATER_US = 190
"""Our data leave later by the larger SYN-ACK."""
AMONG = 150


def lists(seed: int, number: int = LISTS) -> list[list[int]]:
    """Draw lists of packets."""
    draw = random.Random(seed)
    return [sorted(draw.sample(range(AMONG), draw.randint(1, MOST))) for _ in range(number)]


def of_ns2(drops: list[list[int]], seed: int, jobs: int = 1) -> list[dict[str, Any]]:
    """Run ns-2 with every list and variant."""
    until = ",".join(map(str, reference.DROPS_REACHED))
    cases: list[dict[str, Any]] = [
        {
            "variant": variant,
            "drops": ",".join(map(str, these)),
            "bugfix": 1,
            "window": reference.DROPS_WINDOW,
            "duration": reference.DROPS_DURATION,
            "deliver": until,
            "seed": seed,
        }
        for these in drops
        for variant in VARIANTS
    ]
    runs = reference.Runner("ns", jobs).many("drops.tcl", cases)
    return [{"kind": "random", **reference.cut(run)} for run in runs]


def print_agreement(cases: list[timelines.Case]) -> None:
    """Print the shares of cases that agree, and each that doesn't."""
    for variant in VARIANTS:
        a = timelines.agreement(variant, cases)
        print(
            f"{variant:8} {a.cases} lists: timeouts {100 * a.timeouts:5.1f} %, sent again {100 * a.resent:5.1f} %, "
            f"every packet {100 * a.sends:5.1f} %"
        )
    for case in cases:
        if not (case.same_timeouts and case.same_resent):
            print(
                f"{case.variant} {list(case.drops)}: {case.ours.timeouts} timeouts, again {case.ours.resent}; "
                f"ns-2 {case.theirs.timeouts}, {case.theirs.resent}"
            )


def main() -> None:
    """Parse the command line, run both sides, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True, help="of the lists")
    parser.add_argument("--lists", type=int, default=LISTS)
    parser.add_argument("--ns-seed", type=int, default=1, help="of ns-2, which sets the phase of its clock")
    parser.add_argument("--phase", choices=("same", "own"), default="same")
    parser.add_argument("--beside", type=int, help="another seed of ns-2: compare it with itself")
    options = parser.parse_args()
    drops = lists(options.seed, options.lists)
    theirs = of_ns2(drops, options.ns_seed)
    if options.beside is not None:
        again = of_ns2(drops, options.beside)
        sides = [(timelines.of_ns2(a), timelines.of_ns2(b)) for a, b in zip(again, theirs, strict=True)]
        cases = [
            timelines.Case("random", run["variant"], tuple(run["drops"]), ours, others)
            for run, (ours, others) in zip(theirs, sides, strict=True)
        ]
    else:
        phase_us = theirs[0]["phase"] * 1e6 - LATER_US
        stack = {"clock_phase": f"{phase_us % 10_000:.0f} us"} if options.phase == "same" else {}
        cases = timelines.compare(theirs, stack)
    print_agreement(cases)


if __name__ == "__main__":
    main()
