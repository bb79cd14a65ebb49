"""The report's figures: part 1 as bars, part 2 as matrices and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from dumbbell.metrics import harm, summarize
from dumbbell.plots import Curve, Panel, Picture, sampled
from dumbbell.plots.spec import Grid
from dumbbell.studies import reference
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Over, Pairs, pair_name
from dumbbell.studies.geni_fairness.fits import THIRDS, UNLIKE, reported_of
from dumbbell.studies.geni_fairness.paths import Path, short
from dumbbell.studies.geni_fairness.quantities import WITHOUT_BBR
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["Harmed", "pictures"]

NAMES = [LABELS[v] for v in VARIANTS]
GOODPUT = "goodput (Mbit/s)"
BESIDE_BBR = [(a, b) for a in VARIANTS for b in VARIANTS if "bbr" in (a, b)]


class Harmed:
    """Harm in the experiment `pairs`: the goodput that each flow loses to the other."""

    def __init__(self, pairs: Pairs, solo: Mapping[str, Floats]) -> None:
        self._pairs, self._solo = pairs, solo

    def to_first(self, first: str, second: str) -> Floats:
        """Return the harm to the flow that starts first, by repetition; (n,) float64."""
        n = self._pairs.n
        return harm(self._solo[first][:n], self._pairs.both(first, second)[:, 0])


def pictures(
    part1: Alone, jitter: Alone, path: Path, depths: Mapping[Path, Pairs], over: Over, harmed: Harmed,
    reported: Sequence[Sequence[float]],
) -> list[Picture]:  # fmt: skip
    """Draw all of it; `path` is the setting of the matrix and of the series."""
    pairs = depths[path]
    return [
        _throughput(part1),
        _delay(part1),
        _matrix(path, pairs, reported),
        _over_time(over, WITHOUT_BBR, reported, "fig3-over-time", "Figure 3: throughput over time, pairs without BBR"),
        _over_time(over, BESIDE_BBR, reported, "fig3-over-time-bbr", "Figure 3: throughput over time, pairs with BBR"),
        _jitter(jitter),
        _depths(path, depths),
        _shares(path, depths),
        _harm(harmed),
    ]


def _throughput(part1: Alone) -> Picture:
    panel = _bars(part1, "goodput_bps", "iperf", f"median of {part1.n} repetitions", GOODPUT)
    middles = _middles(part1, "goodput_bps", "iperf")
    thirds = THIRDS * (middles["Reno"] + middles["CUBIC"]) / 2
    marked = reference.points([1.0], [thirds], "Vegas, two thirds of the others (3.2)")
    title = "Figure 1: throughput of one flow over one hop and over two"
    return Picture("fig1-throughput", title, _reading(middles), [replace(panel, curves=[*panel.curves, marked])])


def _delay(part1: Alone) -> Picture:
    """Draw the pings before and beside the flow: the report doesn't state which of them its figure has."""
    label = "mean RTT of ten pings (ms)"
    panels = [
        _bars(part1, "rtt_mean_ms", flow, f"ping {when} the flow, median of {part1.n} repetitions", label)
        for flow, when in (("idle ping", "before"), ("ping", "beside"))
    ]
    reading = f"Beside the flow. {_reading(_middles(part1, 'rtt_mean_ms', 'ping'))}"
    return Picture("fig1-rtt", "Figure 1: delay over one hop and over two", reading, panels, columns=2, share_y=True)


def _bars(part1: Alone, metric: str, flow: str, title: str, label: str) -> Panel:
    curves = [
        sampled(LABELS[v], v, [part1.get(metric, v, hops, flow=flow) for hops in (1, 2)], kind="bars") for v in VARIANTS
    ]
    return Panel(title, "", label, curves, categories=["one hop (PC1 to delay node)", "two hops (PC1 to PC2)"])


def _middles(part1: Alone, metric: str, flow: str) -> dict[str, float]:
    return {LABELS[v]: summarize(part1.get(metric, v, 2, flow=flow)).value for v in VARIANTS}


def _reading(middles: Mapping[str, float]) -> str:
    return f"Over two hops: {', '.join(f'{n} {x:.3g}' for n, x in middles.items())}."


