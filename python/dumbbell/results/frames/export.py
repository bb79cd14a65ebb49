"""Frames of results for pandas and DuckDB. Both are optional, as is pyarrow, which carries the columns."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from dumbbell.common.formulas import without_formulas
from dumbbell.exceptions import ResultsError

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars as pl

__all__ = ["to_duckdb", "to_pandas", "write_csv"]


def _needed(*names: str) -> ModuleType:
    """Import modules and return the first; the error names the packages to install."""
    try:
        first, *_ = [import_module(name) for name in names]
    except ModuleNotFoundError as e:
        packages = " ".join(names)
        raise ResultsError(f"this needs {packages.replace(' ', ' and ')}: pip install {packages}") from e
    return first


def to_pandas(frame: pl.DataFrame) -> pandas.DataFrame:
    """Return a frame as a pandas frame; ResultsError names the packages to install."""
    _needed("pandas", "pyarrow")
    return frame.to_pandas()


def to_duckdb(frames: Mapping[str, pl.DataFrame]) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with a table for each frame that has columns."""
    database: duckdb.DuckDBPyConnection = _needed("duckdb", "pyarrow").connect()
    for name, frame in frames.items():
        if frame.width:
            database.register("frame", frame.to_arrow())
            database.execute(f'CREATE TABLE "{name}" AS SELECT * FROM frame')
            database.unregister("frame")
    return database


def write_csv(frame: pl.DataFrame) -> str:
    """Return a frame as CSV; a text that a spreadsheet would take for a formula gets an apostrophe before it."""
    import polars as pl  # slow to import

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    plain = frame.with_columns(
        pl.col(name).map_elements(lambda v: str(v.to_list()), return_dtype=pl.String) for name in lists
    )
    return without_formulas(plain).write_csv()
