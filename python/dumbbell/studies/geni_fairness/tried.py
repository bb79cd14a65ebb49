"""What was tried to reproduce the cells of BBR: the experiment `bbr`, one change at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Note, Table
from dumbbell.results import Results, Run
from dumbbell.scenario.units import Duration
from dumbbell.studies.geni_fairness.data import VARIANTS
from dumbbell.studies.geni_fairness.fits import ONE_RUN, OWN_RUN, READINGS, Reported, reported_of
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["Tried", "tried", "tried_note", "tried_table"]

OTHERS = tuple(v for v in VARIANTS if v != "bbr")
CHANGES: dict[str, Callable[[Any], str]] = {
    "network.bottleneck.delay": lambda delay: f"RTT {2000 * Duration(delay).seconds:g} ms",
    "network.access.rate": lambda rate: f"hosts at {rate}",
    "network.access.jitter": lambda jitter: f"jitter {jitter} a hop",
    "network.access.queue": lambda queue: f"{queue} at the hosts",
    "flows.bbr.variant": lambda variant: "" if variant == "bbr" else "BBR as before Linux 5.1",
    "flows.other.stack.send_quantum": lambda _: "hosts without segmentation offload",
    "flows.other.stack.pacing": lambda _: "every flow paced, as by fq at the hosts",
    "flows.other.stack.ack_every": lambda n: f"an ACK for {n} segments, as with receive offload",
}
"""What a case changes, in words, by its path."""


class Tried(NamedTuple):
    """A setting that was tried: goodput of the other flow and of BBR, by the other one and by which starts first."""

    words: str
    goodputs: Mapping[tuple[str, str], Floats]
    """By variant and first flow ("other" or "bbr"): (n, 2) float64, the other flow's and BBR's, Mbit/s."""

    @property
    def vegas_share(self) -> Floats:
        """Share of Vegas by repetition, mean over both orders; (n,) float64, %."""
        both = [self.goodputs["vegas", first] for first in ("other", "bbr")]
        return np.asarray(100 * np.mean([g[:, 0] / g.sum(axis=1) for g in both], axis=0))

    def error(self, reported: Reported, reading: str) -> float:
        """Return the mean error over the six cells of Table 1 with BBR and another variant, Mbit/s."""
        off = []
        for v in OTHERS:
            own, mirrored = reported_of(reported, (v, "bbr")), reported_of(reported, ("bbr", v))
            first, second = (np.median(self.goodputs[v, who], axis=0) for who in ("other", "bbr"))
            off += [abs(first[0] - own), abs((second if reading == OWN_RUN else first)[1] - mirrored)]
        return float(np.mean(off))


def tried(results: Results) -> list[Tried]:
    """Return the settings of which every cell was run, in the order of the sweep: the first one is that of the fit."""
    found: dict[str, dict[tuple[str, str], Floats]] = {}
    for runs in results.by_cell():
        cell = runs[0].cell
        words = ", ".join(w for path, name in CHANGES.items() if path in cell and (w := name(cell[path])))
        first = "other" if Duration(cell["flows.other.start"]).ns == 0 else "bbr"
        cells = found.setdefault(words or "as in the fit", {})
        cells[str(cell["flows.other.variant"]), first] = np.array([_goodputs(run) for run in runs])
    return [Tried(words, cells) for words, cells in found.items() if len(cells) == 2 * len(OTHERS)]


def _goodputs(run: Run) -> tuple[float, float]:
    by_name = {flow["name"]: 1e-6 * float(flow["goodput_bps"]) for flow in run.flows}
    return by_name["other"], by_name["bbr"]


def tried_table(settings: list[Tried], reported: Reported) -> Table:
    """List the cells of BBR at each setting, with the report's in the first row."""
    own = {v: (reported_of(reported, (v, "bbr")), reported_of(reported, ("bbr", v))) for v in OTHERS}
    rows = [
        {
            "setting": "the report",
            **{f"{LABELS[v]} / BBR": f"{a:.1f} / {b:.1f}" for v, (a, b) in own.items()},
            **{f"the same, BBR first: {LABELS[v]}": "" for v in OTHERS},
            "share of Vegas, %": f"{_reported_share(reported):.1f}",
            "mean error, Mbit/s: A / B": "",
        }
    ]
    for setting in settings:
        at = {(v, first): np.median(g, axis=0) for (v, first), g in setting.goodputs.items()}
        rows.append(
            {
                "setting": setting.words,
                **{f"{LABELS[v]} / BBR": "{:.1f} / {:.1f}".format(*at[v, "other"]) for v in OTHERS},
                **{f"the same, BBR first: {LABELS[v]}": "{:.1f} / {:.1f}".format(*at[v, "bbr"]) for v in OTHERS},
                "share of Vegas, %": summarize(setting.vegas_share).text(),
                "mean error, Mbit/s: A / B": " / ".join(f"{setting.error(reported, r):.1f}" for r in READINGS),
            }
        )
    title = "What moves the cells of BBR: medians of both goodputs, Mbit/s, at a setting of the fit and with changes"
    return Table("bbr", title, pl.DataFrame(rows))


def _reported_share(reported: Reported) -> float:
    vegas, bbr = reported_of(reported, ("vegas", "bbr")), reported_of(reported, ("bbr", "vegas"))
    return 100 * vegas / (vegas + bbr)


def tried_note(settings: list[Tried], reported: Reported) -> Note:
    """State which setting is nearest to the report's cells of BBR, and what the others do to the share of Vegas."""
    best = min(settings, key=lambda s: sum(s.error(reported, r) for r in READINGS))
    shares = {s.words: float(np.mean(s.vegas_share)) for s in settings}
    own = _reported_share(reported)
    listed = "; ".join(f"{words}: {share:.1f}" for words, share in shares.items())
    near = min(shares, key=lambda words: abs(shares[words] - own))
    reno = [reported_of(reported, cell) for cell in (("reno", "bbr"), ("bbr", "reno"))]
    errors = {r: (settings[0].error(reported, r), best.error(reported, r)) for r in READINGS}
    return Note(
        f"Beside BBR Vegas has {shares[near]:.1f} % with {near}, in the report {own:.1f} %",
        f"Shares of Vegas, means over both orders of the start, in %: {listed}. Over the six cells with BBR and "
        f"another variant the mean error is smallest with {best.words}: {errors[OWN_RUN][1]:.1f} Mbit/s in reading A "
        f"(as in the fit {errors[OWN_RUN][0]:.1f}) and {errors[ONE_RUN][1]:.1f} in reading B "
        f"({errors[ONE_RUN][0]:.1f}). Only since Linux 5.1 has BBR a larger window where ACKs arrive for many segments "
        "at once. The fit has round trips of 1 and 2 ms, and the claims on BBR are judged with either kernel. The "
        f"report's BBR and Reno add up to {sum(reno):.1f} Mbit/s, less than its other pairs: no setting has that.",
    )
