"""Figures 13 to 16 of the report: DropTail and RED over time; beside them larger queues and the inside of a run."""

from __future__ import annotations

from functools import partial

import numpy as np

from dumbbell.plots import Curve, Mark, Panel, Picture, sampled
from dumbbell.studies.ns2_cbr.data_exp3 import CBR_START, EDGES, PACKET, QUEUES, Experiment3
from dumbbell.studies.partial import made
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["pictures"]

REPORT = ("droptail", "red")
PLAIN = {"droptail": "DropTail", "red": "RED"}
SHORT = {
    "droptail": "DropTail 10 packets",
    "red": "RED defaults",
    "droptail-bdp": "DropTail 1 BDP",
    "red-bdp": "RED suited",
}
TIME = "time (s)"
THROUGHPUT, LATENCY = "throughput (Mbit/s)", "latency, from first sending (ms)"
MIDDLES = (EDGES[:-1] + EDGES[1:]) / 2
STARTS = "CBR starts"


def pictures(data: Experiment3) -> list[Picture]:
    """Draw experiment 3."""
    numbered = (
        (13, "throughput", "reno"),
        (14, "throughput", "sack"),
        (15, "latency", "reno"),
        (16, "latency", "sack"),
    )
    return made(
        [
            *(partial(_by_queue, data, number, what, variant) for number, what, variant in numbered),
            partial(_queues, data),
            partial(_one_run, data),
            partial(_by_variant, data, "extra5", "droptail"),
            partial(_by_variant, data, "extra6", "red"),
        ]
    )


def _run_of_report(data: Experiment3) -> list[str]:
    return [q for q in REPORT if q in data.queues]


def _series(data: Experiment3, what: str, variant: str, queue: str) -> Floats:
    values = data.throughput_series(variant, queue) if what == "throughput" else data.latency_series(variant, queue)
    return values.T


def _over_time(data: Experiment3, what: str, variant: str, queue: str, label: str, look: str) -> Curve:
    return sampled(label, look, _series(data, what, variant, queue), MIDDLES, dots=False)


def _panel(data: Experiment3, what: str, curves: list[Curve]) -> Panel:
    title = f"each half second: median of {data.n}, 95 % interval"
    if what == "latency":  # single windows after a timeout reach seconds
        return Panel(title, TIME, LATENCY, curves, marks=[Mark(CBR_START, STARTS, "top")], y_log=True)
    return Panel(title, TIME, THROUGHPUT, curves, marks=[Mark(CBR_START, STARTS)])


def _during(data: Experiment3, what: str, variant: str, queue: str) -> float:
    """The median over repetitions while the CBR stream runs; latency per packet, from its first transmission."""
    return float(np.median(data.get("first latency" if what == "latency" else what, variant, queue)))


def _by_queue(data: Experiment3, number: int, what: str, variant: str) -> Picture:
    queues = _run_of_report(data)
    curves = [_over_time(data, what, variant, q, PLAIN[q], q) for q in queues]
    unit = "Mbit/s" if what == "throughput" else "ms"
    tail, *rest = (_during(data, what, variant, q) for q in queues)
    red = rest[0] if rest else np.nan
    if not rest:
        reading = f"With the CBR stream {LABELS[variant]}'s {what} over DropTail is {tail:.2f} {unit}; RED was not run."
    elif what == "throughput":
        before = float(np.median(data.throughput_in((3.0, 5.0), variant, "droptail")))
        first, second = (_series(data, what, variant, q)[MIDDLES < CBR_START] for q in REPORT)
        same = np.array_equal(first, second)
        reading = (
            f"{LABELS[variant]} reaches {before:.2f} Mbit/s before the CBR stream"
            f"{', the same over both queues because none builds up until then' if same else ''}; with it "
            f"{tail:.2f} Mbit/s over DropTail, {red:.2f} over RED at ns-2's defaults."
        )
    else:
        reading = (
            f"With the CBR stream {LABELS[variant]}'s latency is {tail:.0f} ms on average over DropTail and "
            f"{red:.0f} over RED at ns-2's defaults, each from its first transmission."
        )
    return Picture(
        f"fig{number}-{what}-{variant}",
        f"Figure {number}: {what} of {LABELS[variant]} over time, {' and '.join(PLAIN[q] for q in queues)} ({unit})",
        reading,
        [_panel(data, what, curves)],
        markers=False,
    )


