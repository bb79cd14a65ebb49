"""Reads the tables of all runs. The caller computes a table again if its hash, columns or types are wrong."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TYPE_CHECKING

from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.derived_columns import columns
from dumbbell.results.store.run_folder import hash_of, unreadable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LARGEST", "read"]

LARGEST = 1_000_000_000_000
"""Bytes of the largest table."""
HEADS = ("run", "repetition", "seed")
TYPES = {"text": {"String", "Float64"}, "number": {"Float64", "Int64"}, "count": {"Int64", "Float64"}}
"""Polars' types of columns. A column without values is Float64, whatever it declares."""


def read(folder: LinkFreeFolder, name: Frame, digest: object, wanted: Container[str] | None) -> pl.DataFrame | None:
    """Read a table; with ``wanted`` only the swept paths and these columns. None if it can't be used."""
    import polars as pl  # slow to import

    try:
        with folder.open(f"{name}.parquet", LARGEST) as file:
            if hash_of(file) != digest:
                return None
            schema = pl.read_parquet_schema(file)
            if not _is_declared(name, schema, rows=pl.scan_parquet(file).select(pl.len()).collect().item()):
                return None
            file.seek(0)
            before = list(schema).index("run")
            chosen = [c for k, c in enumerate(schema) if wanted is None or k < before or c in wanted]
            return pl.read_parquet(file, columns=chosen)
    except unreadable():
        return None


def _is_declared(name: Frame, schema: Mapping[str, pl.DataType], rows: int) -> bool:
    """Return True if a table has the columns of its frame, with their types; one without rows has those of the runs."""
    if not rows:
        return "run" in schema
    declared = columns(name)
    return all(str(schema.get(head)) == "Int64" for head in HEADS) and all(
        str(schema[column.name]) in TYPES[column.kind] if column.name in schema else column.nullable
        for column in declared.values()
    )
