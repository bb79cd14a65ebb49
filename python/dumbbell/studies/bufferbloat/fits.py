"""The settings that the report leaves out, fitted to its printed numbers with the large queue.

The error of a setting is the mean of |ln(report / median here)| over the printed ping and page of a variant: 0.1 is a
tenth off. A printed number is one measurement, so the uncertainty is that of single measurements: a setting is
excluded if a printed number lies outside the range of its 40 repetitions (each of the two by chance in 5 % of all
cases). The fit to one variant's numbers predicts the other's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from dumbbell.report.finding import Note, Table
from dumbbell.results import Results
from dumbbell.studies.bufferbloat.data import BEGUN, START, VARIANT, VARIANTS, first_pings
from dumbbell.studies.shared import LABELS, Floats

__all__ = ["Setting", "Singles", "best_sentence", "fit_table", "not_run", "prediction", "singles"]

LIMIT, STACK = "network.bottleneck.queue.limit", "flows.page.stack"
WINDOWS = {
    "linux-tuned": "initial window 10 segments",
    "linux-tuned(initial_window=3 packets)": "initial window 3 segments",
    "linux-tuned(window_start=29200 bytes)": "receive window from 29,200 bytes",
}
"""The page's endpoint in words."""
NOT_RUN = "not run"
SLACK = 0.05
"""Part by which the range is widened for the delay that mininet adds, as in the claims."""


class Setting(NamedTuple):
    """One setting: limit of the queue, time from the transfer's start to the page, windows of the page's hosts."""

    limit: str
    since: str
    windows: str

    @property
    def words(self) -> str:
        """All of it in words."""
        return f"{self.limit}, page {self.since} after the start, {self.windows}"


class Singles(NamedTuple):
    """Single measurements of a variant at a setting: mean of three pings, ms, and page, s; (n,) float64 each."""

    ping: Floats
    page: Floats

    def error(self, printed: tuple[float, float]) -> float:
        """Return the error against the report's printed ping and page; no unit."""
        return float(np.mean([abs(math.log(r / float(np.median(x)))) for r, x in zip(printed, self, strict=True)]))

    def possible(self, printed: tuple[float, float]) -> bool:
        """True if both printed numbers lie within the range of the single measurements."""
        return all((1 - SLACK) * x.min() <= r <= (1 + SLACK) * x.max() for r, x in zip(printed, self, strict=True))


Found = Mapping[tuple[Setting, str], Singles]
ENOUGH = 39
"""Measurements whose range a further one misses in at most 5 % of all cases: 2 / (n + 1)."""


def singles(results: Results) -> dict[tuple[Setting, str], Singles]:
    """Return the single measurements by setting and variant."""
    transfers = results.transfers.filter(pl.col("flow") == "page").sort("repetition")
    found = {}
    for runs in results.by_cell():
        cell = runs[0].cell
        limit, begun, variant = (str(cell[key]) for key in (LIMIT, START, VARIANT))
        stack = _shown(cell[STACK])
        setting = _setting(cell)
        rows = transfers.filter(
            (pl.col(LIMIT) == limit)
            & (pl.col(START) == begun)
            & (pl.col(STACK) == stack)
            & (pl.col(VARIANT) == variant)
        )
        pages = rows["took_s"].drop_nulls().to_numpy()
        found[setting, variant] = Singles(first_pings(results, runs, "ping/ping"), pages)
    return found


def not_run(results: Results) -> list[Setting]:
    """List the settings of the sweep that no variant was run at: the back end doesn't have them."""
    run = {_setting(runs[0].cell) for runs in results.by_cell()}
    return [s for s in dict.fromkeys(_setting(cell.values) for cell in results.scenario.cells) if s not in run]


def _setting(cell: Mapping[str, Any]) -> Setting:
    return Setting(str(cell[LIMIT]), BEGUN[str(cell[START])], WINDOWS[_shown(cell[STACK])])


def _shown(stack: Any) -> str:  # noqa: ANN401 - a value of a sweep
    """Return a stack as the frames show it."""
    given = ", ".join(f"{key}={value}" for key, value in stack.items() if key != "preset")
    return f"{stack['preset']}({given})" if given else str(stack["preset"])


def printed(reported: Mapping[str, Any], variant: str) -> tuple[float, float]:
    """Return the report's mean of three pings, ms, and page, s, beside the transfer with the large queue."""
    found = reported[f"{variant}_large_queue"]
    return float(np.mean(found["ping_ms"][1])), float(found["page_s"][1])


def _settings(found: Found) -> list[Setting]:
    return list(dict.fromkeys(setting for setting, _ in found))


def _best(found: Found, reported: Mapping[str, Any], variant: str) -> Setting:
    return min(_settings(found), key=lambda s: found[s, variant].error(printed(reported, variant)))


def _both(found: Found, reported: Mapping[str, Any], setting: Setting) -> float:
    return float(np.mean([found[setting, v].error(printed(reported, v)) for v in VARIANTS]))


