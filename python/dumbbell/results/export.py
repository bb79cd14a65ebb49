"""Frames of results for pandas and DuckDB. Both are optional, as is pyarrow, which carries the columns."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal, TypeVar

from dumbbell.exceptions import ResultsError

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars as pl

__all__ = ["Frame", "to_duckdb", "to_pandas", "without_formulas", "write_csv"]

Frame = Literal["flows", "queues", "transfers"]
"""The frames of results."""


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


FORMULA = r"^[=+\-@\t\r\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""Beginnings of a text that a spreadsheet program takes for a formula, which could run commands; the last four are
the wide forms of the first four."""
NUMBER = r"^[+\-][\d.,]+ ?%?$"
"""Texts with such a beginning that are numbers."""

AnyFrame = TypeVar("AnyFrame", "pl.DataFrame", "pl.LazyFrame")


def without_formulas(frame: AnyFrame) -> AnyFrame:
    """Put an apostrophe before each text, and each name of a column, that a spreadsheet would take for a formula."""
    import polars as pl  # noqa: PLC0415 - slow to import

    schema = frame.collect_schema()

    def harmless(name: str) -> pl.Expr:
        text = pl.col(name)
        formula = text.str.contains(FORMULA) & ~text.str.contains(NUMBER)
        return pl.when(formula).then("'" + text).otherwise(text).alias(name)

    names = pl.DataFrame({"name": list(schema)}, schema={"name": pl.String}).with_columns(harmless("name"))["name"]
    changed: dict[str, str] = {}
    for old, guarded in zip(schema, names, strict=True):
        new = guarded
        while new != old and new in schema:  # another column has this name
            new = f"'{new}"
        changed[old] = new
    texts = [harmless(name) for name, kind in schema.items() if kind == pl.String]
    return frame.with_columns(texts).rename(changed)


def write_csv(frame: pl.DataFrame) -> str:
    """Return a frame as CSV; a text that a spreadsheet would take for a formula gets an apostrophe before it."""
    import polars as pl  # noqa: PLC0415 - slow to import

    lists = [name for name, kind in frame.schema.items() if isinstance(kind, pl.List)]
    plain = frame.with_columns(
        pl.col(name).map_elements(lambda v: str(v.to_list()), return_dtype=pl.String) for name in lists
    )
    return without_formulas(plain).write_csv()