def _by_variant(data: Experiment3, number: str, queue: str) -> Picture:
    panels = [
        _panel(data, what, [_over_time(data, what, v, queue, LABELS[v], v) for v in data.variants])
        for what in ("throughput", "latency")
    ]
    got = {(w, v): _during(data, w, v, queue) for w in ("throughput", "latency") for v in data.variants}
    reading = f"Over {PLAIN[queue]} with the CBR stream " + ", ".join(
        f"{LABELS[v]} gets {got['throughput', v]:.2f} Mbit/s at {got['latency', v]:.0f} ms" for v in data.variants
    )
    return Picture(
        f"{number}-reno-sack-{queue}",
        f"Reno and SACK over time with {PLAIN[queue]}",
        f"{reading}.",
        panels,
        columns=2,
        markers=False,
    )


def _queues(data: Experiment3) -> Picture:
    panels = []
    for metric, label in (
        ("throughput", THROUGHPUT),
        ("latency", "latency: mean ACK delay (ms)"),
        ("queue delay", "mean wait in the queue (ms)"),
    ):
        curves = [
            sampled(LABELS[v], v, [data.get(metric, v, q) for q in data.queues], kind="points") for v in data.variants
        ]
        panels.append(Panel(metric, "", label, curves, categories=[SHORT[q] for q in data.queues]))

    def middle(metric: str, queue: str) -> float:
        return float(np.median(data.get(metric, "sack", queue)))

    if len(data.queues) < len(QUEUES):
        got = ", ".join(f"{middle('throughput', q):.2f} Mbit/s over {QUEUES[q]}" for q in data.queues)
        return Picture("extra3-queues", "Queues while the CBR stream runs", f"SACK gets {got}.", panels, columns=3)
    reading = (
        f"With a limit of one bandwidth-delay product, SACK gets {middle('throughput', 'droptail-bdp'):.2f} Mbit/s "
        f"at {middle('latency', 'droptail-bdp'):.0f} ms over DropTail, and {middle('throughput', 'red-bdp'):.2f} at "
        f"{middle('latency', 'red-bdp'):.0f} ms over a RED that suits the path; DropTail and RED at ns-2's defaults "
        f"with a limit of 10 packets give "
        f"{middle('throughput', 'droptail'):.2f} and {middle('throughput', 'red'):.2f} at "
        f"{middle('latency', 'droptail'):.0f} and {middle('latency', 'red'):.0f} ms."
    )
    return Picture(
        "extra3-queues", "Queues of 10 packets and larger ones, while the CBR stream runs", reading, panels, columns=3
    )


def _one_run(data: Experiment3) -> Picture:
    above, below = [], []
    queues = _run_of_report(data)
    for q in queues:
        flow, backlog = data.one_run("reno", q)
        curves = [
            Curve("ssthresh", "cbr", *_thin(flow["time"], flow["ssthresh"] / PACKET), kind="steps"),
            Curve("cwnd", "reno", *_thin(flow["time"], flow["cwnd"] / PACKET), kind="steps"),
        ]
        above.append(Panel(f"Reno over {PLAIN[q]}: window", TIME, "packets", curves, marks=[Mark(CBR_START)]))
        found = [
            Curve(
                f"{PLAIN[q]}: largest backlog in 50 ms", q, *_peaks(backlog["time"], backlog["packets"]), kind="steps"
            )
        ]
        below.append(Panel(f"{PLAIN[q]}: packets waiting", TIME, "packets", found, marks=[Mark(CBR_START)], y_top=11.0))
    flow, _ = data.one_run("reno", "droptail")
    most = " and ".join(f"{data.largest('packets', q):.0f} over {PLAIN[q]}" for q in queues)
    reading = (
        "Before 5 s the bottleneck's queue stays empty while cwnd climbs; from then on it fills again and again; at "
        f"most packets wait: {most}. cwnd peaks at "
        f"{flow['cwnd'].max() / PACKET:.0f} packets in the first slow start, whose losses happen in the sender's "
        "own link."
    )
    return Picture(
        "extra4-one-run",
        "Inside one run of experiment 3: Reno's window and the bottleneck's queue",
        reading,
        [*above, *below],
        columns=2,
        markers=False,
    )


def _thin(time: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Keep the rows of a step function that change it by a tenth of a packet or more."""
    keep = [0]
    for k, value in enumerate(values):
        last = values[keep[-1]]
        if value != last and abs(value - last) >= 0.1:  # an ssthresh without bound equals itself
            keep.append(k)
    keep.append(len(values) - 1)
    return time[keep], values[keep]


def _peaks(time: Floats, values: Floats, width: float = 0.05) -> tuple[Floats, Floats]:
    """Take the largest value in each window of a step function; a value lasts until the next."""
    edges = np.arange(0.0, EDGES[-1], width)
    start = np.searchsorted(time, edges, side="right") - 1
    held = np.where(start >= 0, values[np.maximum(start, 0)], 0.0)
    largest = held.copy()
    np.maximum.at(largest, np.minimum((time / width).astype(np.int64), len(edges) - 1), values)
    return edges, largest
