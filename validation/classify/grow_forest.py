#!/usr/bin/env python3
"""Trains the classification with the transfers of `corpus.py`, and judges it with held-out paths.

    python3 validation/classify/grow_forest.py FOLDER                  # prints the tables
    python3 validation/classify/grow_forest.py FOLDER --write          # and renews forest.bin and docs/data/classify
    python3 validation/classify/grow_forest.py FOLDER --keep-trees --write       # renews only the thresholds

With `--keep-trees` the paths must not be those that the bundled forest was trained with: those below 70 of the kernel
and below 90 of the simulator.

It needs scikit-learn: `pip install 'dumbbell[validation]'`.

The paths are divided into five folds. A transfer is judged by a forest of the other folds' transfers, with thresholds
from these folds: no transfer of its own path has a part in either.
"""

from __future__ import annotations

import argparse
import datetime
import math
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.ensemble import ExtraTreesClassifier

from dumbbell.report.tables import Table, write_tables

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches"))
from corpus import stack_of  # noqa: E402
from forest_file import forest_file, parts, trees_of  # noqa: E402
from measuring import program  # noqa: E402
from thresholds import NEEDED, NEVER, OTHER, Calibration, Vote, are_right, calibrate  # noqa: E402

Truth = dict[str, Any]
"""A transfer: its number, fold, weight and class, the right names, and what the tables count by."""

DATA = ROOT / "docs" / "data" / "classify"
FOREST = ROOT / "crates" / "capture" / "src" / "flow" / "classify" / "forest.bin"
FAMILIES = {
    "reno-like": "reno newreno sack lp",
    "vegas-like": "vegas nv copa",
    "ledbat-like": "ledbat ledbat++",
    "dctcp-like": "dctcp prague",
}
ALONE = ("cubic", "bic", "scalable", "highspeed", "htcp", "hybla", "illinois", "compound", "westwood", "veno")
FAMILIES |= {name: name for name in (*ALONE, "bbr1", "bbr3", "tahoe")}
"""The variants of each family. All others are "unknown"."""
CLASS = {variant: family for family, variants in FAMILIES.items() for variant in variants.split()}
ALSO_RENO = ("yeah", "compound", "hybla")
"""Variants that grow and decrease as Reno on some paths, as the page states: the name is right for them, too."""
LOW_WINDOW = 38
"""Segments up to which HighSpeed is Reno [RFC 3649 §5]."""
DELTA_L_NS = 1_000_000_000
"""Time after a loss in which H-TCP is Reno [draft-leith-tcp-htcp-06 §2.1]."""
TARGET_MS = 100
"""Target of LEDBAT, which grows as Reno while its delay is far below it [RFC 6817 §2.4.2]."""
ALPHA = 2
"""Segments in the queue below which Vegas grows as Reno [Linux tcp_vegas.c, alpha]."""
FEW_LOSSES, MOST = 4, 0.8
"""Vegas is Reno on a path with these losses and this share of rounds below `ALPHA`."""
LIMITS = ["idle", "application", "window", "recovery", "network"]
BACKENDS = {"sim": "simulator", "uml": "Linux 6.12"}
"""Names of the corpus's back ends in the tables."""
KERNEL_WEIGHT = 3.0
"""Weight of a transfer of the kernel; one of the simulator has 1."""
FOLDS = 5
SHAPE = {"n_estimators": 64, "max_depth": 16, "min_samples_leaf": 3, "max_features": 24, "bootstrap": True}
"""Trees, levels of a tree, transfers of a leaf, and measurements tried for each split, each with one threshold."""


def transfers(folder: Path) -> Iterator[pl.DataFrame]:
    """Return the rounds of each transfer of the corpus."""
    for file in sorted(folder.glob("*.parquet")):
        yield from pl.read_parquet(file).partition_by(["place", "flow", "direction"], maintain_order=True)


def is_reno(rounds: pl.DataFrame, mss: int, at_sender: bool) -> bool:
    """Return True if the transfer's variant had no occasion to differ from Reno on its path."""
    first = rounds.row(0, named=True)
    variant = first["variant"]
    if variant == "highspeed":
        return float(rounds["flight" if at_sender else "new_bytes"].quantile(0.9) or 0) < LOW_WINDOW * mss
    if variant == "tahoe":
        # Its definition is its loss recovery, which a Linux stack replaces.
        return stack_of(first["path"], first["run"]) != "rfc"
    trips = (rounds["end_ns"] - rounds["start_ns"]) / 1e6
    base, longest = float(trips.quantile(0.02) or 0), float(trips.quantile(0.95) or 0)
    if variant == "ledbat":
        return longest - base < TARGET_MS / 2
    if variant == "vegas":
        rtt = rounds["rtt_mean_ms"].fill_null(base) if at_sender else trips
        least = float(rtt.quantile(0.02) or 0)
        waiting = rounds["flight" if at_sender else "new_bytes"] / mss * (1 - least / rtt)
        halved = int((rounds["fast"] > 0).sum())
        return halved >= FEW_LOSSES and float((waiting < ALPHA).sum()) > MOST * rounds.height
    if variant == "westwood":
        return abs(base / max(longest, 1e-3) - 0.5) < 0.08
    losses = rounds.filter((pl.col("fast") > 0) | (pl.col("timeout") > 0))["start_ns"]
    return variant == "htcp" and losses.len() > 1 and float(losses.diff().quantile(0.9) or 0) < DELTA_L_NS


