"""The files of a run beside its record: series, captures and qlog files."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING

from dumbbell.backends import Finished, Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MovedFiles", "PackedFiles", "RunFiles", "Write", "folder_of_files"]

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
    """The contents of a run's files, for a process on another machine; the attributes are those of `RunFiles`."""

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
        import polars as pl  # slow to import

        return {name: _arrays(pl.read_parquet(content)) for name, content in self.series.items()}

    def remove(self) -> None:
        """Do nothing: there is no folder."""


@dataclass(frozen=True)
class MovedFiles:
    """A run's files in a folder of its own, for another process of this machine: they are never in memory as a whole.

    Attributes
    ----------
    folder : Path
    series, captures, qlogs : mapping of str to Path
        As in `RunFiles`: the files.
    size : int
        Bytes of all files.
    """

    folder: Path
    series: Mapping[str, Path]
    captures: Mapping[str, Path]
    qlogs: Mapping[str, Path]
    size: int

    @classmethod
    def of(cls, finished: Finished, within: Path) -> MovedFiles | None:
        """Write the files of a finished run into a new folder; None without any."""
        files = RunFiles.of(finished)
        if not (files.series or files.captures or files.qlogs):
            return None
        folder = Path(mkdtemp(dir=within))
        numbers = itertools.count()

        def written(write: Write) -> Path:
            place = folder / str(next(numbers))
            write(place)
            return place

        series, captures, qlogs = (
            {name: written(write) for name, write in kind.items()}
            for kind in (files.series, files.captures, files.qlogs)
        )
        return cls(folder, series, captures, qlogs, sum(place.stat().st_size for place in folder.iterdir()))

    def files(self) -> RunFiles:
        """Return the functions that move the files to their places."""
        series, captures, qlogs = (
            {name: partial(shutil.move, file) for name, file in kind.items()}
            for kind in (self.series, self.captures, self.qlogs)
        )
        return RunFiles(series, captures, qlogs)

    def tables(self) -> Mapping[str, Table]:
        """Return the series; those of long runs stay on disk."""
        from dumbbell.common.long_series import LongSeries  # it imports numpy

        long = LongSeries()
        last: dict[str, Table] = {}
        for name, file in self.series.items():
            for part in _parts(file):
                if name in last:
                    long.add_rows(name, last[name])
                last[name] = part
        return long.completed(last)

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def folder_of_files(within: Path | None = None) -> Iterator[Path]:
    """Make a folder for `MovedFiles`, in a directory or in the usual one for series; it is removed at the end."""
    from dumbbell.common.long_series import directory  # it imports numpy

    with TemporaryDirectory(prefix="dumbbell-runs-", dir=within or directory(), ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _parts(file: Path) -> Iterator[Table]:
    """Yield the rows of a series, part by part; at least one part."""
    import polars as pl  # slow to import

    from dumbbell.common.long_series import PART_ROWS  # it imports numpy

    rows = pl.scan_parquet(file)
    count = int(rows.select(pl.len()).collect().item())
    for at in range(0, max(count, 1), PART_ROWS):
        yield _arrays(rows.slice(at, PART_ROWS).collect())


def _arrays(frame: pl.DataFrame) -> Table:
    return {column.name: column.to_numpy() for column in frame}


def _write_table(tables: Mapping[str, Table], name: str, place: Path) -> None:
    import polars as pl  # slow to import

    from dumbbell.common.long_series import parts_of  # it imports numpy

    if (parts := parts_of(tables, name)) is None:
        pl.DataFrame(tables[name]).write_parquet(place)
        return
    from polars.io.plugins import register_io_source  # slow to import

    first = pl.DataFrame(next(parts))
    frames = itertools.chain([first], map(pl.DataFrame, parts))
    register_io_source(lambda *_: frames, schema=first.schema).sink_parquet(place)


def _write_bytes(content: bytes, place: Path) -> None:
    place.write_bytes(content)
