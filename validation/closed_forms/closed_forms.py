#!/usr/bin/env python3
"""Compare the simulator with closed forms: response functions, and persistent queues.

python validation/closed_forms/closed_forms.py                 # tables; exit code 1 if a row is outside its tolerance
python validation/closed_forms/closed_forms.py --write-docs    # and renew docs/data/closed-forms and the figure
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib as mpl

import response
import standing
from dumbbell.report.tables import OUTSIDE, Table, write_tables

mpl.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "closed-forms"
FIGURE = ROOT / "docs" / "img" / "closed-forms-response.png"
RANDOM = (3e-3, 1e-3, 3e-4, 1e-4)
"""Shares of random loss; 0.01 is left out, since half of its runs have a timeout."""
Measured = dict[tuple[str, float], float]


def responses() -> Measured:
    """Every response function at every share."""
    return {(v, p): response.measured(v, p) for v, form in response.FORMS.items() for p in form.shares}


def response_table(measured: Measured) -> tuple[Table, bool]:
    """Windows in segments: published formula, the same with recovery, measured."""
    rows = []
    every = True
    for (variant, p), window in measured.items():
        form = response.FORMS[variant]
        off = window / form.expected(p) - 1
        tolerance = form.tolerance(p)
        holds = abs(off) <= tolerance
        every &= holds
        windows = [f"{value:.1f}" for value in (form.published(p), form.expected(p), window)]
        shares = [f"{100 * off:+.1f}", f"{100 * tolerance:.1f}"]
        rows.append([variant, f"{p:g}", *windows, *shares, "" if holds else "measured"])
    head = ["variant", "lost", "published", "with recovery", "measured", "difference (%)", "allowed (%)", OUTSIDE]
    return Table(head, rows), every


def random_table() -> tuple[Table, bool]:
    """Reno under random losses."""
    constants = {p: response.random_constant(p) for p in RANDOM}
    rows = [[f"{p:g}", f"{c:.2f}", "1.31"] for p, c in constants.items()]
    return Table(["lost", "C in C / sqrt(p)", "published"], rows), all(
        abs(c / 1.31 - 1) < 0.1 for c in constants.values()
    )


def queues_table() -> tuple[Table, bool]:
    """Persistent queues."""
    rows = []
    every = True
    for algorithm in standing.ALGORITHMS:
        for r in algorithm():
            expected = f"{r.low:.3g}" if r.low == r.high else f"{r.low:.3g} to {r.high:.3g}"
            every &= r.holds
            line = [r.quantity, r.setting, r.source, expected, f"{r.measured:.3g}", f"{r.slack:.2g}", r.why]
            rows.append([*line, "" if r.holds else "measured"])
    head = ["quantity", "setting", "source", "expected", "measured", "allowed beyond", "reason", OUTSIDE]
    return Table(head, rows), every


def figure(measured: Measured) -> None:
    """Measured dots over the published lines."""
    fig, axes = plt.subplots(figsize=(7, 4.5), constrained_layout=True)
    for i, (variant, form) in enumerate(response.FORMS.items()):
        shares = [10 ** (-5 + 0.05 * n) for n in range(61)]
        shares = [p for p in shares if p <= max(form.shares) * 1.01]
        axes.plot(shares, [form.published(p) for p in shares], color=f"C{i}", linewidth=1, label=variant)
        dots = [(p, w) for (v, p), w in measured.items() if v == variant]
        axes.plot(*zip(*dots, strict=True), "os^Dv"[i], color=f"C{i}", markersize=5)
    axes.set(xscale="log", yscale="log", xlabel="share of packets lost", ylabel="mean window, segments")
    axes.set_title("Response functions at a round trip of 100 ms: published (lines), simulated (dots)", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend()
    fig.savefig(FIGURE, dpi=110, metadata={"Software": None})


def main() -> int:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/closed-forms and the figure")
    options = parser.parse_args()
    measured = responses()
    found = {"response": response_table(measured), "random": random_table(), "queues": queues_table()}
    for name, (body, _) in found.items():
        print(f"\n{name}\n{body.markdown()}")
    if options.write_docs:
        write_tables(DATA, {name: body for name, (body, _) in found.items()})
        figure(measured)
    return 0 if all(holds for _, holds in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
