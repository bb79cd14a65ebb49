#!/usr/bin/env python3
"""Run matrix.toml and presets.toml: shares, round-trip times and harm of a TCP and a QUIC flow at one bottleneck.

python validation/quic/matrix.py                 # the tables on the terminal
python validation/quic/matrix.py --write-docs    # and renew docs/data/quic
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

import dumbbell
from dumbbell.report.tables import Table, write_tables

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "docs" / "data" / "quic"
COLUMNS = (
    "TCP (Mbit/s)", "TCP ±", "QUIC (Mbit/s)", "QUIC ±", "RTT of TCP (ms)", "RTT of QUIC (ms)", "harm to TCP",
    "harm to QUIC",
)  # fmt: skip


def measure(file: str, names: dict[str, str]) -> Table:
    """Means over the runs of each cell; harm is the part of a flow's throughput alone that the other one takes."""
    results = dumbbell.run(dumbbell.Scenario.from_toml((HERE / file).read_text(encoding="utf-8")))
    harm = results.harm("throughput_bps", better="more")
    keys = list(names)
    rows = []
    for cell in results.flows.select(keys).unique(maintain_order=True).iter_rows(named=True):
        here = pl.all_horizontal(pl.col(k) == v for k, v in cell.items())
        row = [str(v) for v in cell.values()]
        for column, factor, spread in (("throughput_bps", 1e-6, True), ("rtt_mean_ms", 1.0, False)):
            for flow in ("tcp", "quic"):
                values = (results.flows.filter(here & (pl.col("name") == flow))[column] * factor).to_numpy()
                row.append(f"{np.mean(values):.2f}" if spread else f"{np.mean(values):.1f}")
                if spread:
                    row.append(f"{np.std(values, ddof=1):.2f}")
        for flow in ("tcp", "quic"):
            row.append(f"{np.mean(harm.filter(here & (pl.col('name') == flow))['harm'].to_numpy()):.2f}")
        rows.append(row)
    return Table([*names.values(), *COLUMNS], rows)


def main() -> None:
    """Run, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write-docs", action="store_true", help="renew docs/data/quic")
    options = parser.parse_args()
    tables = {
        "matrix": measure("matrix.toml", {"flows.tcp.variant": "over TCP", "flows.quic.variant": "over QUIC"}),
        "presets": measure("presets.toml", {"flows.quic.stack": "preset"}),
    }
    for table in tables.values():
        print(table.markdown())
    if options.write_docs:
        write_tables(DATA, tables)


if __name__ == "__main__":
    main()
