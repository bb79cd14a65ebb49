"""The output that the modes of ``dumbbell analyze`` share."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dumbbell.cli import output
from dumbbell.common.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from dumbbell.capture import Capture

__all__ = ["Places", "command", "leave", "print_classes", "progress", "warn", "without"]


@contextmanager
def progress(files: list[str]) -> Iterator[Callable[[int, int, int | None], None]]:
    """Show a progress bar of the bytes read, over all files."""
    whole = sum(Path(f).stat().st_size if Path(f).is_file() else 0 for f in files)
    read = [0] * len(files)
    with output.progress("reading", unit="bytes") as moved:

        def show(file: int, done: int, _size: int | None) -> None:
            read[file] = done
            moved(sum(read), whole)

        yield show


def print_classes(capture: Capture) -> None:
    """Print the likely congestion control of each transfer, with the evidence."""
    from dumbbell.capture.output import guesses

    table = guesses(capture)
    if not table:
        output.line(f"{', '.join(capture.files)}: no transfer is long enough to classify its congestion control.")
        return
    output.print_rows(f"Congestion control, {', '.join(capture.files)}", without(table, "evidence"))
    for row in table:
        output.line(f"{row['connection']}: {row['evidence']}")


def warn(capture: Capture) -> None:
    """Print where a capture is damaged, and its warnings."""
    for damage in capture.damage:
        where = f"{damage['file']}, byte {damage['offset']}, after {counted(damage['frames'], 'packet')}"
        output.note(f"damage: {where}: {damage['text']}")
    for warning in capture.warnings:
        output.note(f"warning: {warning['text']}")


def without(rows: list[dict[str, Any]], *columns: str) -> list[dict[str, Any]]:
    """Return rows without some columns."""
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]


@dataclass(frozen=True)
class Places:
    """Where files are written: tables as CSV or Parquet, tables with figures and report, graphs for xplot.

    Raises
    ------
    DumbbellError
        A report is wanted and a package for it is missing: before the analysis, which may take long.
    """

    csv: Path | None
    parquet: Path | None
    out: Path | None
    xplot: Path | None = None

    def __post_init__(self) -> None:
        if self.out is not None:
            from dumbbell.common.extras import require

            require("jinja2")

    def keep(self, capture: Capture, part: str = "") -> None:
        """Write what is wanted of a capture, into the folder ``part`` of each place."""
        if self.csv is None and self.parquet is None and self.out is None and self.xplot is None:
            return
        from dumbbell.capture.files import write_tables

        if self.csv is not None:
            write_tables(capture, self.csv / part, "csv")
            output.note(f"tables in {self.csv / part}")
        if self.parquet is not None:
            write_tables(capture, self.parquet / part, "parquet")
            output.note(f"tables in {self.parquet / part}")
        if self.out is not None:
            from dumbbell.capture.report import write_capture_report

            write_tables(capture, self.out / part / "data", "parquet")
            with output.progress("figures") as moved:
                page = write_capture_report(capture, self.out / part, command(), progress=moved)
            output.note(f"report {page}")
        if self.xplot is not None:
            from dumbbell.capture.xplot import write_xplot

            output.note(f"{counted(len(write_xplot(capture, self.xplot / part)), 'graph')} in {self.xplot / part}")


def command() -> str:
    """Return the call of this process, for reports."""
    return shlex.join(["dumbbell", *sys.argv[1:]])


def leave(*, damaged: bool) -> None:
    """End with exit code 1 if a file is damaged."""
    if damaged:
        raise click.exceptions.Exit(1)
