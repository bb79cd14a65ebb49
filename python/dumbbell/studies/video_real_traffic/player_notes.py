"""Notes on the player: load times, losses over a medium, the lecture hall. Every number and order is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dumbbell.report.finding import Note
from dumbbell.studies.video_real_traffic.data import VARIANTS
from dumbbell.studies.video_real_traffic.player import NAMES, QUIC, Played

__all__ = ["player_notes"]

FAST = ("Ethernet", "Wi-Fi")
HALLS = ("hall", "hall with weak uplink", "hall as rates")
SIGNALS = {"strong": "Wi-Fi", "weak": "weak signal"}


def player_notes(found: Played, reported: Mapping[str, Any]) -> list[Note]:
    """Return the notes; none if the back end can't run a player."""
    if not found.ran:
        return []
    return [_loads(found, reported), _signals(found, reported), _hall(found), _further(found)]


def _median(found: Played, metric: str, access: str, variant: str) -> float:
    return float(np.median(found.get(metric, access, variant)))


def _loads(found: Played, reported: Mapping[str, Any]) -> Note:
    """Compare the range of load times over the variants with the report's."""
    ranges, own = {}, {}
    for access in (a for a in FAST if a in found.accesses):
        medians = [_median(found, "load time", access, v) for v in found.variants(access)]
        ranges[access] = (min(medians), max(medians))
        table = reported["load_seconds"][access].values()
        own[access] = (min(table), max(table))
    here, there = (max(high - low for low, high in each.values()) for each in (ranges, own))
    listed = "; ".join(
        f"{access} {low:.1f} to {high:.1f} s (report {own[access][0]:g} to {own[access][1]:g})"
        for access, (low, high) in ranges.items()
    )
    others = [a for a in found.accesses if a not in FAST]
    rest = "; ".join(
        f"{a} {min(x):.4g} to {max(x):.4g} s"
        for a in others
        for x in [[_median(found, "load time", a, v) for v in found.variants(a)]]
    )
    end = (
        "" if here >= there else " So the differences in the report are not those of congestion control in this player."
    )
    return Note(
        f"On fast accesses the load times of the variants and QUIC differ by at most {here:.2g} s, the report's by "
        f"{there:g} s",
        f"Medians over the variants and QUIC: {listed}; {rest}.{end}",
    )


def _further(found: Played) -> Note:
    """Give what the report proposes as further work: medians of several runs, and congested accesses."""
    parts, wide = [], {}
    for access in found.accesses:
        loads = {v: found.get("load time", access, v) for v in VARIANTS if found.has(access, v)}
        medians = {v: float(np.median(x)) for v, x in loads.items()}
        wide[access] = max(medians.values()) - min(medians.values())
        within = max(float(np.ptp(x)) for x in loads.values())
        listed = ", ".join(f"{NAMES[v]} {x:.4g}" for v, x in medians.items())
        parts.append(f"{access}: {listed} s; runs of one variant differ by up to {within:.2g} s")
    most = max(wide, key=lambda access: wide[access])
    return Note(
        f"Further work of the report: medians of {found.n} runs, load times differ most on the access “{most}”, by "
        f"{wide[most]:.3g} s",
        f"The report proposes medians of several runs, and an experiment with congestion. Medians of the time until "
        f"the video is loaded: {'. '.join(parts)}.",
    )


def _signals(found: Played, reported: Mapping[str, Any]) -> Note:
    """Compare duplicate ACKs over the medium with the report's."""
    parts, most = [], 0.0
    for signal, access in SIGNALS.items():
        table = reported["signal"][signal]["duplicate_acks"]
        seen = {v: float(np.median(found.seen("duplicate ACKs", access, v))) for v in table if found.has(access, v)}
        parts.append(
            f"{signal} signal: " + ", ".join(f"{NAMES[v]} {x:.4g} (report {table[v]:g})" for v, x in seen.items())
        )
        most = max(most, *seen.values())
    least = min(min(reported["signal"][s]["duplicate_acks"].values()) for s in SIGNALS)
    end = (
        " 802.11 repeats a lost frame before TCP notices, so this medium doesn't explain the report's duplicate ACKs."
        if most < least
        else ""
    )
    count = f"at most {most:.4g}" if most else "no"
    return Note(
        f"Over the medium a capture has {count} duplicate ACKs in the median, in the report at least {least:g}",
        f"{'; '.join(parts)}.{end}",
    )


def _hall(found: Played) -> Note:
    """Compare start and stalls in the forms of the lecture hall."""
    parts, starts = [], {}
    for access in (a for a in HALLS if a in found.accesses):
        tcp = [v for v in found.variants(access) if v != QUIC]
        begun = [_median(found, "startup delay", access, v) for v in tcp]
        starts[access] = (min(begun), max(begun))
        stalled = {v: _median(found, "stall time", access, v) for v in found.variants(access)}
        listed = ", ".join(f"{NAMES[v]} {x:.3g} s" for v, x in stalled.items() if x) or "none"
        over = f", over QUIC {_median(found, 'startup delay', access, QUIC):.3g} s" if found.has(access, QUIC) else ""
        parts.append(f"{access}: start after {min(begun):.3g} to {max(begun):.3g} s over TCP{over}; stalls: {listed}")
    slow = max(starts, key=lambda a: starts[a][1])
    inside = [a for a, (low, high) in starts.items() if high >= 60 and low <= 120]
    return Note(
        f"In the lecture hall the video starts last on the access “{slow}”: after {starts[slow][0]:.3g} to "
        f"{starts[slow][1]:.3g} s over TCP",
        f"Medians. {'. '.join(parts)}. The report's 1 to 2 min are reached on "
        f"{' and '.join(inside) or 'none of these accesses'}.",
    )
