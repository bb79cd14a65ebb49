"""Files of a capture's tables, as CSV or Parquet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import polars as pl
from polars.io.plugins import register_io_source

from dumbbell.capture.capture import Capture
from dumbbell.common.formulas import without_formulas
from dumbbell.exceptions import CaptureError

__all__ = ["Form", "write_frames", "write_pages", "write_tables"]

Form = Literal["csv", "parquet"]


def write_tables(capture: Capture, folder: Path, form: Form) -> list[Path]:
    """Write every table into a directory, the packets with their labels too.

    Raises
    ------
    CaptureError
        If a file can't be written.
    """
    written = write_frames({"lengths": capture.lengths}, folder, form)
    for name in capture.tables:
        written.append(write_pages(capture.tables.pages(name), folder / f"{name}.{form}", form))
    if "-" not in capture.files:
        written += write_frames({"packets": capture.packets}, folder, form)
    return written


def write_pages(pages: Iterator[pl.DataFrame], place: Path, form: Form) -> Path:
    """Write a table that is made page by page into one file.

    Raises
    ------
    CaptureError
        If the file can't be written.
    """
    try:
        if form == "csv":
            with place.open("wb") as file:
                for n, page in enumerate(pages):
                    without_formulas(page).write_csv(file, include_header=n == 0)
        else:
            first = next(pages)
            register_io_source(lambda *_: itertools.chain([first], pages), schema=first.schema).sink_parquet(place)
    except OSError as e:
        raise CaptureError(f"{place}: can't be written: {e.strerror or e}") from None
    return place


def write_frames(tables: Mapping[str, pl.DataFrame | pl.LazyFrame], folder: Path, form: Form) -> list[Path]:
    """Write frames into a directory, each as a file of its name.

    Raises
    ------
    CaptureError
        If a file can't be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            place = folder / f"{name}.{form}"
            if isinstance(table, pl.LazyFrame):
                without_formulas(table).sink_csv(place) if form == "csv" else table.sink_parquet(place)
            else:
                without_formulas(_flat(table)).write_csv(place) if form == "csv" else table.write_parquet(place)
            written.append(place)
    except OSError as e:
        raise CaptureError(f"{folder}: can't be written: {e.strerror or e}") from None
    return written


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """Write lists as text: CSV has no lists."""
    lists = [name for name, dtype in table.schema.items() if dtype.is_nested()]
    return table.with_columns(pl.col(lists).map_elements(str, pl.String)) if lists else table
