"""The cases that are compared: scenarios, each with a name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import _core, registry
from dumbbell.scenario import Scenario

__all__ = ["Case", "built_in", "of_file", "shared_variants"]

PATHS = {"10M40": (10, 40, 60), "100M20": (100, 20, 30), "1M100": (1, 100, 60)}
"""Name of a path: rate in Mbit/s, round trip in ms, length of a run in s."""
BUFFERS = (0.25, 1.0, 4.0)
LOSSES = (0.1, 1.0)
PAIRED = ("reno", "cubic", "bbr", "vegas")
FAR = (
    (("cubic",), 2, 300, 1.0, 60),
    (("reno",), 1, 5, 5.0, 60),
    (("vegas",), 5, 200, 2.0, 60),
    (("bbr",), 20, 80, 5.0, 30),
    (("reno",), 50, 10, 0.1, 20),
    (("htcp",), 50, 150, 0.5, 60),
    (("bic",), 200, 20, 0.25, 10),
    (("cubic",), 1000, 5, 1.0, 4),
    (("bbr",), 1000, 10, 1.0, 4),
    (("reno",), 1000, 20, 0.1, 4),
    (("illinois",), 300, 60, 1.0, 15),
    (("westwood",), 30, 300, 1.0, 60),
    (("reno",) * 4, 10, 40, 1.0, 60),
    (("cubic",) * 8, 50, 30, 1.0, 30),
    (("bbr",) * 4, 40, 50, 2.0, 30),
    (("vegas",) * 2 + ("cubic",) * 2, 20, 60, 0.5, 60),
)
"""Conditions not used while the algorithms were written: variants, rate in Mbit/s, RTT in ms, buffer in BDP, s."""
NEAR = {**PATHS, "50M10": (50, 10, 20)}
"""The paths of single flows that are run several times."""
SENSITIVE = (
    ("westwood", "1M100", 0.25),
    ("hybla", "1M100", 0.25),
    ("illinois", "1M100", 0.25),
    ("cubic", "1M100", 0.25),
    ("veno", "1M100", 0.25),
    ("htcp", "1M100", 0.25),
    ("nv", "1M100", 0.25),
    ("lp", "1M100", 1.0),
    ("htcp", "1M100", 1.0),
    ("hybla", "1M100", 4.0),
    ("reno", "10M40", 0.25),
    ("lp", "10M40", 0.25),
    ("veno", "10M40", 0.25),
    ("westwood", "10M40", 0.25),
    ("bbr", "10M40", 0.25),
    ("bic", "100M20", 1.0),
    ("vegas", "100M20", 0.25),
    ("reno", "50M10", 0.1),
)
"""Single flows that one more loss changes a lot: each is run several times with tiny differences."""
NUDGES = (-0.4, -0.3, -0.2, -0.1, 0.1, 0.2, 0.3, 0.4)
"""Percent by which the delay of the bottleneck is different."""
GAP = 5
"""Seconds from the first flow of a pair to the second."""
SHARES: tuple[tuple[tuple[str, ...], int, int, float, int, int], ...] = (
    (("vegas", "cubic"), 10, 40, 1.0, 60, GAP),
    (("vegas", "reno"), 10, 40, 1.0, 60, GAP),
    (("bbr", "vegas"), 10, 40, 1.0, 60, GAP),
    (("vegas", "bbr"), 10, 40, 1.0, 60, GAP),
    (("bbr", "bbr"), 10, 40, 1.0, 60, GAP),
    (("bbr",) * 4, 40, 50, 2.0, 30, 1),
    (("reno", "cubic"), 100, 40, 1.0, 60, GAP),
    (("cubic", "cubic"), 100, 40, 1.0, 60, GAP),
    (("bbr", "bbr"), 100, 40, 1.0, 60, GAP),
    (("reno", "bbr"), 100, 40, 1.0, 60, GAP),
    (("bbr", "reno"), 100, 40, 1.0, 60, GAP),
)
"""Flows whose shares differ from run to run: variants, Mbit/s, round trip in ms, buffer in BDP, length, gap in s."""
RANDOM = ("cdg",)
"""Variants that draw random numbers in every round trip or so."""
REPETITIONS = 5
"""Cases that depend on chance: random loss, order of arrival of two flows at a queue, a variant's random numbers."""
MANY = 10
"""Repetitions where means are compared."""
SAMPLE = "10 ms"
STOCK, TUNED = "linux", "linux-tuned"
"""Presets of a Linux endpoint: with the buffers of an unchanged Linux, and with ones that limit no flow."""
STOCK_PATHS: tuple[tuple[str, tuple[str, ...], tuple[int, int, int], float], ...] = (
    ("10M40", ("reno", "cubic", "bbr", "vegas"), (10, 40, 60), 1.0),
    ("1M100", ("reno", "cubic", "bbr", "vegas"), (1, 100, 60), 1.0),
    ("100M20", ("reno", "cubic", "bbr", "vegas"), (100, 20, 10), 1.0),
    ("100M400", ("cubic", "bbr"), (100, 400, 12), 2.0),
    ("500M100", ("cubic", "bbr"), (500, 100, 6), 1.0),
)
"""Single flows with the buffers of an unchanged Linux, which limit the last two paths: name, variants, rate in
Mbit/s, round trip in ms, length in s; buffer in BDP."""


