"""Figures made by Dumbbell itself: each is one small scenario, run when the docs are built.

``python docs/generator/figures.py`` draws the figure of the README, ``docs/img/overview.png``.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import dumbbell
from dumbbell import registry
from dumbbell.plots.downsample import summary_of_steps
from dumbbell.plots.style import INK, MUTED, RC, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASE = """\
name = "{name}"
duration = "{duration}"
seed = 1

[network]
topology = "dumbbell" # round trip: 2 x (1 + 18 + 1) ms = 40 ms
bottleneck = {{ rate = "10 Mbit/s", delay = "18 ms", queue = {queue} }}
access = {{ rate = "100 Mbit/s", delay = "1 ms" }}

[trace]
series = true
"""
FLOW = """
[[flows]]
name = "{name}"
variant = "{variant}"
start = "{start}"
"""
RATE, MSS = 10e6, 1448
"""Bottleneck, bit/s; payload of a full segment, bytes (1460 minus 12 of timestamps)."""
BDP = RATE * 0.04 / 8 / 1500
"""Packets of 1500 bytes."""
QUEUES = {
    "red": '{ discipline = "red", limit = "2 bdp", mean_packet = "1500 bytes" }',
    "drr": '{ discipline = "drr", limit = "1 bdp" }',
    "blue": '{ discipline = "blue", limit = "2 bdp", increment = "1 %", decrement = "0.1 %" }',
    "cake": '{ discipline = "cake", bandwidth = "9 Mbit/s" }',
    "tbf": '{ discipline = "tbf", rate = "5 Mbit/s", burst = "30 kB", limit = "1 bdp" }',
    **{name: f'"{name}"' for name in ("codel", "pie", "pi2", "dualpi2", "fq_codel", "fq_pie")},
}
"""The queue in a discipline's figure, where it isn't just a limit of one BDP."""
CLASSES = {"prio": {"reno": 1}}
"""Classes of the flows in a discipline's figure, where they aren't all 0."""
MEAN_OVER = 0.1
"""Window of the backlog's mean and range, s."""
DROP = "#D55E00"
NOTE: dict[str, Any] = {"fontsize": 8, "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}}


@dataclass(frozen=True)
class Figure:
    """A figure: the name of its file, the scenario, the function that draws it, and its texts."""

    name: str
    scenario: str
    draw: Callable[[], bytes]
    alt: str
    caption: str


def all_figures() -> dict[str, Callable[[], bytes]]:
    """Return the drawing function of every figure by the figure's path in the docs."""
    found = {f"reference/variants/img/{v}.png": variant(v).draw for v in registry.variants()}
    found |= {f"reference/disciplines/img/{d}.png": discipline(d).draw for d in registry.disciplines()}
    return found


@cache
def variant(name: str) -> Figure:
    """One flow alone, on the default stack unless that replaces the variant's own loss recovery."""
    stack, *_ = [*registry.recovery_stacks(name), registry.default_stack()]
    text = _alone(name, stack)
    return Figure(
        name,
        text,
        partial(_draw_variant, name, text),
        f"Congestion window and queue over 20 s of one {name} flow",
        f"One {name} flow over a bottleneck of 10 Mbit/s with a round trip of 40 ms and a tail-drop queue of one "
        f"bandwidth-delay product (33 packets), on the stack {stack}. Above: "
        "congestion window and slow start threshold in segments; shaded: recovery (orange) and after a timeout "
        "(gray). Below: packets waiting at the bottleneck, mean and range of 0.1 s, and drops (red ticks).",
    )


def _alone(variant: str, stack: str) -> str:
    flow = FLOW.format(name="flow", variant=variant, start="0 s") + f'stack = "{stack}"\n'
    return BASE.format(name=variant, duration="20 s", queue='{ discipline = "droptail", limit = "1 bdp" }') + flow


@cache
def discipline(name: str) -> Figure:
    """Two flows, the second from 5 s on."""
    queue = QUEUES.get(name, f'{{ discipline = "{name}", limit = "1 bdp" }}')
    flows = "".join(
        FLOW.format(name=flow, variant=flow, start=start)
        + (f"class = {CLASSES[name][flow]}\n" if flow in CLASSES.get(name, {}) else "")
        for flow, start in (("reno", "0 s"), ("cubic", "5 s"))
    )
    text = BASE.format(name=name, duration="20 s", queue=queue) + flows
    return Figure(
        name,
        text,
        partial(_draw_discipline, name, text),
        f"Backlog, drops and rates of two flows over 20 s through {name}",
        f"A Reno flow, joined by a CUBIC flow after 5 s, over a bottleneck of 10 Mbit/s with a round trip of 40 ms "
        f"and the queue <code>{queue}</code>. Above: packets waiting, mean and range of 0.1 s, with a tick for each "
        "drop in the color of its flow. Below: the rate that the link sends of each flow, means over 0.5 s.",
    )


def _run(text: str) -> Any:
    return dumbbell.run(dumbbell.Scenario.from_toml(text))


def _png(figure: Any) -> bytes:
    target = io.BytesIO()
    # Without the software's version in it the same picture is the same file.
    figure.savefig(target, format="png", dpi=150, metadata={"Software": None})
    return target.getvalue()


def _subplots(*args: Any, **kwargs: Any) -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rc: Any = RC
    mpl.rcParams.update(rc)
    return plt.subplots(*args, layout="constrained", **kwargs)


def _close(figure: Any) -> None:
    from matplotlib import pyplot as plt

    plt.close(figure)


def _window(axes: Axes, flow: Any, color: str, *, until: float, bare: bool = False) -> None:
    """Draw cwnd and ssthresh in segments, recovery shaded; ``bare``: cwnd alone, without its inflation."""
    t = np.append(flow["t_ns"] * 1e-9, until)
    phase = np.append(flow["phase"], flow["phase"][-1])
    for word, shade in (("recovery", "#E69F00"), ("timeout", "#999999")):
        code = registry.phases().index(word)
        axes.fill_between(
            t,
            0,
            1,
            where=phase == code,
            step="post",
            transform=axes.get_xaxis_transform(),
            color=shade,
            alpha=0.3,
            lw=0,
        )
    cwnd = np.append(flow["cwnd"], flow["cwnd"][-1]) / MSS
    if bare:
        recovering = phase == registry.phases().index("recovery")
        cwnd = np.where(recovering, np.minimum(cwnd, np.append(flow["ssthresh"], 0) / MSS), cwnd)
    else:
        threshold = np.append(flow["ssthresh"], flow["ssthresh"][-1]) / MSS
        axes.step(
            t,
            np.where(threshold > 4 * cwnd.max(), np.nan, threshold),
            where="post",
            color=MUTED,
            lw=1,
            ls="--",
            label="ssthresh",
        )
    axes.step(t, cwnd, where="post", color=color, label="cwnd")
    # Fast recovery inflates the window for a moment: the axis is chosen for the rest of the time.
    top = 1.06 * max(cwnd[phase != registry.phases().index("recovery")].max(), 2.2 * BDP)
    if cwnd.max() > 1.5 * top:
        axes.annotate(
            f"inflated to {cwnd.max():.0f}",
            (t[cwnd.argmax()], top),
            xytext=(6, -10),
            textcoords="offset points",
            **NOTE,
        )
    axes.set_ylim(0, top)


def _backlog(axes: Axes, results: Any, *, until: float, drops: bool = True) -> Any:
    queue = results.arrays(0, "queue/r1->r2")
    edges = np.arange(0, until + MEAN_OVER / 2, MEAN_OVER)
    t, packets = np.append(0.0, queue["t_ns"] * 1e-9), np.append(0.0, queue["packets"])
    mean, low, high = summary_of_steps(t, packets, edges)
    middle = (edges[:-1] + edges[1:]) / 2
    axes.fill_between(middle, low, high, color=INK, alpha=0.25, lw=0)
    axes.plot(middle, mean, color=INK, lw=1.2, label="waiting")
    lost = results.arrays(0, "drops/r1->r2")
    if drops and lost["t_ns"].size:
        _ticks(axes, lost["t_ns"] * 1e-9, DROP)
    axes.set_ylim(0, None)
    return queue


def _ticks(axes: Axes, times: Any, color: str, level: float = 1.0) -> None:
    axes.plot(
        times,
        np.full(times.shape, level),
        "|",
        color=color,
        ms=7,
        mew=1.2,
        clip_on=False,
        transform=axes.get_xaxis_transform(),
        zorder=3,
    )


def _draw_variant(name: str, text: str) -> bytes:
    results = _run(text)
    flow = results.arrays(0, "flow/flow")
    figure, (above, below) = _subplots(2, 1, figsize=(7.6, 4.4), sharex=True, height_ratios=[3, 2])
    _window(above, flow, look(name).color, until=20)
    above.axhline(2 * BDP, color=INK, lw=0.8, ls=":")
    above.annotate("BDP + queue", (20, 2 * BDP), xytext=(0, 3), textcoords="offset points", ha="right", **NOTE)
    above.set_ylabel("window (segments)")
    above.legend(loc="lower right", ncols=2)
    _backlog(below, results, until=20)
    below.set_ylabel("queue (packets)")
    below.set_xlabel("time (s)")
    below.set_xlim(0, 20)
    content = _png(figure)
    _close(figure)
    return content


def _draw_discipline(name: str, text: str) -> bytes:
    results = _run(text)
    figure, (above, below) = _subplots(2, 1, figsize=(7.6, 4.6), sharex=True, height_ratios=[3, 2])
    queue = _backlog(above, results, until=20, drops=False)
    if "avg" in queue:
        above.step(queue["t_ns"] * 1e-9, queue["avg"], where="post", color=look(name).color, lw=1.8, label="average")
    lost = results.arrays(0, "drops/r1->r2")
    for number, flow in enumerate(("reno", "cubic")):
        times = lost["t_ns"][lost["flow"] == 2 * number] * 1e-9
        _ticks(above, times, look(flow).color, 1.0 + 0.045 * number)
        sent = results.arrays(0, "departures/r1->r2")
        mine = sent["flow"] == 2 * number
        edges = np.arange(0, 20.01, 0.5)
        volume, _ = np.histogram(sent["t_ns"][mine] * 1e-9, edges, weights=sent["bytes"][mine])
        style = {"color": look(flow).color, "marker": look(flow).marker, "ms": 3.5}
        below.plot(edges[:-1] + 0.25, 8e-6 * volume / 0.5, label=flow, **style)
    above.set_ylabel("queue (packets)")
    if "avg" in queue:
        above.legend(loc="upper right", ncols=2)
    below.set_ylabel("sent (Mbit/s)")
    below.set_xlabel("time (s)")
    below.set_xlim(0, 20)
    below.set_ylim(0, 10.5)
    below.legend(loc="upper right", ncols=2)
    content = _png(figure)
    _close(figure)
    return content


OVERVIEW = ("tahoe", "reno", "vegas", "cubic")


def overview() -> bytes:
    """Draw the README's figure: windows and queue of four variants on the same path and stack."""
    figure, axes = _subplots(2, 4, figsize=(11, 4), sharex=True, sharey="row", height_ratios=[3, 2])
    top = 0.0
    for column, name in enumerate(OVERVIEW):
        results = _run(_alone(name, registry.default_stack()))
        _window(axes[0, column], results.arrays(0, "flow/flow"), look(name).color, until=20, bare=True)
        top = max(top, axes[0, column].get_ylim()[1])
        goodput = results.flows["goodput_bps"][0] * 1e-6
        axes[0, column].set_title(f"{name}: {goodput:.2f} Mbit/s")
        _backlog(axes[1, column], results, until=20)
        axes[1, column].set_xlabel("time (s)")
    axes[0, 0].set_ylim(0, top)
    axes[0, 0].set_ylabel("cwnd (segments)")
    axes[1, 0].set_ylabel("queue (packets)")
    axes[1, 0].set_xlim(0, 20)
    content = _png(figure)
    _close(figure)
    return content


if __name__ == "__main__":
    target = Path(__file__).resolve().parents[1] / "img" / "overview.png"
    target.write_bytes(overview())
    print(target)
