"""The files of a run beside its record: series, captures and qlog files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dumbbell.backends import Finished, Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["PackedFiles", "RunFiles", "Write"]

Write = Callable[[Path], object]
"""A function that writes a file to a path."""


@dataclass(frozen=True)
class RunFiles:
    """Functions that write the files of a run.

    Attributes
    ----------
    series, captures, qlogs : mapping of str to callable
        By table, by capture point, by the name of a connection.
    """

    series: Mapping[str, Write]
    captures: Mapping[str, Write]
    qlogs: Mapping[str, Write]

    @classmethod
    def of(cls, finished: Finished) -> RunFiles:
        """Find the files of a finished run."""
        return cls(
            series={name: partial(_write_table, finished.tables, name) for name in finished.tables},
            captures=finished.captures,
            qlogs={name: partial(_write_bytes, text.encode()) for name, text in finished.qlogs.items()},
        )


@dataclass(frozen=True)
class PackedFiles:
    """The contents of a run's files, for another process; the attributes are those of `RunFiles`."""

    series: Mapping[str, bytes]
    captures: Mapping[str, bytes]
    qlogs: Mapping[str, bytes]

    @classmethod
    def of(cls, finished: Finished) -> PackedFiles | None:
        """Make the contents of the files of a finished run; None without any."""
        files = RunFiles.of(finished)
        if not (files.series or files.captures or files.qlogs):
            return None
        with TemporaryDirectory(prefix="dumbbell-") as folder:
            place = Path(folder, "file")

            def content(write: Write) -> bytes:
                write(place)
                return place.read_bytes()

            series, captures, qlogs = (
                {name: content(write) for name, write in kind.items()}
                for kind in (files.series, files.captures, files.qlogs)
            )
        return cls(series, captures, qlogs)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(content) for kind in (self.series, self.captures, self.qlogs) for content in kind.values())

    def files(self) -> RunFiles:
        """Return the functions that write the files."""
        series, captures, qlogs = (
            {name: partial(_write_bytes, content) for name, content in kind.items()}
            for kind in (self.series, self.captures, self.qlogs)
        )
        return RunFiles(series, captures, qlogs)

    def tables(self) -> dict[str, Table]:
        """Return the series."""
        import polars as pl  # noqa: PLC0415 - slow to import

        return {name: _arrays(pl.read_parquet(content)) for name, content in self.series.items()}


def _arrays(frame: pl.DataFrame) -> Table:
    return {column.name: column.to_numpy() for column in frame}


def _write_table(tables: Mapping[str, Table], name: str, place: Path) -> None:
    import polars as pl  # noqa: PLC0415 - slow to import

    from dumbbell.backends.long_series import parts_of  # noqa: PLC0415 - it imports numpy

    if (parts := parts_of(tables, name)) is None:
        pl.DataFrame(tables[name]).write_parquet(place)
        return
    from polars.io.plugins import register_io_source  # noqa: PLC0415 - slow to import

    first = pl.DataFrame(next(parts))
    frames = itertools.chain([first], map(pl.DataFrame, parts))
    register_io_source(lambda *_: frames, schema=first.schema).sink_parquet(place)


def _write_bytes(content: bytes, place: Path) -> None:
    place.write_bytes(content)