def _matrix(path: Path, pairs: Pairs, reported: Sequence[Sequence[float]]) -> Picture:
    values, texts = np.zeros((4, 4)), [["" for _ in VARIANTS] for _ in VARIANTS]
    for r, a in enumerate(VARIANTS):
        for c, b in enumerate(VARIANTS):
            one, two = (summarize(x) for x in pairs.both(a, b).T)
            values[r, c] = summarize(pairs.share(a, b)).value
            texts[r][c] = (
                f"{one.value:.1f} [{one.low:.1f}, {one.high:.1f}]\n{two.value:.1f} [{two.low:.1f}, "
                f"{two.high:.1f}]\nJ {summarize(pairs.jain(a, b)).value:.2f}\nreport {_cell_text(reported, a, b)}"
            )
    grid = Grid(NAMES, NAMES, values, texts, "share of the first", low=0.0, high=1.0, diverging=True)
    far = max(((a, b) for a in VARIANTS for b in VARIANTS), key=lambda p: _off(pairs, reported, *p))
    reading = (
        f"With {path.words}. Furthest from the report: {pair_name(*far)}, where the first gets "
        f"{summarize(pairs.both(*far)[:, 0]).value:.1f} Mbit/s and not "
        f"{reported[VARIANTS.index(far[0])][VARIANTS.index(far[1])]:.1f}."
    )
    panel = Panel("", "starts second", "starts first", [], grid=grid)
    title = (
        "Table 1: goodput, first above second, Mbit/s [95 % interval]; the report's of the first, and of the second "
        "if one run gave both cells"
    )
    return Picture("table1-matrix", title, reading, [panel])


def _cell_text(reported: Sequence[Sequence[float]], a: str, b: str) -> str:
    """Write the report's number of a run; of a run that gave two cells in reading B, both."""
    own = f"{reported_of(reported, (a, b)):.1f}"
    return f"{own}; {reported_of(reported, (b, a)):.1f}" if (a, b) in UNLIKE else own


def _off(pairs: Pairs, reported: Sequence[Sequence[float]], a: str, b: str) -> float:
    return abs(summarize(pairs.both(a, b)[:, 0]).value - reported[VARIANTS.index(a)][VARIANTS.index(b)])


def _over_time(
    over: Over, cells: Sequence[tuple[str, str]], reported: Sequence[Sequence[float]], name: str, title: str
) -> Picture:
    middle = (over.edges[:-1] + over.edges[1:]) / 2
    panels = []
    for a, b in cells:
        rates = over.rates(a, b)
        looks = (a, b if b != a else f"{b}:2")
        curves = [
            Curve(f"{LABELS[v]}{'' if a != b else f' {word}'}", look, middle, rates[:, k])
            for k, (v, word, look) in enumerate(zip((a, b), ("first", "second"), looks, strict=True))
        ]
        panel = Panel(pair_name(a, b), "time (s)", GOODPUT, curves, y_top=100.0)
        lines = [reference.level(panel, reported_of(reported, (a, b)), "mean of the first (Table 1)")]
        if (a, b) in UNLIKE:
            second = reference.level(panel, reported_of(reported, (b, a)), "mean of the second, if of the same run")
            lines.append(replace(second, look=f"{reference.LOOK}:2"))
        panels.append(replace(panel, curves=[*curves, *lines]))
    moved = {p: float(np.median(over.restless(*p))) for p in cells}
    most, least = max(moved, key=lambda p: moved[p]), min(moved, key=lambda p: moved[p])
    reading = (
        f"First repetition, by second. In the second half the share moves most for {pair_name(*most)} (standard "
        f"deviation {moved[most]:.3f}) and least for {pair_name(*least)} ({moved[least]:.3f})."
    )
    return Picture(name, title, reading, panels, columns=3, markers=False)


def _jitter(jitter: Alone) -> Picture:
    steps = [str(j) for h, j in jitter.points if h == 1]
    panels = []
    for hops, words in ((1, "one hop"), (2, "two hops")):
        curves = [sampled(LABELS[v], v, [jitter.get("goodput_bps", v, hops, j) for j in steps]) for v in VARIANTS]
        if hops == 2:
            others = [np.mean([jitter.get("goodput_bps", v, 2, j) for v in ("reno", "cubic")]) for j in steps]
            x = np.arange(len(steps))
            curves.append(reference.points(x, THIRDS * np.array(others), "Vegas, two thirds of the others (3.2)"))
        panels.append(Panel(words, "jitter of each hop (uniform, order kept)", GOODPUT, curves, categories=steps))
    named = "0.25 ms" if "0.25 ms" in steps else steps[-1]
    one, two = (summarize(jitter.part(h, named)).value for h in (1, 2))
    kept = min(
        summarize(jitter.get("goodput_bps", v, h, j)).value / summarize(jitter.get("goodput_bps", v, h, steps[0])).value
        for v in ("reno", "cubic")
        for h in (1, 2)
        for j in steps
    )
    reading = (
        f"With a jitter of {named} a hop Vegas gets {one:.2f} of Reno's and CUBIC's mean over one hop and {two:.2f} "
        f"over two; Reno and CUBIC keep at least {100 * kept:.1f} % of their goodput with {steps[0]} at every jitter."
    )
    return Picture("extra1-jitter", "Part 1 with jitter: goodput", reading, panels, columns=2, share_y=True)


