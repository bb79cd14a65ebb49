"""The GENI report's experiments, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.results import Results
from dumbbell.studies.finding import Analysis, Note, Table
from dumbbell.studies.geni_fairness import claims_part1, claims_part2
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Over, Pairs
from dumbbell.studies.geni_fairness.figures import Harmed, pictures
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze"]

LIMIT = "network.bottleneck.queue.limit"


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    texts = {claim.id: claim.text for claim in study.paper.claims}
    part1 = Alone(results["part1"], "network.hops")
    jitter = Alone(results["jitter"], "network.hops", "network.bottleneck.jitter")
    pairs, over = Pairs(results["pairs"]), Over(results["pairs"])
    others = _others(results)
    harmed = Harmed(pairs, _solo(results["solo"]))
    reported = study.paper.figures["throughput_mbps"]
    findings = [*claims_part1.claims(part1, jitter), *claims_part2.claims(pairs, others, over)]
    return Analysis(
        findings=findings,
        pictures=pictures(part1, jitter, pairs, others, over, harmed, reported),
        tables=[_matrix(pairs, harmed, reported), _alone(part1)],
        summary=counted(findings, texts),
        notes=[_unknown(pairs, others), _late(pairs)],
    )


def _others(results: Mapping[str, Results]) -> dict[str, Pairs]:
    frame = results["buffers"].flows
    limits = frame[LIMIT].unique(maintain_order=True).to_list()
    found = {limit: Pairs(results["buffers"], frame.filter(pl.col(LIMIT) == limit)) for limit in limits}
    return {**found, "40 ms, 1 BDP": Pairs(results["far"])}


def _solo(results: Results) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    near = results.flows.filter(pl.col("network.bottleneck.delay") == "1 ms")
    return {
        v: 1e-6 * near.filter(pl.col("flows.solo.variant") == v).sort("repetition")["goodput_bps"].to_numpy()
        for v in VARIANTS
    }


def _matrix(pairs: Pairs, harmed: Harmed, reported: list[list[float]]) -> Table:
    rows = []
    for r, a in enumerate(VARIANTS):
        for c, b in enumerate(VARIANTS):
            first, second = (summarize(x) for x in pairs.both(a, b).T)
            rows.append(
                {
                    "first": LABELS[a],
                    "second": LABELS[b],
                    "first, Mbit/s": first.text(),
                    "report": f"{reported[r][c]:.1f}",
                    "second, Mbit/s": second.text(),
                    "Jain's index": summarize(pairs.jain(a, b)).text(),
                    "harm to the first": summarize(harmed.to_first(a, b)).text(),
                }
            )
    title = f"Part 2: median [95 % interval] of {pairs.n} repetitions, 100 packets of buffer, round trip 2 ms"
    return Table("pairs", title, pl.DataFrame(rows))


def _alone(part1: Alone) -> Table:
    rows = []
    for v in VARIANTS:
        for hops in (1, 2):
            rows.append(
                {
                    "variant": LABELS[v],
                    "hops": f"{hops}",
                    "goodput, Mbit/s": summarize(part1.get("goodput_bps", v, hops)).text(),
                    "ping beside it, ms": summarize(part1.get("rtt_mean_ms", v, hops, flow="ping")).text(),
                    "ping before it, ms": summarize(part1.get("rtt_mean_ms", v, hops, flow="idle ping")).text(),
                }
            )
    return Table("alone", f"Part 1: median [95 % interval] of {part1.n} repetitions", pl.DataFrame(rows))


def _unknown(pairs: Pairs, others: Mapping[str, Pairs]) -> Note:
    every = {"100 packets": pairs, **others}
    cells = {
        w: f"{summarize(p.share('cubic', 'reno')).value:.2f}, {summarize(p.share('bbr', 'cubic')).value:.2f}"
        for w, p in every.items()
    }
    listed = "; ".join(f"{w}: {c}" for w, c in cells.items())
    return Note(
        "Round trip and buffer decide, and the report gives neither",
        f"Share of the first for CUBIC then Reno, and for BBR then CUBIC: {listed}. In the report they are 0.50 "
        "and 0.47 to 0.49. An even CUBIC and Reno speaks for a short round trip, an even BBR and CUBIC for a "
        "buffer of several bandwidth-delay products.",
    )


def _late(pairs: Pairs) -> Note:
    second = summarize(pairs.share("vegas", "vegas"))
    return Note(
        "Vegas' latecomer keeps more",
        f"Of two Vegas flows the first has {100 * second.value:.0f} % once the second has come: the second never "
        "sees an empty queue, takes the first one's packets for part of the path and adds its own on top. The "
        "report shows the first one's mean alone, and calls it fair.",
    )