def fit_table(found: Found, reported: Mapping[str, Any], absent: Sequence[Setting] = ()) -> Table:
    """List each setting with its medians and its errors against the printed numbers, and those that were not run."""
    best = {v: _best(found, reported, v) for v in VARIANTS}
    whole = min(_settings(found), key=lambda s: _both(found, reported, s))
    rows = []
    for setting in _settings(found):
        row = _named(setting)
        for v in VARIANTS:
            one = found[setting, v]
            star = " *" if setting == best[v] else ""
            star += " ~" if one.possible(printed(reported, v)) else ""
            row[f"{LABELS[v]}: ping, ms"] = f"{np.median(one.ping):.0f} ({one.ping.min():.0f} to {one.ping.max():.0f})"
            row[f"{LABELS[v]}: page, s"] = f"{np.median(one.page):.1f} ({one.page.min():.1f} to {one.page.max():.1f})"
            row[f"{LABELS[v]}: error"] = f"{one.error(printed(reported, v)):.2f}{star}"
        row["both: error"] = f"{_both(found, reported, setting):.2f}{' *' if setting == whole else ''}"
        rows.append(row)
    rows += [{**_named(setting), **dict.fromkeys(list(rows[0])[len(_named(setting)) :], NOT_RUN)} for setting in absent]
    numbers = "; ".join(
        f"{LABELS[v]} {printed(reported, v)[0]:.0f} ms and {printed(reported, v)[1]:g} s" for v in VARIANTS
    )
    title = (
        "Fit of the settings that the report leaves out: median (range) of single measurements with the large queue; "
        f"the report prints {numbers}. *: the best fit. ~: not excluded"
    )
    return Table("fit", title, pl.DataFrame(rows))


def _named(setting: Setting) -> dict[str, str]:
    return {"queue": setting.limit, "page after the start": setting.since, "page's hosts": setting.windows}


def prediction(found: Found, reported: Mapping[str, Any], absent: Sequence[Setting] = (), reason: str = "") -> Note:
    """State the fit to each variant's numbers, and how it predicts the other's.

    Parameters
    ----------
    found : mapping of (Setting, str) to Singles
    reported : mapping
        The report's printed numbers.
    absent : sequence of Setting
        Those that were not run.
    reason : str
        The reason against them.
    """
    order = sorted(_settings(found), key=lambda s: _both(found, reported, s))
    judged = [s for s in order if s.limit == "100 packets" and s.windows == WINDOWS["linux-tuned"]]
    errors = ", ".join(f"{_both(found, reported, s):.2f} ({s.since})" for s in sorted(judged, key=lambda s: s.since))
    sentences = [
        f"Its error is {_both(found, reported, order[0]):.2f}; the worst has "
        f"{_both(found, reported, order[-1]):.2f}. "
        f"The claims are judged with 100 packets and {WINDOWS['linux-tuned']}: {errors}."
    ]
    if against := [LABELS[v] for v in VARIANTS if not found[order[0], v].possible(printed(reported, v))]:
        sentences.append(f"The numbers of {' and '.join(against)} exclude the best fit, too.")
    count = len(_settings(found))
    for v, other in (VARIANTS, VARIANTS[::-1]):
        ping, page = printed(reported, other)
        best = _best(found, reported, v)
        own, there = found[best, v], found[best, other]
        possible = [s for s in _settings(found) if found[s, v].possible(printed(reported, v))]
        predicted = [s for s in possible if found[s, other].possible(printed(reported, other))]
        sentences.append(
            f"Fitted to {LABELS[v]}'s numbers: {best.words} (error {own.error(printed(reported, v)):.2f}); it "
            f"predicts {LABELS[other]}'s with an error of {there.error(printed(reported, other)):.2f}: "
            f"{np.median(there.ping):.0f} ms and {np.median(there.page):.1f} s for {ping:.0f} ms and {page:g} s. "
            f"{LABELS[v]}'s numbers exclude {count - len(possible)} of {count} settings; {LABELS[other]}'s "
            f"lie within the range at {len(predicted)} of the rest."
        )
    n = min(one.page.size for one in found.values())
    if n < ENOUGH:
        sentences.append(
            f"Ranges of {n} measurements exclude little: a further one lies outside with a probability of "
            f"{100 * 2 / (n + 1):.0f} %."
        )
    if absent:
        sentences.append(f"{len(absent)} of {len(absent) + count} settings are not run here ({reason}).")
    return Note(f"The best fit to all four printed numbers: {order[0].words}", " ".join(sentences))


def best_sentence(found: Found, reported: Mapping[str, Any]) -> str:
    """State the best fit in one sentence."""
    best = min(_settings(found), key=lambda s: _both(found, reported, s))
    return (
        f"The best fit of the settings that the report leaves out is {best.words}: an error of "
        f"{_both(found, reported, best):.2f} against its printed pings and pages (0.1 is a tenth off)."
    )
