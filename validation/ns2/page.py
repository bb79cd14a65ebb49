"""What of the comparison goes into docs/validation.md: Markdown tables between markers, and figures."""

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
from steady import Cell, Course, Floats, Sample, mean, sd

CBR = "CBR rate, Mbit/s"
GOODPUT = "TCP goodput, Mbit/s"
NAMES = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno", "sack": "SACK", "vegas": "Vegas"}


# ---------------------------------------------------------------- tables


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a Markdown table: first column to the left, the others to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])


def _plus_minus(values: Sequence[float], digits: int = 3) -> str:
    return f"{mean(values):.{digits}f} ± {sd(values):.{digits}f}"


def _verdict(cell: Cell) -> str:
    missed = [word for word, flag in (("goodput", cell.goodput_within), ("drops", cell.drops_within)) if not flag]
    return "within" if not missed else f"**{' and '.join(missed)} differ**"


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _cell_row(cell: Cell) -> list[str]:
    return [
        NAMES.get(cell.key[0], cell.key[0]),
        str(cell.rate),
        _plus_minus(cell.ours.goodput),
        _plus_minus(cell.theirs.goodput),
        _percent(cell.change),
        f"{100 * mean(cell.ours.drop_rate):.2f}",
        f"{100 * mean(cell.theirs.drop_rate):.2f}",
        f"{mean(cell.ours.timeouts):.1f}",
        f"{mean(cell.theirs.timeouts):.1f}",
        _verdict(cell),
    ]


CELL_HEAD = ["variant", "CBR", "goodput", "ns-2", "differs by", "drops %", "ns-2", "timeouts", "ns-2", "verdict"]


def steady_table(cells: Sequence[Cell]) -> str:
    """One line for each variant and rate."""
    return table(CELL_HEAD, [_cell_row(cell) for cell in cells])


def verdict(cells: Sequence[Cell], failed: Sequence[str]) -> str:
    """Say what of experiment 1 holds."""
    must = [c for c in cells if c.rate in steady.MUST]
    goodput, drops = sum(c.goodput_within for c in must), sum(c.drops_within for c in must)
    orders = list(steady.orders(must))
    same = sum(order.same for order in orders)
    lines = [
        f"Of {len(must)} cells that must hold, **{goodput}** do in goodput and **{drops}** in drop rate. "
        f"ns-2's spread separates {len(orders)} pairs of variants; **{same}** have the same order here."
    ]
    if failed:
        lines += ["", "Not holding:", "", *[f"- {line}" for line in failed]]
    return "\n".join(lines)


def robust_table(cells: Sequence[Cell]) -> str:
    """Differences over more repetitions: one line for each rate, one column for each variant."""
    rows = []
    for rate in sorted({c.rate for c in cells}):
        chosen = {c.key[0]: c for c in cells if c.rate == rate}
        entries = []
        for variant in steady.VARIANTS:
            cell = chosen[variant]
            error = sd(cell.ours.goodput) / len(cell.ours.goodput) ** 0.5 / mean(cell.ours.goodput)
            entries.append(f"{_percent(cell.change)} (± {100 * error:.1f})" + ("" if cell.within else " **differs**"))
        rows.append([str(rate), *entries])
    return table(["CBR", *NAMES.values()], rows)


def rtt_table(cells: Sequence[Cell]) -> str:
    """Mean RTT of packets sent once, at the rates where it says something."""
    rows = []
    for rate in (5, 7, 8, 9):
        chosen = {c.key[0]: c for c in cells if c.rate == rate}
        pairs = [
            f"{mean(chosen[v].ours.rtt_single):.1f} / {mean(chosen[v].theirs.rtt_single):.1f}"
            for v in steady.VARIANTS
        ]
        rows.append([str(rate), *pairs])
    return table(["CBR", *NAMES.values()], rows)


def pairs_table(cells: Sequence[Cell]) -> str:
    """One line for each pair, rate and flow."""
    rows = []
    for cell in cells:
        first, second = cell.key[0].split("/")
        name = f"{NAMES[first]} / {NAMES[second]}, {cell.key[1]}"
        rows.append([name, *_cell_row(cell)[1:]])
    return table(["pair, flow", *CELL_HEAD[1:]], rows)


def courses_table(courses: Sequence[Course]) -> str:
    """Goodput before and during the CBR stream."""
    rows = []
    for course in courses:
        cell = course.cell
        line = [f"{NAMES[course.variant]}, {course.queue}"]
        for part in (steady.BEFORE, steady.DURING):
            ours, theirs = course.part(part)
            line += [_plus_minus(ours.goodput), _plus_minus(theirs.goodput), _percent(_change(ours, theirs))]
        line += [f"{100 * mean(cell.ours.drop_rate):.2f}", f"{100 * mean(cell.theirs.drop_rate):.2f}", _verdict(cell)]
        rows.append(line)
    head = ["flow, queue", "1 to 5 s", "ns-2", "differs by", "6 to 25 s", "ns-2", "differs by", "drops %", "ns-2"]
    return table([*head, "verdict"], rows)


def _change(ours: Sample, theirs: Sample) -> float:
    return mean(ours.goodput) / mean(theirs.goodput) - 1


def drops_table(cases: Sequence[timelines.Case]) -> str:
    """Shares of cases that agree."""
    rows = []
    for variant in timelines.VARIANTS:
        a = timelines.agreement(variant, cases)
        counts = [f"{round(share * a.cases)}" for share in (a.sends, a.resent, a.timeouts, a.fast_retransmits)]
        low, middle, high = a.ratio
        rows.append([NAMES[variant], str(a.cases), *counts, f"{middle:.3f}", f"{low:.3f} to {high:.3f}"])
    head = ["variant", "cases", "same packets sent in the same order", "same retransmissions", "as many timeouts"]
    head += ["as many fast retransmits", "time for 150 packets / ns-2's: median", "5 to 95 %"]
    return table(head, rows)


def fall_floyd_table(cases: Sequence[timelines.Case]) -> str:
    """Show each of the 1996 patterns: what is sent again, timeouts."""
    rows = []
    for case in cases:
        if case.kind != "fall-floyd":
            continue
        rows.append(
            [
                NAMES[case.variant],
                " ".join(map(str, case.drops)),
                _numbers(case.ours.resent),
                "the same" if case.same_resent else _numbers(case.theirs.resent),
                f"{case.ours.timeouts} / {case.theirs.timeouts}",
                f"{case.ours.took:.3f} / {case.theirs.took:.3f}",
            ]
        )
    rows.sort(key=lambda row: (len(row[1].split()), list(NAMES.values()).index(row[0])))
    return table(["variant", "dropped", "sent again", "in ns-2", "timeouts / ns-2", "s for 150 packets / ns-2"], rows)


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


def _curves(
    look: str, label: str, x: Sequence[float], ours: Sequence[Sample], theirs: Sequence[Sample]
) -> list[Curve]:
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
