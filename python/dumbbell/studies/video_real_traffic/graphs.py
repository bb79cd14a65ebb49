"""I/O graphs: packets per second of a capture, and its error packets by Wireshark's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from dumbbell.capture import Capture
from dumbbell.plots import Curve, Panel, Picture
from dumbbell.studies.reference import level
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.data import LABELED, SERVER, THRESHOLD, VARIANTS, per_second
from dumbbell.studies.video_real_traffic.experiments import MERGED, Experiments

__all__ = ["graphs", "io_graph"]

LOOKS = ("vegas", "drop", "newreno")
"""Looks of the labels."""


def graphs(found: Experiments, reported: Mapping[str, Any]) -> list[Picture]:
    """Draw all of them."""
    drawn = []
    for v in VARIANTS:
        drawn.append(io_graph(f"ethernet-shaped-{v}", f"Congested Ethernet, {LABELS[v]}",
                              {"first run": found.queue.captures[SERVER, v][0]}))  # fmt: skip
    for access in ("Wi-Fi", "Ethernet"):
        for v in VARIANTS:
            captures = {access: found.wifi.captures[access, MERGED, v][0]}
            most = float(reported["largest_spike"][access][v])
            name = f"{access.lower().replace('-', '')}-io-{v}"
            drawn.append(io_graph(name, f"{access}, {LABELS[v]}", captures, largest=most, errors=False))
    for v in VARIANTS:
        captures = {f"run {k + 1}": c for k, c in enumerate(found.hall.captures[found.losses["hall"], v])}
        most = float(reported["error_packets_per_s"]["tcp"])
        drawn.append(
            io_graph(f"hall-{v}", f"Congested Wi-Fi, {LABELS[v]}", captures, wrong=dict.fromkeys(captures, most))
        )
    for v in VARIANTS:
        captures = {f"{s} signal": found.signal.captures[found.losses[s], v][0] for s in ("weak", "strong")}
        drawn.append(io_graph(f"signal-{v}", f"Signal strength, {LABELS[v]}", captures))
    return drawn


def io_graph(
    name: str,
    title: str,
    captures: Mapping[str, Capture],
    *,
    errors: bool = True,
    largest: float | None = None,
    wrong: Mapping[str, float] = MappingProxyType({}),
) -> Picture:
    """Draw packets per second of some captures, and error packets beside them.

    Parameters
    ----------
    name, title : str
        Of the figure.
    captures : mapping of str to Capture
        By the words for each.
    errors : bool
        False: without the error packets.
    largest : float, optional
        The report's most packets in a second.
    wrong : mapping of str to float
        The report's most error packets in a second, by the words for a capture.
    """
    panels = []
    for words, capture in captures.items():
        panels.append(_packets(words, capture, largest))
        panels += [_errors(words, capture, wrong.get(words))] if errors else []
    first = next(iter(captures.values()))
    _, counts = per_second(first)
    _, flagged = per_second(first, ("errors",))
    more = f" (report {largest:g})" if largest is not None else ""
    reading = f"At most {counts.max():.0f} packets{more} and {flagged.max():.0f} error packets in a second"
    most = " and ".join(f"{number:g}" for number in sorted(set(wrong.values()), reverse=True))
    reading += f"; the report's busiest seconds have {most} error packets (lines)." if wrong else "."
    return Picture(
        name, f"I/O graph at the client: {title}", reading, panels, columns=2 if errors else 1, markers=False
    )


def _packets(words: str, capture: Capture, largest: float | None) -> Panel:
    t, counts = per_second(capture)
    curves = [
        Curve("all packets", "reno", t, counts),
        Curve(f"threshold of a spike, {THRESHOLD:g}", "cbr", t, np.full(t.size, THRESHOLD)),
    ]
    panel = Panel(f"{words}: all packets", "time (s)", "packets/s", curves)
    return _with(panel, [] if largest is None else [level(panel, largest, "largest spike")])


def _errors(words: str, capture: Capture, wrong: float | None) -> Panel:
    curves = [Curve("all error packets", "total", *per_second(capture, ("errors",)))]
    curves += [
        Curve(label, look, *per_second(capture, columns))
        for (label, columns), look in zip(LABELED.items(), LOOKS, strict=True)
    ]
    panel = Panel(f"{words}: errors", "time (s)", "packets/s", curves)
    return _with(panel, [] if wrong is None else [level(panel, wrong, "most error packets")])


def _with(panel: Panel, curves: Sequence[Curve]) -> Panel:
    return Panel(panel.title, panel.x_label, panel.y_label, [*panel.curves, *curves])
