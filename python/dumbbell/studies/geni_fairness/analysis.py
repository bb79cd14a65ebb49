"""The GENI report's experiments, compared with its claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dumbbell.metrics import summarize
from dumbbell.report.finding import Analysis, Finding, Note, Table
from dumbbell.results import Results
from dumbbell.studies.geni_fairness.data import VARIANTS, Alone, Over, Pairs
from dumbbell.studies.geni_fairness.figures import Harmed, pictures
from dumbbell.studies.geni_fairness.figures_fit import fit_pictures
from dumbbell.studies.geni_fairness.fits import (
    CELLS,
    ONE_RUN,
    OWN_RUN,
    PARTS,
    Fits,
    Reported,
    fit_all,
    fit_table,
    jitter_table,
    reported_of,
)
from dumbbell.studies.geni_fairness.newer import newer, newer_note, newer_table
from dumbbell.studies.geni_fairness.paths import Path, by_path, short
from dumbbell.studies.geni_fairness.predictions import cross_validation, predict, prediction_table
from dumbbell.studies.geni_fairness.quantities import quantities
from dumbbell.studies.geni_fairness.readings import readings
from dumbbell.studies.geni_fairness.remarks import remarks
from dumbbell.studies.geni_fairness.sensitivity import judge_over_settings
from dumbbell.studies.geni_fairness.tried import tried, tried_note, tried_table
from dumbbell.studies.judge import Quantities
from dumbbell.studies.listing import list_tables
from dumbbell.studies.partial import data
from dumbbell.studies.shared import LABELS, counted

if TYPE_CHECKING:
    from dumbbell.studies.definition import Study

__all__ = ["analyze", "findings"]

HALF = 0.5
"""An equal share."""


def analyze(study: Study, results: Mapping[str, Results]) -> Analysis:
    """Compare the results with the report's claims; see `dumbbell.studies`."""
    reported = study.paper.figures["throughput_mbps"]
    part1 = Alone(results["part1"], "network.hops")
    jitter = Alone(results["jitter"], "network.hops", "network.bottleneck.jitter")
    grid = _grid(results)
    fits = fit_all(grid, reported)
    judged = by_path(results["pairs"])
    depths = {**grid, **judged}
    path, pairs = next(iter(judged.items()))
    over = Over(results["pairs"], path.swept)
    harmed = Harmed(pairs, _solo(results["solo"]))
    judged_claims, robust = _judge(study, results, fits)
    predicted = predict(grid, reported)
    validated, validation = cross_validation(grid, reported, predicted, fits, jitter)
    table, reading = readings(pairs, path.words, reported, fits)
    bbr, further = tried(results["bbr"]), newer(results["newer"])
    return Analysis(
        findings=judged_claims,
        pictures=[
            *pictures(part1, jitter, path, depths, over, harmed, reported),
            *fit_pictures(grid, reported, fits, predicted),
        ],
        tables=[
            _matrix(path, pairs, harmed, reported),
            _alone(part1),
            fit_table(grid, fits),
            validated,
            prediction_table(predicted, jitter, fits),
            robust,
            jitter_table(jitter),
            table,
            *([tried_table(bbr, reported)] if bbr else []),
            *([newer_table(further)] if further else []),
            *list_tables(study, judged_claims),
        ],
        summary=[counted(study.paper, judged_claims)],
        notes=[
            _best(fits, path),
            validation,
            reading,
            *([tried_note(bbr, reported)] if bbr else []),
            _late(path, pairs, over, depths, reported),
            *([newer_note(further)] if further else []),
        ],
    )


def findings(study: Study, results: Mapping[str, Results]) -> list[Finding]:
    """Judge the report's claims."""
    return _judge(study, results, fit_all(_grid(results), study.paper.figures["throughput_mbps"]))[0]


def _grid(results: Mapping[str, Results]) -> dict[Path, Pairs]:
    """Return the runs of part 2 at the settings that the fits compare."""
    return {path: pairs for name in ("fit", "far", "near") for path, pairs in data(results, name, by_path).items()}