def _depths(path: Path, depths: Mapping[Path, Pairs]) -> Picture:
    """Draw the share of one variant beside another over the buffer, both orders together, at the fit otherwise."""
    found = {p.buffer: pairs for p, pairs in depths.items() if p._replace(buffer=path.buffer) == path}
    order = sorted(found, key=lambda w: int(w.split()[0]))
    x = np.array([int(w.split()[0]) for w in order], dtype=np.float64)
    panels = []
    for v in VARIANTS:
        curves = [
            sampled(f"beside {LABELS[w]}", w, [_shared(found[d], v, w) for d in order], x, dots=False)
            for w in VARIANTS
            if w != v
        ]
        panels.append(Panel(f"share of {LABELS[v]}", "buffer (packets)", "share", curves, x_log=True, y_top=1.0))
    shallow, deep = (summarize(_shared(found[d], "bbr", "cubic")).value for d in (order[0], order[-1]))
    why = " BBR's window has at most twice its bandwidth-delay product, CUBIC's grows with the buffer."
    reading = (
        f"Both orders together. BBR takes {100 * shallow:.0f} % beside CUBIC with {order[0]} and {100 * deep:.0f} "
        f"% with {order[-1]}.{why if deep < shallow else ''}"
    )
    title = f"Part 2: shares over the buffer, RTT {path.rtt}, jitter {path.jitter} a hop"
    return Picture("extra2-buffers", title, reading, panels, columns=2, share_y=True)


def _shared(pairs: Pairs, one: str, other: str) -> Floats:
    return np.asarray((pairs.share(one, other) + 1 - pairs.share(other, one)) / 2)


def _shares(path: Path, depths: Mapping[Path, Pairs]) -> Picture:
    """Draw the shares at settings that differ from the fit in the buffer, the jitter or the round trip."""
    near = [p for p in depths if p != path and sum(a != b for a, b in zip(p, path, strict=True)) == 1]
    shown = [p for p in near if p.jitter == path.jitter or p.jitter.startswith("0 ")] or near
    panels = []
    for p in shown:
        values = np.array([[summarize(depths[p].share(a, b)).value for b in VARIANTS] for a in VARIANTS])
        texts = [[f"{100 * x:.0f} %" for x in row] for row in values]
        grid = Grid(NAMES, NAMES, values, texts, "share of the first", low=0.0, high=1.0, diverging=True)
        panels.append(Panel(short(p, path), "starts second", "starts first", [], grid=grid))
    self_share = {short(p, path): summarize(depths[p].share("vegas", "vegas")).value for p in shown}
    reading = "Share of Vegas that starts first beside Vegas: " + ", ".join(
        f"{100 * s:.0f} % ({w})" for w, s in self_share.items()
    )
    title = f"Part 2: share of the first, where one thing differs from {path.words}"
    return Picture("extra3-shares", title, reading + ".", panels, columns=2)


def _harm(harmed: Harmed) -> Picture:
    values = np.array([[summarize(harmed.to_first(a, b)).value for b in VARIANTS] for a in VARIANTS])
    texts = [[f"{x:.2f}" for x in row] for row in values]
    grid = Grid(NAMES, NAMES, values, texts, "harm to the first", low=0.0, high=1.0)
    worst = np.unravel_index(np.argmax(values), values.shape)
    reading = (
        f"Half is what equal sharing costs. Most harm: {NAMES[worst[1]]} to {NAMES[worst[0]]}, "
        f"{values[worst]:.2f} of its goodput alone. By that measure a new variant may be deployed that harms an "
        "old one no more than the old one harms itself."
    )
    panel = Panel("", "the other", "harmed (starts first)", [], grid=grid)
    return Picture("extra4-harm", "Harm: goodput lost beside the other flow, as a part of that alone", reading, [panel])
