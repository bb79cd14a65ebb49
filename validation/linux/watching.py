#!/usr/bin/env python3
"""Watching a run in virtual time changes nothing in it: not the series, not the captures, not the sampling interval.

python validation/linux/watching.py     # every discipline with every variant (an hour; needs the virtual-time kernel)
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dumbbell import Scenario, _core, registry, run
from dumbbell.exceptions import BackendError
from dumbbell.kernel.uml.backend import Uml
from dumbbell.results import Results

__all__ = ["DISCIPLINES", "VARIANTS", "differences", "scenario"]

DISCIPLINES = ("droptail", "red", "codel", "fq_codel", "pie", "fq_pie", "sfq", "cake", "drr")
VARIANTS = tuple(sorted(set(_core.kernel_variants()) & set(registry.variants())))
POINTS = ["sender", "bottleneck", "receiver"]
SAMPLED = ("cwnd_mean_packets", "srtt_mean_ms", "srtt_p95_ms", "pacing_rate_mean_bps")
"""Results that are computed from samples of a connection's state, so that their interval changes them."""


def scenario(discipline: str, variants: tuple[str, ...], duration: str = "5 s") -> Scenario:
    """Return a scenario in which these flows share a bottleneck of 10 Mbit/s with random loss."""
    queue: dict[str, Any] = {"discipline": discipline}
    if discipline in ("droptail", "sfq"):
        queue["limit"] = "40 packets"
    if discipline == "red":
        queue["gentle"] = False  # as in the kernel
    if discipline == "drr":
        queue |= {"limit": f"{40 * len(variants)} packets", "queue_limit": "40 packets"}
    flows = [{"name": f"{v}{n}", "variant": v, "start": f"{n / 10} s"} for n, v in enumerate(variants)]
    return Scenario.from_dict(
        {
            "name": "watching",
            "duration": duration,
            "seed": 3,
            "network": {
                "bottleneck": {"rate": "10 Mbit/s", "delay": "20 ms", "loss": "0.05 %", "queue": queue},
                "access": {"rate": "100 Mbit/s", "delay": "0 ms"},
            },
            "flows": flows,
        }
    )


def differences(given: Scenario) -> list[str]:
    """Make runs that are watched in different ways; return the results and captures that differ."""
    with tempfile.TemporaryDirectory() as place:

        def once(name: str, sample_ms: float, changes: dict[str, Any]) -> Results:
            return run(given.with_changes(changes), backend=Uml(sample_ms), out=Path(place, name))

        plain = once("plain", 10.0, {})
        watched = once("watched", 10.0, {"trace": {"series": True}, "capture": POINTS})
        often = once("often", 0.7, {"trace": {"series": True, "interval": "100 ms"}, "capture": POINTS})
        found = [*_rows(plain, watched, ()), *_rows(plain, often, SAMPLED)]
        for point in POINTS:
            first, second = (r.captures(0)[point].read_bytes() for r in (watched, often))
            if first != second:
                found.append(f"capture at {point}: {len(first)} and {len(second)} bytes")
        return found


def _rows(one: Results, other: Results, but: tuple[str, ...]) -> Iterator[str]:
    """Yield each value of the flows and queues of two results that differs."""
    for kind in ("flows", "queues"):
        for a, b in zip(getattr(one.runs[0], kind), getattr(other.runs[0], kind), strict=True):
            for name in a:
                if name not in but and a[name] != b[name]:
                    yield f"{a['name']} {name}: {a[name]} and {b[name]}"


def main() -> None:
    """Compare every discipline with every variant beside CUBIC."""
    wrong = 0
    for discipline, variant in itertools.product(DISCIPLINES, VARIANTS):
        try:
            found = differences(scenario(discipline, (variant, "cubic"), "10 s"))
        except BackendError as e:
            print(f"{discipline} {variant}: {e}")
            continue
        wrong += bool(found)
        print(f"{discipline} {variant}: {'; '.join(found) or 'the same'}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
