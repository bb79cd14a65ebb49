"""``dumbbell analyze pair A B``: matches two captures of one path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dumbbell.capture.commands import options
from dumbbell.capture.commands.output import Places, command, leave
from dumbbell.cli import front, output

if TYPE_CHECKING:
    import polars as pl

    from dumbbell.capture import Pair

__all__ = ["pair"]

COLUMNS = {
    "packets_first": "packets",
    "lost": "lost",
    "reordered": "reordered",
    "delay_min_ms": "delay min ms",
    "delay_p50_ms": "p50 ms",
    "delay_p95_ms": "p95 ms",
    "delay_max_ms": "max ms",
    "queueing_mean_ms": "queueing mean ms",
}
"""Column and heading: a direction's columns on the terminal."""


@front.command(
    "pair",
    "dumbbell analyze pair sender.pcap receiver.pcap",
    "dumbbell analyze pair sender.pcap receiver.pcap --same-clock --out results/path",
)
@click.argument("first", type=click.Path(), metavar="A", help="The capture at the sender.")
@click.argument("second", type=click.Path(), metavar="B", help="The capture at the receiver.")
@click.option("--same-clock", is_flag=True, help="One clock stamped both files, so delays are absolute.")
@options.intervals
@options.outputs(graphs=False)
def pair(
    first: str,
    second: str,
    same_clock: bool,
    interval: str | None,
    as_json: bool,
    out: Path | None,
    csv: Path | None,
    parquet: Path | None,
) -> None:
    """Match two captures of one path, packet by packet: one-way delays and losses between the two.

    The exit code is 1 if a file is damaged or truncated.
    """
    from dumbbell.capture import pair as match

    places = Places(csv, parquet, out)
    files = (first, second)
    interval_s = options.seconds("--interval", interval)
    # Read four times: for the offset, for the sides, for the clocks, for the delays.
    total = sum(Path(f).stat().st_size for f in files if Path(f).is_file())
    with output.progress("reading", unit="bytes") as moved:
        found = match(
            *files,
            interval_s=interval_s,
            same_clock=same_clock,
            matches=bool(csv or parquet or out),
            progress=lambda done: moved(done, total),
        )
    for text in found.damage:
        output.note(f"damage: {text}")
    if as_json:
        output.document(found.document())
    else:
        for sentence in found.summary():
            output.line(sentence)
        busy = found.busy()
        if busy.height:
            output.line("")
            output.print_frame("From place to place", _shown(busy))
    _keep(found, places)
    leave(damaged=bool(found.damage))


def _shown(busy: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    from dumbbell.capture.output import name_of

    rows = []
    for row in busy.iter_rows(named=True):
        path = "A to B" if row["direction"] == 0 else "B to A"
        rows.append({"connection": name_of(row), "direction": path, **{h: row[c] for c, h in COLUMNS.items()}})
    return pl.DataFrame(rows)


def _keep(found: Pair, places: Places) -> None:
    from dumbbell.capture.files import write_frames

    tables = {"flows": found.flows, "series": found.series}
    if found.matches is not None:
        tables["matches"] = found.matches
    if places.csv is not None:
        write_frames(tables, places.csv, "csv")
        output.note(f"tables in {places.csv}")
    if places.parquet is not None:
        write_frames(tables, places.parquet, "parquet")
        output.note(f"tables in {places.parquet}")
    if places.out is not None:
        from dumbbell.capture.pair_report import write_pair_report

        write_frames(tables, places.out / "data", "parquet")
        with output.progress("figures") as moved:
            page = write_pair_report(found, places.out, command(), progress=moved)
        output.note(f"report {page}")
