#!/usr/bin/env python3
"""Run fairness.toml and compare the shares with the published matrix.

python validation/fairness/fairness.py                 # tables on the terminal
python validation/fairness/fairness.py --write-docs    # and renew docs/data/fairness
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from typing import Any

import polars as pl

import dumbbell
from dumbbell.report.tables import Table, write_tables

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "docs" / "data" / "fairness"
BUFFER = "network.bottleneck.queue.limit"
ROW, COLUMN = "flows.first.variant", "flows.second.variant"
EVEN = (1 / 3, 2 / 3)
"""Shares that count as even: neither has more than twice the other's."""
STARVED = 1 / 6
"""A share below this is starvation: the other has more than five times as much."""

Shares = dict[tuple[str, str, str], tuple[float, float, float]]


def measure(repetitions: int | None = None) -> Shares:
    """Mean goodput of both flows in Mbit/s and the first's standard deviation, by buffer, row and column."""
    scenario = dumbbell.Scenario.from_toml((HERE / "fairness.toml").read_text(encoding="utf-8"))
    changes: dict[str, Any] = {} if repetitions is None else {"repetitions": repetitions}
    flows = dumbbell.run(scenario, changes=changes).flows
    keys = [BUFFER, ROW, COLUMN, "name"]
    mbps = pl.col("goodput_bps") / 1e6
    means = flows.group_by(keys).agg(mean=mbps.mean(), sd=mbps.std()).iter_rows(named=True)
    by = {
        (str(r[BUFFER]), str(r[ROW]), str(r[COLUMN]), str(r["name"])): (float(r["mean"]), float(r["sd"] or 0.0))
        for r in means
    }
    return {
        (b, r, c): (mean, by[b, r, c, "second"][0], sd) for (b, r, c, name), (mean, sd) in by.items() if name == "first"
    }


def share(shares: Shares, buffer: str, row: str, column: str) -> float:
    """The first flow's share of both."""
    first, second, _ = shares[buffer, row, column]
    return first / (first + second)


def published() -> dict[str, Any]:
    """The published matrix and its claims."""
    return tomllib.loads((HERE / "published.toml").read_text(encoding="utf-8"))


def table(shares: Shares, buffer: str) -> Table:
    """One buffer's pairs: goodput of both flows, and the published value of the first."""
    paper = published()
    names = paper["variants"]
    rows = []
    for i, row in enumerate(names):
        for j, column in enumerate(names):
            first, second, sd = shares[buffer, row, column]
            rows.append([row, column, *(f"{v:.1f}" for v in (first, sd, second, paper["throughput_mbps"][i][j]))])
    mine = "goodput of the first (Mbit/s)"
    others = ["goodput of the second (Mbit/s)", "published for the first (Mbit/s)"]
    return Table(["first", "second", mine, f"{mine} ±", *others], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/fairness")
    options = parser.parse_args()
    shares = measure()
    buffers = list(dict.fromkeys(b for b, _, _ in shares))
    tables = {b: table(shares, b) for b in sorted(buffers, key=lambda b: float(b.split()[0]))}
    for buffer, body in tables.items():
        print(f"\n{buffer}\n{body.markdown()}")
    if options.write_docs:
        write_tables(DATA, {buffer.replace(" ", "-"): body for buffer, body in tables.items()})


if __name__ == "__main__":
    main()
