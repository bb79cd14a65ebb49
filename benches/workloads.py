"""The workloads that benchmarks time and count: scenarios whose only variable is their length.

Each flow has its own access links and a base RTT of 40 ms; there are no series. A delivered packet is a full segment
that the receiver has, with its ACK.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell import Scenario
from dumbbell.results.runs.record import jobs_of

__all__ = [
    "BUDGETED",
    "FAST",
    "FQ_CODEL",
    "NEWRENO",
    "QUIC",
    "SACK",
    "SHORT",
    "TWO",
    "TWO_NEWRENO",
    "WIFI_VIDEO",
    "Workload",
    "delivered",
]

TWO_NEWRENO = Path(__file__).with_name("two-newreno.toml")


@dataclass(frozen=True)
class Workload:
    """A scenario that can be cut at any length.

    Attributes
    ----------
    name : str
        Its key in data files.
    title : str
        The setup in words.
    make : callable
        Makes the scenario.
    timed_s : float, s
        Length of the run that is timed.
    count_s : (float, float), s
        Two lengths. The instructions of a packet are the difference of two runs, so that set-up doesn't count.
    """

    name: str
    title: str
    make: Callable[[], Scenario]
    timed_s: float
    count_s: tuple[float, float]

    def plan(self, seconds: float, **changes: Any) -> str:  # noqa: ANN401
        """Write its plan of that length, as one line of JSON; `changes` replace parts of it."""
        plan = jobs_of(self.make())[0].plan()
        return json.dumps({**plan, "duration_ns": round(seconds * 1e9), **changes}) + "\n"


def delivered(output: str) -> float:
    """Count the packets that a run has delivered, in segments of each flow's size."""
    flows = json.loads(output)["flows"]
    return sum(float(flow["delivered_bytes"]) / float(flow["snd_mss_bytes"]) for flow in flows)


def two(preset: str, variant: str = "newreno") -> Callable[[], Scenario]:
    """Two flows, 100 Mbit/s, a buffer of one BDP; with the preset `ns2` those of validation/ns2/bench.tcl."""

    def make() -> Scenario:
        changes: dict[str, Any] = {f"flows.{flow}.variant": variant for flow in ("a", "b")}
        if preset != "ns2":
            changes |= {f"flows.{flow}.stack": preset for flow in ("a", "b")}
            changes["network.bottleneck.queue"] = {"discipline": "droptail", "limit": "1 bdp"}
        return Scenario.load(TWO_NEWRENO, changes)

    return make


def many(flows: int, rate: str, apart_ms: float, discipline: str = "droptail", **flow: Any) -> Callable[[], Scenario]:  # noqa: ANN401
    """Equal flows through a bottleneck, each started `apart_ms` after the other; access links never limit."""

    def make() -> Scenario:
        queue = {"discipline": discipline, "limit": "1 bdp"} if discipline == "droptail" else discipline
        document = {
            "name": "bench",
            "duration": "60 s",
            "network": {
                "bottleneck": {"rate": rate, "delay": "18 ms", "queue": queue},
                "access": {"rate": "100 Gbit/s", "delay": "1 ms"},
            },
            "flows": [{"name": f"f{k}", "start": f"{k * apart_ms:g} ms", **flow} for k in range(flows)],
        }
        return Scenario.from_dict(document)

    return make


def wifi_video() -> Scenario:
    """Return a player in a lecture hall: eight stations, 802.11g at 24 Mbit/s."""
    player = {"kind": "video", "length": "270 s", "segment": "20 s", "ladder": ["330 kbit/s"], "abr": "fixed"}
    return Scenario.from_dict(
        {
            "name": "bench",
            "duration": "300 s",
            "network": {
                "bottleneck": {"wifi": {"preset": "lecture-hall"}, "queue": {"limit": "100 packets"}},
                "access": {"rate": "1 Gbit/s", "delay": "10 ms"},
            },
            "flows": [{"name": "video", **CUBIC, "tls": "1.3", "application": {**player, "buffer": "138 s"}}],
        }
    )


def _newreno(flows: int, count_s: tuple[float, float]) -> Workload:
    title = f"{flows:,} NewReno flows, 1 Gbit/s"
    make = many(flows, "1 Gbit/s", 0.5, variant="newreno", stack="rfc")
    return Workload(f"newreno-{flows}", title, make, 5, count_s)


TRANSFER = {"kind": "transfer", "size": "20 kB"}
CUBIC = {"variant": "cubic", "stack": "linux"}

TWO = {
    preset: Workload(f"two-{preset}", f"2 NewReno flows, 100 Mbit/s, stack `{preset}`", two(preset), 60, (2, 5))
    for preset in ("ns2", "rfc", "linux")
}
"""By preset; the first is compared with ns-2."""
SACK = Workload(
    "sack-16", "16 SACK flows, 1 Gbit/s", many(16, "1 Gbit/s", 0.5, variant="sack", stack="rfc"), 10, (0.5, 0.9)
)
FQ_CODEL = Workload(
    "cubic-64",
    "64 CUBIC flows, 10 Gbit/s, stack `linux`, FQ-CoDel",
    many(64, "10 Gbit/s", 0.5, "fq_codel", **CUBIC),
    5,
    (0.15, 0.25),
)
NEWRENO = {
    flows: _newreno(flows, lengths)
    for flows, lengths in {2: (1, 1.5), 20: (1, 1.5), 200: (0.5, 0.8), 1000: (0.8, 1.1)}.items()
}
"""How the cost of a packet grows with the number of flows."""
SHORT = Workload(
    "short-10000",
    "10,000 transfers of 20 kB, one per ms",
    many(10_000, "1 Gbit/s", 1, **CUBIC, application=TRANSFER),
    10,
    (0.5, 1),
)
FAST = Workload(
    "cubic-2000", "2,000 CUBIC flows, 100 Gbit/s, stack `linux`", many(2000, "100 Gbit/s", 0.05, **CUBIC), 1, (0.2, 0.3)
)
QUIC = Workload(
    "quic-2",
    "2 NewReno flows over QUIC, 100 Mbit/s",
    many(2, "100 Mbit/s", 50, variant="newreno", transport="quic"),
    60,
    (2, 5),
)

WIFI_VIDEO = Workload(
    "wifi-video", "a video of 4:30 min over Wi-Fi, beside seven stations that always send", wifi_video, 300, (30, 60)
)

BUDGETED = [
    *TWO.values(),
    SACK,
    FQ_CODEL,
    NEWRENO[200],
    Workload(
        "short-300",
        "300 transfers of 20 kB, one per 10 ms",
        many(300, "1 Gbit/s", 10, **CUBIC, application=TRANSFER),
        3.5,
        (0.5, 3.5),
    ),
    QUIC,
    Workload("bbr-2", "2 BBR flows with pacing, 100 Mbit/s, stack `linux`", two("linux", "bbr"), 60, (2, 5)),
]
"""The workloads whose instructions have a budget."""
