"""Goodput over queueing delay [RFC 7928 §2.7]: runs, their median, the ellipse around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dumbbell.plots.ellipse import ellipse_of
from dumbbell.plots.spec import Curve, Panel, Picture, sampled
from dumbbell.studies.aqm.data import LABELS, Section, look_of
from dumbbell.studies.aqm.phases import Phases
from dumbbell.studies.shared import Floats

__all__ = ["DELAY", "GOODPUT", "by_phase", "pictures", "plane"]

DELAY, GOODPUT = "mean queueing delay (ms)", "goodput (Mbit/s)"


def plane(title: str, points: Mapping[str, tuple[Floats, Floats]], y_label: str = GOODPUT) -> Panel:
    """Draw one plane: for each discipline its runs (delays, goodputs), by the discipline's name."""
    curves = []
    for name, (x, y) in points.items():
        label, look = LABELS[name], look_of(name)
        middle = (np.array([np.median(x)]), np.array([np.median(y)]))
        curves.append(Curve(label, look, *middle, kind="points"))
        curves.append(Curve(label, look, x, y, kind="dots"))
        around = ellipse_of(x, y)
        if around is not None and (around[0] > 0).all():
            curves.append(Curve(label, look, *around))
    return Panel(title, DELAY, y_label, curves, x_log=True, y_from_zero=False)


def _reading(points: Mapping[str, tuple[Floats, Floats]]) -> str:
    middles = {name: (float(np.median(x)), float(np.median(y))) for name, (x, y) in points.items()}
    order = sorted(middles, key=lambda name: middles[name][0])
    return ", ".join(f"{LABELS[n]} {middles[n][0]:.1f} ms at {middles[n][1]:.2f} Mbit/s" for n in order) + "."


def _plain(section: Section) -> dict[str, tuple[Floats, Floats]]:
    return {name: (section.delay(name), section.goodput(name)) for name in section.names}


def pictures(sections: Mapping[str, Section]) -> list[Picture]:
    """Draw the planes of sections 5.1 to 5.4."""
    found = []
    for section, title in (
        ("5.1.1", "§5.1.1: one NewReno flow with SACK"),
        ("5.2", "§5.2: one CUBIC flow"),
        ("5.3.1", "§5.3: UDP at 12 Mbit/s into 10 Mbit/s"),
    ):
        points = _plain(sections[section])
        panel = plane(f"{sections[section].n} runs each", points)
        name = f"s{section.replace('.', '-')}-plane"
        found.append(Picture(name, f"{title}: goodput and delay", _reading(points), [panel], markers=False))
    found.append(_windows(sections["5.1.2"]))
    for section, flows, title in (
        ("5.3.2", ("tcp", "udp"), "§5.3: TCP beside UDP of 7.5 Mbit/s"),
        ("5.4", ("tcp", "ledbat"), "§5.4: NewReno with SACK beside LEDBAT with a target of 5 ms"),
    ):
        found.append(_two(sections[section], section, flows, title))
    return found


WORDS = {"tcp": "TCP", "udp": "UDP", "ledbat": "LEDBAT"}


def _two(section: Section, number: str, flows: tuple[str, str], title: str) -> Picture:
    panels = []
    for flow in flows:
        points = {name: (section.delay(name), section.goodput(name, flow=flow)) for name in section.names}
        panels.append(plane(f"{WORDS[flow]}: its goodput, and the queue's delay", points))
    got = {n: [float(np.median(section.goodput(n, flow=f))) for f in flows] for n in section.names}
    order = sorted(got, key=lambda n: -got[n][0])
    reading = f"{WORDS[flows[0]]} and {WORDS[flows[1]]} get " + ", ".join(
        f"{got[n][0]:.2f} and {got[n][1]:.2f} Mbit/s with {LABELS[n]}" for n in order
    )
    name = f"s{number.replace('.', '-')}-plane"
    return Picture(name, title, f"{reading}.", panels, columns=2, markers=False)


def _windows(section: Section) -> Picture:
    panels = []
    for other in section.others:
        points = {n: (section.delay(n, other), section.goodput(n, other, "long")) for n in section.names}
        panels.append(plane(f"the long flow; short ones with IW {other}", points))
    curves = []
    for other, look in zip(section.others, ("reno", "sack"), strict=True):
        times = [section.transfer_times("short", n, other) for n in section.names]
        curves.append(sampled(f"initial window {other}", look, times, kind="bars"))
    words = [LABELS[n] for n in section.names]
    panels.append(Panel("a short flow of 50 packets", "", "mean completion time (s)", curves, categories=words))
    middles = {
        o: {n: float(np.median(section.transfer_times("short", n, o))) for n in section.names} for o in section.others
    }
    reading = "; ".join(
        f"with {o} a short flow takes "
        + ", ".join(f"{t:.2f} s ({LABELS[n]})" for n, t in sorted(row.items(), key=lambda item: item[1]))
        for o, row in middles.items()
    )
    title = "§5.1.2: short flows with different initial windows beside a long NewReno flow with SACK"
    return Picture("s5-1-2-windows", title, f"{reading[:1].upper()}{reading[1:]}.", panels, columns=2, markers=False)


def by_phase(data: Phases, name: str, title: str, *, together: bool = False) -> Picture:
    """Draw a plane for each phase of a section; ``together``: over the goodput of all phases.

    Phases as short as a round trip are no longer apart where goodput is measured, at the receiver.
    """
    label = "goodput of both phases (Mbit/s)" if together else GOODPUT
    panels = []
    for phase in data.phases:
        points = {n: (data.delay(n, phase), data.total(n) if together else data.goodput(n, phase)) for n in data.names}
        panels.append(plane(phase.name, points, label))
    parts = []
    for n in data.names:
        delays = " / ".join(f"{np.median(data.delay(n, p)):.0f}" for p in data.phases)
        got = f" at {np.median(data.total(n)):.1f} Mbit/s" if together else ""
        parts.append(f"{LABELS[n]} {delays} ms{got}")
    return Picture(name, title, f"Mean delay phase by phase: {', '.join(parts)}.", panels, columns=2, markers=False)
