"""Why Veno and CUBIC differ on the shaped link: the same runs with one rule changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from dumbbell.report.finding import Note, Table
from dumbbell.studies.shared import LABELS
from dumbbell.studies.video_real_traffic.data import DATA, METRICS, SERVER, Captured, Key
from dumbbell.studies.video_real_traffic.reported import medians_of_report

__all__ = ["CHANGES", "changed_keys", "changed_note", "changed_table"]

WITHOUT, WITH, HALVED = "without HyStart", "with HyStart", "every loss halves the window"
CHANGES: tuple[Key, ...] = (("cubic", WITHOUT), ("veno", WITH), ("veno", HALVED))
"""The variants with a changed rule."""
SHOWN = ("retransmitted", "duplicate ACKs")
SLOW_START = "flows.video.stack.slow_start"


def changed_keys(cell: Mapping[str, Any]) -> list[Key]:
    """Name a cell by its variant and its changed rule."""
    if SLOW_START in cell:
        return [(str(cell[DATA]), {"standard": WITHOUT, "hystart": WITH}[str(cell[SLOW_START])])]
    return [(str(cell[DATA]["name"]), HALVED)]


def changed_table(queue: Captured, changed: Captured, reported: Mapping[str, Any]) -> list[Table]:
    """List the medians as each variant is, and with one rule changed; nothing if none of the changes was run."""
    if not changed.settings:
        return []
    rows = []
    for v in ("cubic", "veno"):
        own = medians_of_report(reported, v)
        rows.append({"variant": LABELS[v], "rule": "the report", **{METRICS[m]: f"{own[m]:.4g}" for m in SHOWN}})
        cells = [(queue, (SERVER, v), "as in Linux"), *((changed, key, key[1]) for key in CHANGES if key[0] == v)]
        rows += [
            {"variant": LABELS[v], "rule": rule, **{METRICS[m]: _middle(runs, m, key) for m in SHOWN}}
            for runs, key, rule in cells
            if key in runs.settings
        ]
    title = f"The shaped link with one rule changed: medians of {changed.n} runs with the same losses on the path"
    return [Table("changed", title, pl.DataFrame(rows))]


def changed_note(queue: Captured, changed: Captured, reported: Mapping[str, Any]) -> list[Note]:
    """State what makes Veno retransmit more or less than CUBIC; nothing if a cell wasn't run."""
    own = [(SERVER, "cubic"), (SERVER, "veno")]
    if not all(key in queue.settings for key in own) or not all(key in changed.settings for key in CHANGES):
        return []
    cubic, veno = (queue.get("retransmitted", *key) for key in own)
    without, with_it, halved = (changed.get("retransmitted", *key) for key in CHANGES)
    report = [medians_of_report(reported, v)["retransmitted"] for v in ("cubic", "veno")]
    as_is, neither, both = (
        float(np.median(b) / np.median(a)) for a, b in ((cubic, veno), (without, veno), (cubic, with_it))
    )
    equal = int((halved == veno).sum())
    return [
        Note(
            f"Veno retransmits {as_is:.2f} of CUBIC's bytes; with the same slow start {neither:.2f} or {both:.2f}",
            "In Linux CUBIC's slow start ends by HyStart and Veno's by a loss, and here slow start begins again with "
            f"every block. Medians of Veno over those of CUBIC: {as_is:.2f} as they are, {neither:.2f} with HyStart "
            f"for neither, {both:.2f} with HyStart for both; in the report {report[1] / report[0]:.2f}. Veno's own "
            "response to a loss, a smaller decrease if few packets are in the queue, changes the bytes of "
            f"{veno.size - equal} of {veno.size} runs: with a decrease to a half after every loss the median is "
            f"{np.median(halved):.3g} kB, with Veno's own {np.median(veno):.3g} kB.",
        )
    ]


def _middle(runs: Captured, metric: str, key: Key) -> str:
    return f"{np.median(runs.get(metric, *key)):.4g}"