@dataclass(frozen=True)
class Case:
    """A scenario without a sweep, and its name, such as ``single/reno/10M40/1bdp``."""

    name: str
    scenario: Scenario

    def repeated(self, times: int) -> Case:
        """Return the case with so many times as many repetitions; the first ones are the same runs."""
        return Case(self.name, self.scenario.with_changes({"repetitions": times * self.scenario.repetitions}))


def shared_variants() -> list[str]:
    """Name the variants that simulator and kernel both have, each once, as the kernel does."""
    kernel = _core.kernel_variants()
    ours = registry.variants()
    names = [name for name in ours if kernel.get(name) == name]
    return names + sorted({k for name, k in kernel.items() if name in ours and k not in ours})


def built_in() -> Iterator[Case]:
    """Return the built-in set: single flows, loss, pairs, far ones, sensitive ones, shares, and buffers."""
    variants = shared_variants()
    for path, measures in PATHS.items():
        for buffer in BUFFERS:
            for variant in variants:
                name = f"single/{variant}/{path}/{buffer:g}bdp"
                yield Case(name, _scenario(name, [variant], measures, buffer))
    for loss in LOSSES:
        for variant in variants:
            name = f"loss/{variant}/10M40/1bdp/{loss:g}%"
            yield Case(name, _scenario(name, [variant], PATHS["10M40"], 1.0, loss=loss))
    paired = [v for v in PAIRED if v in variants]
    for first in paired:
        for second in paired:
            name = f"pair/{first}-{second}/10M40/1bdp"
            yield Case(name, _scenario(name, [first, second], PATHS["10M40"], 1.0))
    for several, rate, rtt, buffer, seconds in FAR:
        counts = {v: several.count(v) for v in several}
        who = "-".join(v if n == 1 else f"{n}x{v}" for v, n in counts.items())
        name = f"far/{who}/{rate}M{rtt}/{buffer:g}bdp"
        yield Case(name, _scenario(name, list(several), (rate, rtt, seconds), buffer, gap=1))
    for variant, path, buffer in SENSITIVE:
        for nudge in NUDGES:
            name = f"near/{variant}/{path}/{buffer:g}bdp/{nudge:+g}%"
            yield Case(name, _scenario(name, [variant], NEAR[path], buffer, nudge=nudge))
    for those, rate, rtt, buffer, seconds, gap in SHARES:
        name = f"shares/{'-'.join(those)}/{rate}M{rtt}/{buffer:g}bdp"
        yield Case(name, _scenario(name, list(those), (rate, rtt, seconds), buffer, gap=gap, repetitions=MANY))
    for variant in paired:
        name = f"bufferbloat/{variant}/10M40/10bdp"
        yield Case(name, _scenario(name, [variant], PATHS["10M40"], 10.0, ping=True))
    yield from _stock()


def _stock() -> Iterator[Case]:
    for path, those, measures, buffer in STOCK_PATHS:
        for variant in those:
            name = f"stock/{variant}/{path}/{buffer:g}bdp"
            yield Case(name, _scenario(name, [variant], measures, buffer, stack=STOCK))


def of_file(path: Path) -> Iterator[Case]:
    """Return every cell of a scenario file as a case."""
    scenario = Scenario.load(path)
    for cell in scenario.cells:
        values = ",".join(str(v) for v in cell.values.values())
        changed = cell.scenario.with_changes({"trace": {"series": ["flows"], "interval": SAMPLE}})
        yield Case(f"{scenario.name}/{values}" if values else scenario.name, changed)


def _scenario(
    name: str,
    variants: list[str],
    path: tuple[int, int, int],
    buffer: float,
    *,
    loss: float = 0.0,
    ping: bool = False,
    gap: int = GAP,
    nudge: float = 0.0,
    repetitions: int = REPETITIONS,
    stack: str = TUNED,
) -> Scenario:
    rate, rtt, seconds = path
    packets = max(1, round(rate * 1e6 * rtt * 1e-3 / 12_000 * buffer))
    chance = loss > 0 or len(variants) > 1 or variants[0] in RANDOM
    flows: list[dict[str, Any]] = [
        {"name": f"f{n + 1}", "variant": variant, "stack": stack, "start": f"{gap * n} s"}
        for n, variant in enumerate(variants)
    ]
    if ping:
        flows.append({"name": "ping", "application": {"kind": "ping", "interval": "100 ms"}, "start": "1 s"})
    bottleneck: dict[str, Any] = {
        "rate": f"{rate} Mbit/s",
        "delay": f"{rtt / 2 * (1 + nudge / 100):g} ms",
        "queue": {"discipline": "droptail", "limit": f"{packets} packets"},
        "reverse": {"queue": {"discipline": "droptail", "limit": "1000 packets"}},
    }
    if loss:
        bottleneck["loss"] = f"{loss:g} %"
    document = {
        "name": name,
        "duration": f"{seconds} s",
        "repetitions": repetitions if chance else 1,
        "start_jitter": "100 ms" if len(variants) > 1 else "0 s",
        "network": {
            "bottleneck": bottleneck,
            "access": {
                "rate": f"{rate * 10} Mbit/s",
                "delay": "0 ms",
                "queue": {"discipline": "droptail", "limit": "1000 packets"},
            },
        },
        "flows": flows,
        "trace": {"series": ["flows"], "interval": SAMPLE},
    }
    return Scenario.from_dict(document)
