"""Causes and further numbers for the claims on experiment 3: DropTail and RED."""

from __future__ import annotations

import numpy as np

from dumbbell.metrics import summarize
from dumbbell.report.finding import Measured
from dumbbell.studies.judge import Remark
from dumbbell.studies.ns2_cbr.data_exp3 import QUEUES, Experiment3
from dumbbell.studies.shared import LABELS

__all__ = ["remarks"]


def remarks(data: Experiment3) -> dict[str, Remark]:
    """Return the remarks by claim; none without RED, which they are about."""
    if "red" not in data.queues:
        return {}
    full, early = (sum(float(data.drops(k, v, "red").sum()) for v in data.variants) for k in ("full", "early"))
    waits = {q: _over_variants(data, "queue delay", q) for q in QUEUES}
    held = {q: data.largest("packets", q) for q in ("droptail", "red")}
    shorter = not early and held["red"] < held["droptail"]
    path = min(float(data.get("least latency", v, "red").min()) for v in data.variants)
    return {
        "exp3-red-throughput": Remark(
            f"At ns-2's defaults RED made {early:.0f} early drops and {full:.0f} because it was full; it held up to "
            f"{held['red']:.0f} packets, DropTail {held['droptail']:.0f}"
            + (": it was a shorter drop-tail queue" if shorter else ""),
            _each(data, "throughput", "Mbit/s", ("droptail-bdp", "red-bdp")),
        ),
        "exp3-red-latency": Remark(
            f"Packets wait {waits['red']:.2f} ms in RED at ns-2's defaults, which holds {held['red']:.0f} of them, "
            f"and {waits['droptail']:.2f} ms in a DropTail that holds {held['droptail']:.0f}, of an RTT of at least "
            f"{path:.1f} ms",
            (
                Measured.number("mean wait in a RED that suits the path", waits["red-bdp"], "ms"),
                Measured.number("mean wait in a DropTail of the same length", waits["droptail-bdp"], "ms"),
                *_each(data, "latency", "ms", tuple(QUEUES)),
            ),
        ),
        "exp3-red-early": Remark(
            "", (Measured.number("early drops in all runs", early), Measured.number("drops of a full queue", full))
        ),
    }


def _each(data: Experiment3, metric: str, unit: str, queues: tuple[str, ...]) -> tuple[Measured, ...]:
    return tuple(
        Measured.of(f"{metric} of {LABELS[v]}, {QUEUES[q]}", summarize(data.get(metric, v, q)), unit)
        for q in queues
        for v in data.variants
    )


def _over_variants(data: Experiment3, metric: str, queue: str) -> float:
    return float(np.median(np.concatenate([data.get(metric, v, queue) for v in data.variants])))
