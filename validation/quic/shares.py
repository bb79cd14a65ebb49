#!/usr/bin/env python3
"""Run shares.toml: throughput of a TCP and a QUIC flow with the same variant.

python validation/quic/shares.py                 # the table on the terminal
python validation/quic/shares.py --write-docs    # and renew docs/data/quic
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

import dumbbell
from dumbbell.report.tables import Table, write_tables

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "docs" / "data" / "quic"


def measure() -> Table:
    """Mean throughput of both flows, Mbit/s, with its standard deviation, and the ratio of the means."""
    scenario = dumbbell.Scenario.from_toml((HERE / "shares.toml").read_text(encoding="utf-8"))
    mbps = pl.col("throughput_bps") / 1e6
    rows = []
    for variant in ("reno", "cubic", "bbr"):
        flows = dumbbell.run(scenario, changes={f"flows.{name}.variant": variant for name in ("tcp", "quic")}).flows
        means = flows.group_by("name").agg(mean=mbps.mean(), sd=mbps.std()).iter_rows(named=True)
        by = {r["name"]: (r["mean"], r["sd"]) for r in means}
        (tcp, tcp_sd), (quic, quic_sd) = by["tcp"], by["quic"]
        rows.append([variant, *(f"{v:.2f}" for v in (tcp, tcp_sd, quic, quic_sd, quic / tcp))])
    return Table(["variant", "TCP (Mbit/s)", "TCP ±", "QUIC (Mbit/s)", "QUIC ±", "QUIC / TCP"], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/quic")
    options = parser.parse_args()
    table = measure()
    print(table.markdown())
    if options.write_docs:
        write_tables(DATA, {"shares": table})


if __name__ == "__main__":
    main()
