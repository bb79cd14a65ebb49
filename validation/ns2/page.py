"""Tables (docs/data/ns2) and figures of docs/explanations/validation-ns2.md, made from the comparison with ns-2."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import steady
import timelines
from dumbbell.plots import Curve, Panel, Picture, save
from dumbbell.report.tables import OUTSIDE, Table
from steady import Cell, Course, Floats, Sample, mean, sd

CBR = "CBR rate, Mbit/s"
GOODPUT = "TCP goodput, Mbit/s"
NAMES = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas"}


# ---------------------------------------------------------------- tables


def _plus_minus(values: Sequence[float], digits: int = 3) -> list[str]:
    """Write a mean and its standard deviation."""
    return [f"{mean(values):.{digits}f}", f"{sd(values):.{digits}f}"]


def _verdict(cell: Cell) -> list[str]:
    """Write the verdict, and the title of the cell that is marked for it."""
    missed = [word for word, flag in (("goodput", cell.goodput_within), ("drops", cell.drops_within)) if not flag]
    return [f"{' and '.join(missed)} differ", "verdict"] if missed else ["within", ""]


def _percent(share: float) -> str:
    return f"{100 * share:+.1f}"


def _cell_row(cell: Cell) -> list[str]:
    return [
        str(cell.rate),
        *_plus_minus(cell.ours.goodput),
        *_plus_minus(cell.theirs.goodput),
        _percent(cell.change),
        f"{100 * mean(cell.ours.drop_rate):.2f}",
        f"{100 * mean(cell.theirs.drop_rate):.2f}",
        f"{mean(cell.ours.timeouts):.1f}",
        f"{mean(cell.theirs.timeouts):.1f}",
        *_verdict(cell),
    ]


RATE = "CBR (Mbit/s)"
CELL_HEAD = [
    *(RATE, "goodput", "goodput ±", "ns-2", "ns-2 ±", "difference (%)", "drops (%)", "drops, ns-2 (%)"),
    *("timeouts", "timeouts, ns-2", "verdict", OUTSIDE),
]


def steady_table(cells: Sequence[Cell]) -> Table:
    """One row per variant and rate."""
    return Table(["variant", *CELL_HEAD], [[cell.key[0], *_cell_row(cell)] for cell in cells])


def verdict(cells: Sequence[Cell]) -> Table:
    """Count the conditions of experiment 1 that hold."""
    must = [c for c in cells if c.rate in steady.MUST]
    goodput, drops = sum(c.goodput_within for c in must), sum(c.drops_within for c in must)
    orders = list(steady.orders(must))
    same = sum(order.same for order in orders)
    rows = [
        ["goodput within the rule", str(len(must)), str(goodput)],
        ["drop rate within the rule", str(len(must)), str(drops)],
        ["pair of variants in ns-2's order", str(len(orders)), str(same)],
    ]
    return Table(["condition", "cells", "hold"], rows)


def robust_table(cells: Sequence[Cell]) -> Table:
    """Differences over more repetitions: one row per rate and variant."""
    rows = []
    for rate in sorted({c.rate for c in cells}):
        chosen = {c.key[0]: c for c in cells if c.rate == rate}
        for variant in steady.VARIANTS:
            cell = chosen[variant]
            error = sd(cell.ours.goodput) / len(cell.ours.goodput) ** 0.5 / mean(cell.ours.goodput)
            within = "within" if cell.within else "outside"
            rows.append([str(rate), variant, _percent(cell.change), f"{100 * error:.1f}", within])
    return Table([RATE, "variant", "difference (%)", "difference (%) ±", "verdict"], rows)


def ack_delay_table(cells: Sequence[Cell]) -> Table:
    """Mean ACK delay of packets sent once, at the rates where the queue matters."""
    rows = []
    for rate in (5, 7, 8, 9):
        chosen = {c.key[0]: c for c in cells if c.rate == rate}
        for v in steady.VARIANTS:
            sides = (chosen[v].ours, chosen[v].theirs)
            rows.append([str(rate), v, *(f"{mean(side.ack_delay):.1f}" for side in sides)])
    return Table([RATE, "variant", "ACK delay (ms)", "ACK delay, ns-2 (ms)"], rows)


def pairs_table(cells: Sequence[Cell]) -> Table:
    """One row per pair, rate and flow."""
    rows = [[cell.key[0].replace("/", " / "), cell.key[1], *_cell_row(cell)] for cell in cells]
    return Table(["pair", "flow", *CELL_HEAD], rows)


def courses_table(courses: Sequence[Course]) -> Table:
    """Goodput before and during the CBR stream."""
    rows = []
    for course in courses:
        cell = course.cell
        line = [course.variant, course.queue]
        for span in (steady.BEFORE, steady.DURING):
            ours, theirs = course.part(span)
            line += [*_plus_minus(ours.goodput), *_plus_minus(theirs.goodput), _percent(_change(ours, theirs))]
        line += [f"{100 * mean(side.drop_rate):.2f}" for side in (cell.ours, cell.theirs)]
        rows.append([*line, *_verdict(cell)])
    head = ["variant", "queue"]
    for part in ("1 to 5 s", "6 to 25 s"):
        head += [part, f"{part} ±", f"{part}, ns-2", f"{part}, ns-2 ±", f"{part}, difference (%)"]
    return Table([*head, "drops (%)", "drops, ns-2 (%)", "verdict", OUTSIDE], rows)


def _change(ours: Sample, theirs: Sample) -> float:
    return mean(ours.goodput) / mean(theirs.goodput) - 1


def drops_table(cases: Sequence[timelines.Case]) -> Table:
    """Shares of cases that agree."""
    rows = []
    for variant in timelines.VARIANTS:
        a = timelines.agreement(variant, cases)
        counts = [f"{round(share * a.cases)}" for share in (a.sends, a.resent, a.timeouts, a.fast_retransmits)]
        low, middle, high = a.ratio
        rows.append([variant, str(a.cases), *counts, f"{middle:.3f}", f"{low:.3f} to {high:.3f}"])
    head = ["variant", "cases", "same packets in the same order", "same retransmissions", "as many timeouts"]
    head += ["as many fast retransmits", "time for 150 packets / ns-2's, median", "5 to 95 %"]
    return Table(head, rows)


def fall_floyd_table(cases: Sequence[timelines.Case]) -> Table:
    """Show each of the 1996 patterns: retransmissions and timeouts."""
    rows = []
    for case in cases:
        if case.kind != "fall-floyd":
            continue
        rows.append(
            [
                case.variant,
                " ".join(map(str, case.drops)),
                _numbers(case.ours.resent),
                "the same" if case.same_resent else _numbers(case.theirs.resent),
                *(str(side.timeouts) for side in (case.ours, case.theirs)),
                *(f"{side.took:.3f}" for side in (case.ours, case.theirs)),
            ]
        )
    rows.sort(key=lambda row: (len(row[1].split()), list(NAMES).index(row[0])))
    head = ["variant", "dropped", "sent again", "sent again, ns-2", "timeouts", "timeouts, ns-2"]
    return Table([*head, "150 packets (s)", "150 packets, ns-2 (s)"], rows)


def _numbers(numbers: Sequence[int]) -> str:
    """Write packet numbers with runs joined: 14 26-28."""
    parts: list[list[int]] = []
    for n in numbers:
        if parts and n == parts[-1][-1] + 1:
            parts[-1].append(n)
        else:
            parts.append([n])
    return " ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts) or "none"


# ---------------------------------------------------------------- figures


def _curves(look: str, label: str, x: Sequence[float], ours: Sequence[Sample], theirs: Sequence[Sample]) -> list[Curve]:
    """Two curves with one standard deviation each: here filled, ns-2 dashed and hollow."""

    def curve(name: str, style: str, samples: Sequence[Sample]) -> Curve:
        middle = np.array([mean(s.goodput) for s in samples])
        spread = np.array([sd(s.goodput) for s in samples])
        return Curve(name, style, np.array(x, dtype=np.float64), middle, middle - spread, middle + spread)

    return [curve(f"{label}, Dumbbell", look, ours), curve(f"{label}, ns-2", f"{look}:ns2", theirs)]


def _top(panels: Sequence[Panel]) -> float:
    """Upper end of the y axis that all panels share."""
    return 1.03 * max(float(curve.high.max()) for p in panels for curve in p.curves if curve.high is not None)


def _alike(panels: Sequence[Panel]) -> list[Panel]:
    top = _top(panels)
    return [replace(panel, y_top=top) for panel in panels]


TITLES = {
    "jittered": "Goodput against jittered CBR, window 20: Dumbbell and ns-2",
    "constant": "Goodput against CBR with constant intervals, window 20: Dumbbell and ns-2",
    "large-window": "Goodput against jittered CBR, window 1000: Dumbbell and ns-2",
}


def steady_picture(setting: str, cells: Sequence[Cell]) -> Picture:
    """Experiment 1: a panel for each variant."""
    panels = []
    for variant in steady.VARIANTS:
        own = [c for c in cells if c.key == (variant,)]
        x = [float(c.rate) for c in own]
        curves = _curves(variant, NAMES[variant], x, [c.ours for c in own], [c.theirs for c in own])
        panels.append(Panel(NAMES[variant], CBR, GOODPUT, curves))
    return Picture(f"validation-exp1-{setting}", TITLES[setting], "", _alike(panels), columns=3, share_y=True)


def pairs_picture(cells: Sequence[Cell]) -> Picture:
    """Experiment 2: a panel for each pair."""
    panels = []
    for first, second in steady.PAIRS:
        curves = []
        for look, name, which in ((first, "first", first), (second, "second", second)):
            own = [c for c in cells if c.key == (f"{first}/{second}", name)]
            style = look if first != second or name == "first" else "cubic"
            x = [float(c.rate) for c in own]
            label = f"{NAMES[which]} ({name})"
            curves += _curves(style, label, x, [c.ours for c in own], [c.theirs for c in own])
        panels.append(Panel(f"{NAMES[first]} / {NAMES[second]}", CBR, GOODPUT, curves))
    title = "Two flows against jittered CBR: Dumbbell and ns-2"
    return Picture("validation-exp2", title, "", _alike(panels), columns=2, share_y=True)


def courses_picture(courses: Sequence[Course]) -> Picture:
    """Experiment 3: goodput over time."""
    panels = []
    for course in courses:
        x: Floats = np.arange(course.ours.shape[1], dtype=np.float64) * steady.WIDTH + steady.WIDTH / 2
        curves = []
        for label, look, values in (
            ("Dumbbell", course.variant, course.ours),
            ("ns-2", f"{course.variant}:ns2", course.theirs),
        ):
            middle: Floats = values.mean(axis=0)
            spread: Floats = values.std(axis=0, ddof=1)
            name = f"{NAMES[course.variant]}, {label}"
            curves.append(Curve(name, look, x, middle, middle - spread, middle + spread))
        panels.append(Panel(f"{NAMES[course.variant]}, {course.queue}", "time, s", GOODPUT, curves))
    title = "Goodput over time, CBR of 6 Mbit/s from 5 s: Dumbbell and ns-2"
    return Picture("validation-exp3", title, "", _alike(panels), columns=2, markers=False, share_y=True)


# ---------------------------------------------------------------- files


def draw(pictures: Sequence[Picture], folder: Path) -> None:
    """Write PNG files."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        for picture in pictures:
            shutil.copy(save(picture, place).png, folder)
