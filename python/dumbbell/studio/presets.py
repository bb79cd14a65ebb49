"""Examples that the studio offers: settings that differ from the defaults, and sentences about the plots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dumbbell.studio.templates import defaults, flow_defaults

__all__ = ["PRESETS", "Preset"]


@dataclass(frozen=True)
class Preset:
    """An example.

    Attributes
    ----------
    name : str
        Its name in links.
    title, about : str
    flows : list of mapping
        For each flow, the settings that differ from the defaults.
    path : mapping
        The settings of the path that differ from the defaults.
    """

    name: str
    title: str
    about: str
    flows: list[dict[str, Any]]
    path: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """All settings."""
        return {**defaults(), **self.path, "flows": [{**flow_defaults(), **flow} for flow in self.flows]}


PRESETS = (
    Preset(
        "two-flows",
        "CUBIC and NewReno",
        "Two flows with different congestion control and the same TCP stack share the bottleneck.",
        [{"variant": "cubic"}, {"variant": "newreno"}],
    ),
    Preset(
        "slow-start",
        "Slow start",
        "The window doubles in each round trip until the queue is full and packets are dropped.",
        [{"variant": "reno", "stack": "rfc"}],
        {"rtt": 100, "buffer": 60, "duration": 4},
    ),
    Preset(
        "sawtooth",
        "Sawtooth",
        "Reno with SACK halves the window after a loss. Then the window grows by one segment in each round trip.",
        [{"variant": "sack", "stack": "rfc"}],
        {"rate": 5, "rtt": 50, "buffer": 20, "duration": 30},
    ),
    Preset(
        "bufferbloat",
        "Bufferbloat",
        "CUBIC fills a buffer of 500 packets: the RTT rises from 40 ms to more than half a second.",
        [{"variant": "cubic"}],
        {"buffer": 500, "duration": 30},
    ),
    Preset(
        "cubic-bbr",
        "CUBIC and BBR",
        "BBRv3 models the path and paces; CUBIC fills the buffer. Change the buffer and compare their shares.",
        [{"variant": "cubic"}, {"variant": "bbr3"}],
        {"rate": 20, "buffer": 100, "duration": 30},
    ),
    Preset(
        "vegas-starves",
        "Vegas beside NewReno",
        "Vegas reduces its window when the queue grows. NewReno fills the queue and gets most of the rate.",
        [{"variant": "vegas"}, {"variant": "newreno"}],
        {"buffer": 100, "duration": 30},
    ),
    Preset(
        "red",
        "RED",
        "RED drops packets at random before the queue is full. Compare with droptail and CoDel.",
        [{"variant": "newreno", "stack": "rfc"}, {"variant": "newreno", "stack": "rfc"}],
        {"discipline": "red", "buffer": 200, "duration": 30},
    ),
    Preset(
        "codel",
        "CoDel",
        "CoDel drops packets when all have waited for more than 5 ms during 100 ms: the queue stays short.",
        [{"variant": "cubic"}, {"variant": "cubic"}],
        {"discipline": "codel", "buffer": 500, "duration": 30},
    ),
    Preset(
        "rtt-unfairness",
        "RTT unfairness",
        "The RTT of the second flow is 120 ms longer. Its window grows more slowly, and its share is smaller.",
        [{"variant": "newreno", "stack": "rfc"}, {"variant": "newreno", "stack": "rfc", "extra": 120}],
        {"buffer": 60, "duration": 60},
    ),
    Preset(
        "l4s",
        "ECN and L4S",
        "Prague and CUBIC with ECN at a DualPI2 queue: marks signal congestion, and hardly a packet is dropped.",
        [{"variant": "prague"}, {"variant": "cubic", "ecn": "on"}],
        {"discipline": "dualpi2", "rate": 20, "rtt": 20, "buffer": 500},
    ),
    Preset(
        "incast",
        "Incast",
        "Eight senders answer at the same time. The small buffer overflows, and some of them wait for a timeout.",
        [{"variant": "newreno", "application": "transfer", "size": 64} for _ in range(8)],
        {"rate": 100, "rtt": 1, "buffer": 15, "duration": 1},
    ),
)
"""In the order of the page's list; the page begins with the first."""