def line(number: int, rounds: pl.DataFrame) -> tuple[str, Truth]:
    """Describe a transfer for `classify_rounds`, and for the training and the tables."""
    first = rounds.row(0, named=True)
    variant, marked = first["variant"], bool(rounds["ecn_echoes"].sum())
    family = CLASS.get(variant, "other")
    if family == "dctcp-like" and not marked:
        family = "reno-like"
    # The segments of a capture with offloads are joined.
    mss = 1448 if first["payload_max"] > 9000 else max(first["payload_max"], 1)
    at_sender = first["vantage"] is None or first["vantage"] < 0.5
    right = [family] + (["reno-like"] if variant in ALSO_RENO else [])
    if is_reno(rounds, mss, at_sender):
        family, right = "reno-like", ["reno-like", family]
    known = pl.col("rtt_min_ms").is_not_null()
    # One sample stands for all: only the least and the mean are used.
    columns = rounds.select(
        pl.col("start_ns", "end_ns", "flight", "new_bytes", "acked_bytes"),
        (pl.col("rtt_min_ms").fill_null(0) * 1e6).round().cast(pl.Int64),
        (pl.col("rtt_mean_ms").fill_null(0) * 1e3).round().cast(pl.Int64),
        known.cast(pl.Int64).alias("samples"),
        pl.col("retransmissions", "ecn_echoes", "fast", "timeout", "repairing"),
        pl.col("limit").replace_strict(LIMITS, list(range(len(LIMITS))), return_dtype=pl.Int64),
    )
    cells = columns.select(pl.concat_str(pl.all().cast(pl.String), separator=" ")).to_series()
    truth = {
        "transfer": number,
        "fold": zlib.crc32(f"{first['backend']} {first['path']}".encode()) % FOLDS,
        "weight": KERNEL_WEIGHT if first["backend"] == "uml" else 1.0,
        "backend": BACKENDS[first["backend"]],
        "variant": variant,
        "class": family,
        "place": "sender" if at_sender else "receiver",
        "right": right,
    }
    return ",".join([str(number), str(mss), str(int(at_sender)), *cells]), truth


Z = 1.96
"""Of an interval of 95 %."""


def wilson(right: int, n: int) -> float | None:
    """Return the lower end of Wilson's interval of 95 %, percent."""
    if not n:
        return None
    p, extra = right / n, Z * Z / n
    return round(100 * (p + extra / 2 - math.sqrt(extra * (p * (1 - p) + extra / 4))) / (1 + extra), 1)


def families(judged: pl.DataFrame) -> pl.DataFrame:
    """Count the names above the threshold, by back end and family; a family without a threshold is never named."""
    there = judged.group_by("backend", "class").agg(pl.len().alias("transfers")).rename({"class": "family"})
    names = (
        judged.filter(pl.col("family") != "other")
        .group_by("backend", "family")
        .agg(
            pl.col("above").sum().alias("above the threshold"),
            (pl.col("above") & pl.col("is_right")).sum().alias("of these right"),
            pl.col("threshold").first(),
        )
    )
    rows = there.join(names, on=["backend", "family"], how="left").filter(pl.col("family") != "other")
    limits = [
        wilson(row[0], row[1]) for row in rows.select("of these right", "above the threshold").fill_null(0).rows()
    ]
    return rows.select(
        "backend",
        "family",
        "transfers",
        pl.col("above the threshold", "of these right").fill_null(0),
        pl.Series("at least (%)", limits, dtype=pl.Float64),
        # NEVER is above 1.
        pl.when(pl.col("threshold") <= 1).then(pl.col("threshold")).alias("threshold"),
    ).sort("backend", "family")


