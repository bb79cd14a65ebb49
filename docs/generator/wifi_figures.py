"""Figures of the Wi-Fi model and of cellular links, computed when the docs are built.

They show saturation beside Bianchi's model, throughput over the signal, and the performance anomaly with the airtime.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import dumbbell
from dumbbell import mahimahi
from dumbbell.plots.style import INK, MUTED, RC
from dumbbell.scenario.network.cellular import Cellular

SECONDS = 4
SCENARIO = """\
name = "wifi"
duration = "{seconds} s"
seed = 1

[network]
access = {{ rate = "1 Gbit/s", delay = "1 ms" }}

[network.bottleneck]
queue = {queue}
wifi = {wifi}

[trace]
series = ["queues"]
"""
IDLE = """
[[flows]]
name = "probe"
application = { kind = "ping", interval = "1 s" }
transport = "udp"
"""
STATIONS = (1, 2, 5, 10, 20, 30, 50)
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def all_figures() -> dict[str, Callable[[], bytes]]:
    """Return the drawing function of every figure by the figure's path in the docs."""
    drawn = {"saturation": saturation, "signal": signal, "anomaly": anomaly}
    found = {f"how-to/links/img/wifi-{name}.png": draw for name, draw in drawn.items()}
    return found | {"how-to/links/img/cellular.png": cellular}


def scenario(wifi: str, queue: str = '"droptail"', flows: str = IDLE) -> str:
    """Return the text of a scenario with this medium."""
    return SCENARIO.format(seconds=SECONDS, queue=queue, wifi=wifi) + flows


@cache
def stations(text: str) -> dict[str, Any]:
    """Run a scenario, and return the last row of each station, by column."""
    results = dumbbell.run(dumbbell.Scenario.from_toml(text))
    table = results.arrays(0, "wifi/r1->r2")
    last = table["t_ns"] == table["t_ns"].max()
    return {name: values[last] for name, values in table.items()}


def bianchi(n: int, rate: float) -> float:
    """Return the saturation throughput of n stations with packets of 1500 bytes over 11a [Bianchi 2000], Mbit/s.

    All devices wait EIFS after a collision.
    """

    def tau(p: float) -> float:
        return 2 / (1 + 16 + 16 * p * sum((2 * p) ** k for k in range(6)))

    low, high = 0.0, 1.0
    for _ in range(60):
        p = (low + high) / 2
        low, high = (p, high) if 1 - (1 - tau(p)) ** (n - 1) > p else (low, p)
    t = tau(low)

    def frame(size: int, mbit: float) -> float:
        return 20 + 4 * math.ceil((22 + 8 * size) / (4 * mbit))

    data, ack = frame(1536, rate), frame(14, max(r for r in (6, 12, 24) if r <= rate))
    success, collision = data + 16 + ack + 34, data + 16 + frame(14, 6) + 34
    some = 1 - (1 - t) ** n
    one = n * t * (1 - t) ** (n - 1)
    return one * 12000 / ((1 - some) * 9 + one * success + (some - one) * collision)


def saturation() -> bytes:
    """Draw the throughput of saturated stations over their number."""
    figure, axes = _axes(1)
    for rate, color in ((54, BLUE), (6, ORANGE)):
        measured = []
        for n in STATIONS:
            wifi = (
                f'{{ standard = "11a", signal = "-40 dBm", rate_control = {{ fixed = "{rate} Mbit/s" }}, '
                f"background = [{{ stations = {n} }}] }}"
            )
            measured.append(8e-6 * stations(scenario(wifi))["up_bytes"].sum() / SECONDS)
        every = np.arange(1, 51)
        axes[0].plot(
            every, [bianchi(int(n), rate) for n in every], color=color, lw=1.2, label=f"Bianchi, {rate} Mbit/s"
        )
        axes[0].plot(STATIONS, measured, "o", color=color, ms=5, label=f"simulated, {rate} Mbit/s")
    axes[0].set_xlabel("saturated stations")
    axes[0].set_ylabel("throughput (Mbit/s)")
    axes[0].set_ylim(0, None)
    axes[0].legend(ncols=2, loc="upper right", bbox_to_anchor=(1, 0.5))
    return _png(figure)


def signal() -> bytes:
    """Draw the throughput of one station over the signal."""
    figure, axes = _axes(1)
    levels = np.arange(-94, -44, 2)
    for standard, color in (("11g", BLUE), ("11n", ORANGE)):
        for control, line in (("ideal", "-"), ("minstrel_ht", "--")):
            measured = []
            for dbm in levels:
                wifi = (
                    f'{{ standard = "{standard}", signal = "{dbm} dBm", rate_control = "{control}", '
                    "background = [{ stations = 1 }] }"
                )
                measured.append(8e-6 * stations(scenario(wifi))["up_bytes"].sum() / SECONDS)
            axes[0].plot(levels, measured, line, color=color, lw=1.4, label=f"{standard}, {control}")
    axes[0].set_xlabel("signal (dBm)")
    axes[0].set_ylabel("throughput (Mbit/s)")
    axes[0].set_ylim(0, None)
    axes[0].legend(loc="upper left")
    # Path loss of 46.7 dB at 1 m (5.2 GHz, free space) and 30 dB per decade beyond, 20 dBm sent.
    metres = np.array([2, 5, 10, 20, 40, 80])
    above = axes[0].secondary_xaxis("top")
    above.set_xticks(20 - 46.7 - 30 * np.log10(metres), [str(m) for m in metres])
    above.set_xlabel("distance (m), with a path loss exponent of 3")
    return _png(figure)


