#!/usr/bin/env python3
"""Run the scenarios of validation/scenarios and compare the results with ns-2's reference data.

    python validation/ns2/compare.py                      # all tables and CSV files; exit code 1 if a check fails
    python validation/ns2/compare.py --only exp1          # one part (may be repeated)
    python validation/ns2/compare.py --write-docs         # and renew docs/data/ns2 and the figures

Needs no ns-2: its results are in data/. Required: experiment 1 with jittered CBR at 1 to 9 Mbit/s.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import page
import steady
import timelines
from dumbbell.plots import Picture
from dumbbell.report.tables import Table, write_tables

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("exp1", "robust", "exp2", "exp3", "drops")
ROBUST = 40
"""Repetitions of the longer run that shows how much of a difference is chance."""


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows under a header of their keys."""
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def exp1(out: Path) -> tuple[dict[str, Table], list[Picture], list[str]]:
    """Compare experiment 1: tables, figures, and the failures."""
    tables: dict[str, Table] = {}
    pictures: list[Picture] = []
    failed: list[str] = []
    for setting in steady.SETTINGS:
        cells = steady.exp1(setting)
        write_csv(out / f"exp1-{setting}.csv", [cell.row() for cell in cells])
        tables[f"exp1-{setting}"] = page.steady_table(cells)
        pictures.append(page.steady_picture(setting, cells))
        if setting == "jittered":
            failed = steady.failures(cells)
            tables["exp1-verdict"] = page.verdict(cells)
            tables["exp1-ack-delay"] = page.ack_delay_table(cells)
    return tables, pictures, failed


def main() -> int:
    """Parse the command line, compare, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, action="append", help="this part only (may be repeated)")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "validation-ns2", help="where CSV files go")
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="renew docs/data/ns2 and the figures of docs/explanations/validation-ns2.md",
    )
    options = parser.parse_args()
    parts = options.only or PARTS
    options.out.mkdir(parents=True, exist_ok=True)
    tables: dict[str, Table] = {}
    pictures: list[Picture] = []
    failed: list[str] = []
    if "exp1" in parts:
        tables, pictures, failed = exp1(options.out)
    if "robust" in parts:
        cells = steady.exp1("jittered", repetitions=ROBUST, rates=steady.MUST)
        write_csv(options.out / "exp1-robust.csv", [cell.row() for cell in cells])
        tables["exp1-robust"] = page.robust_table(cells)
    if "exp2" in parts:
        cells = steady.exp2()
        write_csv(options.out / "exp2.csv", [cell.row() for cell in cells])
        tables["exp2"] = page.pairs_table(cells)
        pictures.append(page.pairs_picture(cells))
    if "exp3" in parts:
        courses = steady.exp3()
        write_csv(options.out / "exp3.csv", [course.cell.row() for course in courses])
        tables["exp3"] = page.courses_table(courses)
        pictures.append(page.courses_picture(courses))
    if "drops" in parts:
        cases = timelines.compare(timelines.stored())
        write_csv(options.out / "drops.csv", [case.row() for case in cases])
        tables["drops"] = page.drops_table(cases)
        tables["drops-fall-floyd"] = page.fall_floyd_table(cases)
    for name, table in tables.items():
        print(f"## {name}\n\n{table.markdown()}\n")
    if options.write_docs:
        write_tables(ROOT / "docs" / "data" / "ns2", tables)
        page.draw(pictures, ROOT / "docs" / "img")
    for line in failed:
        print(f"MUST HOLD, does not: {line}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
