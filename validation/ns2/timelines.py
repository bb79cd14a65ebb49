"""Scripted drops beside ns-2: which packets are sent again, how often the timer expires, how long 150 packets take.

Both sides are followed until 150 packets have been delivered in order. Times count from the first data packet, so
that the handshake (ns-2's Vegas has none) doesn't count.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import dumbbell
from dumbbell import Results, Scenario

HERE = Path(__file__).resolve().parent
SCENARIO = HERE.parent / "scenarios" / "drops.toml"
DELIVERED = 150
MSS = 1000
VARIANTS = ("tahoe", "reno", "newreno", "sack", "vegas")


@dataclass(frozen=True)
class Timeline:
    """The events of a sender until 150 packets were delivered.

    Attributes
    ----------
    sends : list of int
        Packet numbers in the order sent, from 0.
    resent : list of int
        Those that had been sent before.
    timeouts, fast_retransmits : int
        How often.
    took : float, s
        From the first data packet to the delivery of the last of 150.
    """

    sends: list[int]
    resent: list[int]
    timeouts: int
    fast_retransmits: int
    took: float


@dataclass(frozen=True)
class Case:
    """One list of dropped packets with one variant."""

    kind: str
    variant: str
    drops: tuple[int, ...]
    ours: Timeline
    theirs: Timeline

    @property
    def same_sends(self) -> bool:
        """Whether every packet is sent in the same order."""
        return self.ours.sends == self.theirs.sends

    @property
    def same_resent(self) -> bool:
        """Whether the same packets are sent again, in the same order."""
        return self.ours.resent == self.theirs.resent

    @property
    def same_timeouts(self) -> bool:
        """Whether the timer expires as often."""
        return self.ours.timeouts == self.theirs.timeouts

    @property
    def same_fast(self) -> bool:
        """True if the numbers of fast retransmits are equal."""
        return self.ours.fast_retransmits == self.theirs.fast_retransmits

    @property
    def ratio(self) -> float:
        """Time for 150 packets here over ns-2's."""
        return self.ours.took / self.theirs.took

    def row(self) -> dict[str, Any]:
        """One line of a CSV file."""
        return {
            "kind": self.kind,
            "variant": self.variant,
            "drops": " ".join(map(str, self.drops)),
            "same_sends": self.same_sends,
            "same_resent": self.same_resent,
            "resent": " ".join(map(str, self.ours.resent)),
            "ns2_resent": " ".join(map(str, self.theirs.resent)),
            "timeouts": self.ours.timeouts,
            "ns2_timeouts": self.theirs.timeouts,
            "fast_retransmits": self.ours.fast_retransmits,
            "ns2_fast_retransmits": self.theirs.fast_retransmits,
            "took_s": self.ours.took,
            "ns2_took_s": self.theirs.took,
        }


@dataclass(frozen=True)
class Agreement:
    """Shares (0..1) of the cases of one variant in which both agree; percentiles of the ratio of times."""

    variant: str
    cases: int
    sends: float
    resent: float
    timeouts: float
    fast_retransmits: float
    ratio: tuple[float, float, float]


def agreement(variant: str, cases: Sequence[Case]) -> Agreement:
    """Count how far one variant's cases agree; ratio: 5th percentile, median, 95th."""
    own = [c for c in cases if c.variant == variant]

    def share(flags: Iterable[bool]) -> float:
        return sum(flags) / len(own)

    low, middle, high = np.percentile([c.ratio for c in own], [5, 50, 95])
    return Agreement(
        variant=variant,
        cases=len(own),
        sends=share(c.same_sends for c in own),
        resent=share(c.same_resent for c in own),
        timeouts=share(c.same_timeouts for c in own),
        fast_retransmits=share(c.same_fast for c in own),
        ratio=(float(low), float(middle), float(high)),
    )


def stored() -> list[dict[str, Any]]:
    """Return the reference's cases with ns-2's default `bugFix_`."""
    reference = json.loads((HERE / "data" / "drops.json").read_text())["cases"]
    return [c for c in reference if c["bugfix"] == 1]


def compare(chosen: Sequence[dict[str, Any]], stack: Mapping[str, Any] | None = None) -> list[Case]:
    """Run the lists of drops of these cases of ns-2; `stack`: parameters besides those of the scenario."""
    base = Scenario.load(SCENARIO).to_dict()
    for flow in base["flows"]:
        flow["stack"] |= stack or {}

    def run(durations: Sequence[str | None]) -> Results:
        cases = []
        for case, duration in zip(chosen, durations, strict=True):
            rule = {"flow": "tcp", "packets": [p + 1 for p in case["drops"]], "count": "data"}
            values = {"flows.tcp.variant": case["variant"], "network.bottleneck.drops": [rule]}
            cases.append(values if duration is None else {**values, "duration": duration})
        return dumbbell.run(Scenario.from_dict({**base, "sweep": {"cases": cases}}))

    whole = run([None] * len(chosen))
    ends = [_end(whole, number) for number in range(len(chosen))]
    # A second run up to that time, for the counters.
    cut = run([f"{end} ns" for end in ends])
    return [
        Case(
            kind=case["kind"],
            variant=case["variant"],
            drops=tuple(case["drops"]),
            ours=_ours(whole, number, ends[number], cut.runs[number].flows[0]),
            theirs=of_ns2(case),
        )
        for number, case in enumerate(chosen)
    ]


def _data(results: Results, run: int, event: int) -> pl.DataFrame:
    """Packets with payload of the flow, sent (0) or received (1)."""
    packets = results.table(run, "packets")
    return packets.filter((pl.col("event") == event) & (pl.col("flow") == 0) & (pl.col("payload") > 0))


def _end(results: Results, run: int) -> int:
    """When 150 packets had arrived in order, ns; the end of the run if they had not."""
    arrived = _data(results, run, 1).filter(pl.col("number") < DELIVERED * MSS)
    first = arrived.group_by("number").agg(pl.col("t_ns").min())
    return int(first["t_ns"].to_numpy().max()) if first.height == DELIVERED else 30_000_000_000


def _ours(results: Results, run: int, end: int, counters: dict[str, Any]) -> Timeline:
    sent = _data(results, run, 0).filter(pl.col("t_ns") <= end)
    numbers = [int(n) // MSS for n in sent["number"]]
    return Timeline(
        sends=numbers,
        resent=[n for n, again in zip(numbers, sent["retransmission"], strict=True) if again],
        timeouts=counters["timeouts"],
        fast_retransmits=counters["fast_retransmits"],
        took=(end - int(sent["t_ns"][0])) * 1e-9,
    )


def of_ns2(case: dict[str, Any]) -> Timeline:
    """Return the timeline of a run of drops.tcl."""
    sends = case["sends"]
    return Timeline(
        sends=[number for _, number, _ in sends],
        resent=[number for _, number, again in sends if again],
        timeouts=len(case["rto"]),
        fast_retransmits=len(case["fast"]),
        took=case["end"] - sends[0][0],
    )
