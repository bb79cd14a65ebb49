"""Random cases: scenarios drawn from stated ranges. Each has its own stream: case n doesn't depend on their number.

Ranges are uniform in the logarithm where a quantity spans more than one power of ten. Reordering, changing rates and
losses in bursts are not drawn: the kernel's own links don't have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dumbbell.kernel.validate.cases import SAMPLE, STOCK, TUNED, Case, shared_variants
from dumbbell.scenario import Scenario

__all__ = ["RANGES", "REPETITIONS", "SIMULATED", "drawn"]

REPETITIONS = 3
"""Runs of the kernel, unless another number is given."""
SIMULATED = 4
"""Runs of the simulator for each one of the kernel."""
PACKETS = 40_000
"""Full packets that the bottleneck carries in one run, unless that is too short: bounds the length of fast runs."""
LEAST_S = 2.0
LEAST_ROUNDS = 25
"""Shortest run: this time, and this many base round trips."""
MOST_S = 40.0
RANGES = {
    "rate": "1 to 500 Mbit/s",
    "base round trip": "2 to 300 ms",
    "buffer (limit of the queue)": "0.1 to 6 bandwidth-delay products, at least 4 packets",
    "discipline": "droptail (a third), red, codel, fq_codel, pie, fq_pie, sfq, cake, with random parameters",
    "flows": "1 to 4, each of any variant that Linux has, starts in the first quarter",
    "ECN": "a quarter of the scenarios",
    "rate of the reverse direction": "equal (two thirds), or 1/50 of the rate to the rate",
    "random loss": "none (four fifths), or 0.01 to 2 %",
    "short transfers": "a quarter: one of 10 kB to 1 MB beside the flows",
    "buffers of the hosts": "those of an unchanged Linux (two thirds: receive buffer 128 KiB to 6 MiB, send buffer "
    "16 KiB to 4 MiB), or 32 MiB and more (linux-tuned)",
}
"""The ranges in words, for the page."""


@dataclass
class _Draw:
    """Draws from one case's stream."""

    random: np.random.Generator

    def log(self, low: float, high: float) -> float:
        """Draw a number that is uniform in the logarithm, in three digits."""
        return float(f"{np.exp(self.random.uniform(np.log(low), np.log(high))):.3g}")

    def chance(self, share: float) -> bool:
        return bool(self.random.random() < share)

    def one_of(self, *choices: str) -> str:
        return choices[int(self.random.integers(len(choices)))]


def drawn(number: int, seed: int, repetitions: int = REPETITIONS) -> Iterator[Case]:
    """Return random cases."""
    variants = shared_variants()
    for n in range(number):
        draw = _Draw(np.random.default_rng([seed, n]))
        name = f"random-{seed}-{n}"
        yield Case(name, Scenario.from_dict(_document(draw, name, variants, repetitions, seed)))


def _document(draw: _Draw, name: str, variants: list[str], repetitions: int, seed: int) -> dict[str, Any]:
    rate, rtt = draw.log(1, 500), draw.log(2, 300)
    product = rate * rtt * 1e3 / 12_000
    least = max(LEAST_S, LEAST_ROUNDS * rtt * 1e-3)
    seconds = round(float(np.clip(PACKETS * 12_000 / (rate * 1e6), least, MOST_S)), 1)
    limit = max(4, round(product * draw.log(0.1, 6)))
    ecn = draw.chance(0.25)
    bottleneck: dict[str, Any] = {
        "rate": f"{rate:g} Mbit/s",
        "delay": f"{rtt / 2:g} ms",
        "queue": _queue(draw, limit, ecn),
        "reverse": {"queue": {"discipline": "droptail", "limit": "1000 packets"}},
    }
    if draw.chance(1 / 3):
        bottleneck["reverse"]["rate"] = f"{rate * draw.log(0.02, 1):.3g} Mbit/s"
    if draw.chance(0.2):
        bottleneck["loss"] = f"{draw.log(0.01, 2):g} %"
    preset = TUNED if draw.chance(1 / 3) else STOCK
    stack: dict[str, Any] = {"preset": preset, **({"ecn": True} if ecn else {})}
    flows = [
        {
            "name": f"f{n + 1}",
            "variant": draw.one_of(*variants),
            "stack": stack,
            "start": f"{draw.random.uniform(0, seconds / 4) if n else 0:.3f} s",
        }
        for n in range(int(draw.random.integers(1, 5)))
    ]
    if draw.chance(0.25):
        size, start = draw.log(10, 1000), draw.random.uniform(0, seconds / 2)
        flows.append(
            {
                "name": "transfer",
                "variant": draw.one_of(*variants),
                "stack": stack,
                "start": f"{start:.3f} s",
                "application": {"kind": "transfer", "size": f"{size:g} kB"},
            }
        )
    return {
        "name": name,
        "seed": seed,
        "duration": f"{seconds:g} s",
        "repetitions": repetitions,
        "start_jitter": "100 ms",
        "network": {
            "bottleneck": bottleneck,
            "access": {
                "rate": f"{rate * 10:g} Mbit/s",
                "delay": "0 ms",
                "queue": {"discipline": "droptail", "limit": "10000 packets"},
            },
        },
        "flows": flows,
        "trace": {"series": ["flows"], "interval": SAMPLE},
    }


def _queue(draw: _Draw, limit: int, ecn: bool) -> dict[str, Any]:
    """Draw a discipline; AQMs get at least 100 packets, so that the AQM decides and not the limit."""
    name = draw.one_of(*["droptail"] * 4, "red", "codel", "fq_codel", "pie", "fq_pie", "sfq", "cake", "codel")
    many = f"{max(100, limit)} packets"
    marks = {"ecn": True} if ecn else {}
    match name:
        case "red":
            least = int(draw.random.integers(3, 20))
            return {
                "discipline": name,
                "limit": many,
                "min_th": f"{least} packets",
                "max_th": f"{3 * least} packets",
                "weight": 2.0 ** -int(draw.random.integers(6, 10)),
                "max_p": f"{draw.log(2, 20):g} %",
                "gentle": False,
                "mean_packet": "1500 bytes",
                **marks,
            }
        case "codel" | "fq_codel":
            interval = draw.log(30, 300)
            share = draw.log(0.05, 0.2)
            times = {"interval": f"{interval:g} ms", "target": f"{interval * share:.3g} ms"}
            return {"discipline": name, "limit": many, **times, "ecn": ecn}
        case "pie" | "fq_pie":
            return {"discipline": name, "limit": many, "target": f"{draw.log(5, 50):.3g} ms", **marks}
        case "sfq":
            return {"discipline": name, "limit": f"{max(10, min(limit, 1000))} packets"}
        case "cake":
            return {"discipline": name, "rtt": f"{draw.log(30, 300):.3g} ms"}
    return {"discipline": name, "limit": f"{limit} packets"}
