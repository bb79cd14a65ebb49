"""The report's claims on experiment 3: DropTail and RED."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dumbbell.metrics import paired, summarize
from dumbbell.studies import rules
from dumbbell.studies.finding import Finding, Measured, Verdict
from dumbbell.studies.ns2_cbr.data_exp3 import AFTER, BEFORE, QUEUES, Experiment3

__all__ = ["claims"]

Floats = npt.NDArray[np.float64]

NAMES = {"reno": "Reno", "sack": "SACK", "droptail": "DropTail", "red": "RED"}


def claims(data: Experiment3) -> list[Finding]:
    """Compare the report's three claims on experiment 3 with the runs."""
    return [_throughput(data), _latency(data), _start(data)]


def _throughput(data: Experiment3) -> Finding:
    got = {(v, q): data.get("throughput", v, q) for v in data.variants for q in QUEUES}
    four = {f"{NAMES[v]} with {NAMES[q]}": got[v, q] for v in data.variants for q in ("droptail", "red")}
    poorest = rules.extreme(four, "SACK with RED", highest=False, unit="Mbit/s")
    better = rules.Ruling(True)
    for v in data.variants:
        better &= rules.higher(got[v, "droptail"], got[v, "red"], f"{NAMES[v]}: DropTail less RED", "Mbit/s")
    verdict = rules.verdict(poorest, better)
    middles = {name: float(np.median(x)) for name, x in four.items()}
    last = min(middles, key=lambda name: middles[name])
    full, early = (sum(float(data.drops(k, v, "red").sum()) for v in data.variants) for k in ("full", "early"))
    parts = [
        "DropTail serves both better" if better.holds else "DropTail is not shown to serve both better",
        f"the poorest is {last} ({middles[last]:.2f} Mbit/s), SACK with RED gets {middles['SACK with RED']:.2f}",
        f"the report's RED made {early:.0f} early drops and {full:.0f} because it was full: it is a tail drop "
        f"with space for {data.largest('packets', 'red'):.0f} packets waiting, against "
        f"{data.largest('packets', 'droptail'):.0f}",
    ]
    return Finding(
        "exp3-droptail-throughput",
        verdict,
        "While the CBR stream runs, SACK with RED is shown to get less than each of the other three combinations, "
        "and each variant less with RED than with DropTail (95 % intervals of the mean difference, same seeds).",
        (
            *(Measured.of(name, summarize(x), "Mbit/s") for name, x in four.items()),
            *poorest.measured,
            *better.measured,
        ),
        "; ".join(parts),
        tuple(
            Measured.of(f"{NAMES[v]}, {QUEUES[q]}", summarize(got[v, q]), "Mbit/s")
            for q in ("droptail-bdp", "red-bdp")
            for v in data.variants
        ),
    )


def _latency(data: Experiment3) -> Finding:
    ruling = rules.Ruling(True)
    words = []
    for v in data.variants:
        red, tail = data.get("latency", v, "red"), data.get("latency", v, "droptail")
        ruling &= rules.higher(red, tail, f"{NAMES[v]}: RED less DropTail", "ms")
        difference = paired(red, tail)
        shown = difference.direction or "not shown to differ"
        words.append(f"{NAMES[v]}'s latency is {shown} ({difference.mean:+.2g} ms)")
    waits = {q: _over_variants(data, "queue delay", q) for q in QUEUES}
    path = min(float(data.get("least latency", v, "red").min()) for v in data.variants)
    verdict = rules.verdict(ruling)
    return Finding(
        "exp3-red-latency",
        verdict,
        "While the CBR stream runs, the mean RTT is shown to be higher under RED than under DropTail for both "
        "variants (95 % interval of the mean difference above zero, same seeds).",
        ruling.measured,
        f"under RED {' and '.join(words)}: packets wait {waits['red']:.2f} ms in a RED that holds "
        f"{data.largest('packets', 'red'):.0f} of them and {waits['droptail']:.2f} ms in a DropTail that holds "
        f"{data.largest('packets', 'droptail'):.0f}, of an RTT that is {path:.1f} ms at the least",
        (
            Measured.number("mean wait in a RED that suits the path", waits["red-bdp"], "ms"),
            Measured.number("mean wait in a DropTail of the same length", waits["droptail-bdp"], "ms"),
            *(
                Measured.of(f"RTT of {NAMES[v]}, {QUEUES[q]}", summarize(data.get("latency", v, q)), "ms")
                for v in data.variants
                for q in QUEUES
            ),
        ),
    )


def _over_variants(data: Experiment3, metric: str, queue: str) -> float:
    return float(np.median(np.concatenate([data.get(metric, v, queue) for v in data.variants])))


def _start(data: Experiment3) -> Finding:
    ruling = rules.Ruling(True)
    lines, before_after = [], []
    for v in data.variants:
        for q in ("droptail", "red"):
            before, after = data.throughput_in(BEFORE, v, q), data.throughput_in(AFTER, v, q)
            ruling &= rules.higher(before, after, f"{NAMES[v]} over {NAMES[q]}: before less after", "Mbit/s")
            lines.append(f"{NAMES[v]} over {NAMES[q]} {np.median(before):.2f} to {np.median(after):.2f}")
            before_after.append(Measured.of(f"{NAMES[v]} over {NAMES[q]}, before", summarize(before), "Mbit/s"))
            before_after.append(Measured.of(f"{NAMES[v]} over {NAMES[q]}, after", summarize(after), "Mbit/s"))
    verdict = rules.verdict(ruling)
    return Finding(
        "exp3-cbr-start",
        verdict,
        f"Throughput from {BEFORE[0]:g} to {BEFORE[1]:g} s is shown to be higher than from {AFTER[0]:g} to "
        f"{AFTER[1]:g} s for both variants and both queues: two seconds are thirty round trips, enough for a "
        "window to be cut and to settle.",
        ruling.measured,
        ("it falls everywhere" if verdict is Verdict.AGREES else "it does not fall everywhere")
        + " (Mbit/s): "
        + ", ".join(lines),
        tuple(before_after),
    )