def _judge(study: Study, results: Mapping[str, Results], fits: Fits) -> tuple[list[Finding], Table]:
    """Judge the claims, and return the table of the verdicts by setting too."""
    part1 = Alone(results["part1"], "network.hops")
    jitter = Alone(results["jitter"], "network.hops", "network.bottleneck.jitter")
    judged = data(results, "pairs", by_path)
    depths = {**_grid(results), **judged}
    path, pairs = next(iter(judged.items()))
    over = Over(results["pairs"], path.swept)

    def at(setting: Path | None) -> Quantities:
        return quantities(part1, jitter, depths, fits, over, depths[setting] if setting else None)

    return judge_over_settings(study, fits, at, remarks(part1, jitter, pairs, over, path))


def _solo(results: Results) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    flows = results.flows
    return {
        v: 1e-6 * flows.filter(pl.col("flows.solo.variant") == v).sort("repetition")["goodput_bps"].to_numpy()
        for v in VARIANTS
    }


def _matrix(path: Path, pairs: Pairs, harmed: Harmed, reported: list[list[float]]) -> Table:
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
    title = f"Part 2: median [95 % interval] of {pairs.n} repetitions, {path.words}"
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


def _best(fits: Fits, path: Path) -> Note:
    best = fits.best()
    parts, others = [], fits.alike()[1:]
    for reading in (OWN_RUN, ONE_RUN):
        whole = fits.of(reading)
        low, high = min(whole.errors.values()), max(whole.errors.values())
        parts.append(
            f"reading {reading}: {low:.1f} to {high:.1f} Mbit/s, smallest with {whole.best.words}; "
            f"{len(whole.alike) - 1} others aren't distinguished from it"
        )
    listed = "; ".join(
        f"{short(p, best)} ({fits.of(OWN_RUN).errors[p]:.1f} and {fits.of(ONE_RUN).errors[p]:.1f})" for p in others
    )
    alike = f" In one reading or the other these aren't distinguished: {listed}." if others else ""
    chosen = "; ".join(
        f"{name}: {'the same' if fits.best(name) == best else short(fits.best(name), best)}"
        for name in PARTS
        if fits.of(OWN_RUN, name) is not fits.of(OWN_RUN)
    )
    text = (
        f"The report gives no buffer, RTT, jitter or rate of its hosts' links. Mean errors of the "
        f"{len(fits.of(OWN_RUN).errors)} settings over the {len(CELLS)} cells of Table 1: {'; '.join(parts)}. The "
        f"setting of the headline has the smallest sum of both errors.{alike} Fits to parts of the table, for the "
        f"claims about the other cells: {chosen}."
    )
    if path != best:
        text += f" Figures and series are of {path.words}."
    return Note(f"The best fit to Table 1: {best.words}", text)


PACKET_MS = 1500 * 8 / 100e3
"""Time of a packet at the bottleneck, ms."""


def _late(path: Path, pairs: Pairs, over: Over, depths: Mapping[Path, Pairs], reported: Reported) -> Note:
    values = pairs.share("vegas", "vegas")
    first = summarize(values)
    ahead = "the first" if first.low > HALF else "the second" if first.high < HALF else "neither"
    own = reported_of(reported, ("vegas", "vegas"))
    here = pairs.medians("vegas", "vegas")
    clean = {p: float(np.median(x.share("vegas", "vegas"))) for p, x in depths.items() if p.jitter.startswith("0 ")}
    without = ""
    if clean:
        far = min(clean, key=lambda p: clean[p])
        without = (
            f" Without jitter the first one's share is {min(clean.values()):.2f} to {max(clean.values()):.2f}; it is "
            f"lowest with {far.words}."
        )
    return Note(
        f"Of two Vegas flows {ahead} is shown to be ahead with {path.words}",
        f"The first has {first.text('', 2)} of the goodput: {here[0]:.1f} Mbit/s, the second {here[1]:.1f}; the "
        f"report has {own:.1f}, in reading A of the first one, in reading B of both in the mean.{_paths_of(over)}"
        f"{without}",
    )


def _paths_of(over: Over) -> str:
    """Compare the round trips that two Vegas flows take for the empty path."""
    one, two = (over.last("vegas", "vegas", flow, "base_rtt") for flow in ("first", "second"))
    if one is None or two is None:
        return ""
    first, second = (1000 * summarize(values).value for values in (one, two))
    measured = f" The first one's base RTT is {first:.2f} ms, the second one's {second:.2f}"
    if second - first < PACKET_MS:
        return f"{measured}: less than the time of one packet more ({PACKET_MS:.2f} ms), so both measure the same path."
    return (
        f"{measured}. The second one never measures an empty queue: it counts the first one's packets as part of the "
        "path, and adds its own to them."
    )