def tables(found: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Count the named transfers and those with a right name: by family, by end and by variant."""
    judged = found.with_columns(
        named=pl.col("confidence") > 0.5,
        is_right=pl.struct("family", "right").map_elements(
            lambda row: row["family"] in row["right"], return_dtype=pl.Boolean
        ),
    )

    def counts(*by: str) -> pl.DataFrame:
        return (
            judged.group_by(*by)
            .agg(
                pl.len().alias("transfers"),
                pl.col("named").sum(),
                (pl.col("named") & pl.col("is_right")).sum().alias("of these right"),
            )
            .with_columns((100 * pl.col("of these right") / pl.col("named")).round(1).fill_nan(None).alias("right (%)"))
            .sort(by)
        )

    wrong = (
        judged.filter(pl.col("named") & ~pl.col("is_right")).group_by("variant", "family").agg(pl.len()).sort("variant")
    )
    by_family = families(judged)
    ends, variants = counts("backend", "place"), counts("backend", "variant")
    return {"families": by_family, "ends": ends, "variants": variants, "wrong": wrong}


def measured(rounds: Path, forest: bytes | None = None) -> dict[int, list[float]]:
    """Return the measurements of each transfer that is long enough, or the shares that a forest gives it."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(forest or b"")
        file.flush()
        command = [str(program("dumbbell-capture", "classify_rounds")), str(rounds), *([file.name] if forest else [])]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = (line.split(",") for line in done.stdout.splitlines())
    return {int(number): [float(value) for value in values] for number, *values in lines}


def grown(rows: dict[int, list[float]], known: list[Truth]) -> tuple[list[str], bytes]:
    """Train a forest with transfers. Returns its classes and trees."""
    model = ExtraTreesClassifier(**SHAPE, random_state=1)
    values = np.array([rows[truth["transfer"]] for truth in known], np.float32)
    model.fit(values, [truth["class"] for truth in known], [truth["weight"] for truth in known])
    return list(model.classes_), trees_of(model)


def held_out(rounds: Path, truths: list[Truth], keep: tuple[list[str], bytes] | None) -> list[Vote]:
    """Return the vote for each transfer, by a forest that doesn't know its path."""
    rows, votes = measured(rounds), []
    for fold in range(FOLDS):
        others = [truth for truth in truths if truth["fold"] != fold and truth["transfer"] in rows]
        classes, trees = keep or grown(rows, others)
        shares = measured(rounds, forest_file(classes, [0.0] * len(classes), [], trees))
        for truth in truths:
            if truth["fold"] == fold and truth["transfer"] in rows:
                own = shares[truth["transfer"]]
                name = classes[int(np.argmax(own))]
                votes.append(Vote(truth["transfer"], fold, truth["backend"], name, max(own), name in truth["right"]))
    return votes


def judged(votes: list[Vote], classes: list[str]) -> tuple[Calibration, pl.DataFrame]:
    """Return the calibration, and for each vote whether it is sure by a calibration that doesn't know its path."""
    of_others = [calibrate([vote for vote in votes if vote.fold != fold], classes) for fold in range(FOLDS)]
    ratio = {vote.transfer: of_others[vote.fold].ratio(vote) for vote in votes}
    whole = calibrate(votes, classes)
    sure = {n: are_right((v for v in votes if v.name == n and ratio[v.transfer] >= 1), NEEDED) for n in classes}
    thresholds = {name: whole.thresholds[name] if sure[name] else NEVER for name in classes}
    rows = []
    for vote in votes:
        above = ratio[vote.transfer] >= 1 and vote.name != OTHER
        if vote.name == OTHER:
            confidence = 0.0
        elif not sure[vote.name]:
            confidence = 0.5 * vote.share / NEVER
        else:
            confidence = of_others[vote.fold].right(vote) if above else 0.5 * ratio[vote.transfer]
        rows.append((vote.transfer, vote.name, vote.share, above, confidence, thresholds[vote.name]))
    columns = ["transfer", "family", "share", "above", "confidence", "threshold"]
    return Calibration(thresholds, whole.steps), pl.DataFrame(rows, schema=columns, orient="row")


def main() -> int:
    """Train, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep-trees", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    keep = parts(FOREST.read_bytes()) if options.keep_trees else None
    truths: list[Truth] = []
    with tempfile.TemporaryDirectory() as temporary:
        rounds = Path(temporary) / "rounds.csv"
        with rounds.open("w") as file:
            for number, table in enumerate(transfers(options.folder)):
                text, truth = line(number, table)
                file.write(text + "\n")
                truths.append(truth)
        votes = held_out(rounds, truths, keep)
        rows = measured(rounds)
    classes, trees = keep or grown(rows, [truth for truth in truths if truth["transfer"] in rows])
    calibration, votes_table = judged(votes, classes)
    made = tables(pl.DataFrame(truths).join(votes_table, on="transfer"))
    print(f"{len(votes)} transfers of {len(classes)} classes")
    for name, table in made.items():
        print(name, table, sep="\n")
    for name, threshold in calibration.thresholds.items():
        print(f"{name}: {'never sure' if threshold > 1 else f'sure from {threshold:.2f}'}")
    if options.write:
        FOREST.write_bytes(forest_file(classes, list(calibration.thresholds.values()), calibration.steps, trees))
        today = datetime.datetime.now(datetime.UTC).date()
        how = "--keep-trees " if options.keep_trees else ""
        command = f"python validation/classify/grow_forest.py FOLDER {how}--write"
        head = f"Measured on {today}, five folds over paths, by `{command}`"
        kept = {f"held-out-{name}": made[name] for name in ("families", "ends", "variants")}
        cells = {n: [["" if v is None else str(v) for v in row] for row in t.rows()] for n, t in kept.items()}
        write_tables(DATA, {n: Table(t.columns, cells[n], head) for n, t in kept.items()})
    return 0


if __name__ == "__main__":
    pl.Config.set_tbl_rows(200)
    sys.exit(main())