def anomaly() -> bytes:
    """Draw throughput and airtime of a near and a far station, by the queue of the access point."""
    cases = [
        ("droptail", '{ discipline = "droptail", limit = "1000 packets" }', False),
        ("fq_codel", '"fq_codel"', False),
        ("fq_codel,\nairtime fairness", '"fq_codel"', True),
    ]
    flows = "".join(
        f'\n[[flows]]\nname = "{name}"\napplication = {{ kind = "cbr", rate = "70 Mbit/s", packet = "1500 bytes" }}\n'
        'transport = "udp"\n'
        for name in ("near", "far")
    )
    rates, shares = [], []
    for _, queue, fair in cases:
        wifi = (
            '{ standard = "11n", signal = "-45 dBm", stations = { d2 = { signal = "-85 dBm" } }, '
            f'rate_control = "ideal", airtime_fairness = {str(fair).lower()} }}'
        )
        rows = stations(scenario(wifi, queue, flows))
        rates.append(8e-6 * rows["down_bytes"] / SECONDS)
        shares.append(rows["down_airtime_ns"] * 1e-9 / SECONDS)
    figure, axes = _axes(2)
    places = np.arange(len(cases))
    for number, (name, color) in enumerate((("near, -45 dBm", BLUE), ("far, -85 dBm", ORANGE))):
        for axis, values in zip(axes, (rates, shares), strict=True):
            bars = axis.bar(places + 0.38 * (number - 0.5), [v[number] for v in values], 0.36, color=color, label=name)
            axis.bar_label(bars, fmt="%.1f" if axis is axes[0] else "%.2f", fontsize=8, color=INK)
    for axis, title in zip(axes, ("throughput (Mbit/s)", "share of the time"), strict=True):
        axis.set_xticks(places, [name for name, *_ in cases], fontsize=8)
        axis.set_ylabel(title)
        axis.grid(axis="x", visible=False)
    axes[1].axhline(0.5, color=MUTED, lw=0.8, ls=":")
    axes[0].legend(loc="upper left")
    return _png(figure)


def _axes(columns: int) -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rc: Any = RC
    mpl.rcParams.update(rc)
    figure, axes = plt.subplots(1, columns, figsize=(7.6, 3.4), layout="constrained", squeeze=False)
    return figure, axes[0]


def _png(figure: Any) -> bytes:
    from matplotlib import pyplot as plt

    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=150, metadata={"Software": None})
    plt.close(figure)
    return target.getvalue()


def cellular() -> bytes:
    """Draw the rates of the generated cellular traces, and one around a handover."""
    figure, axes = _axes(2)

    def rates(trace: mahimahi.Trace, mean_ms: int) -> Any:
        """Return the rates of the trace in Mbit/s, each over so many ms."""
        counts = np.bincount((trace.times - 1) // mean_ms, trace.counts, minlength=trace.period // mean_ms)
        return counts * mahimahi.OPPORTUNITY * 8e-3 / mean_ms

    for kind, color in (("lte", BLUE), ("5g", ORANGE)):
        trace = Cellular.model_validate({"cellular": kind}).trace
        axes[0].plot(np.arange(600) / 10, rates(trace, 100)[:600], color=color, lw=1, label=kind)
    lte = Cellular.model_validate({"cellular": "lte"}).trace
    # The share of 30 % leaves gaps of some ms between grants; only a handover is longer than 40 ms.
    gap = int(np.flatnonzero(np.diff(lte.times) >= 40)[0])
    start, end = lte.times[gap], lte.times[gap + 1]
    shown = np.arange(start // 10 - 50, end // 10 + 50)
    axes[1].plot(shown / 100, rates(lte, 10)[shown], color=BLUE, lw=1, drawstyle="steps-post")
    for edge in (start, end):
        axes[1].axvline(edge / 1000, color=MUTED, lw=0.8, ls=":")
    axes[1].set_xlabel("time (s)")
    axes[1].set_ylabel("rate of lte (Mbit/s)")
    axes[1].set_ylim(0, None)
    axes[0].set_xlabel("time (s)")
    axes[0].set_ylabel("rate (Mbit/s)")
    axes[0].set_yscale("log")
    axes[0].set_ylim(1, None)
    axes[0].legend(loc="lower right")
    return _png(figure)
