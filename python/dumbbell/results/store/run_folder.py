"""Finished runs on disk: a journal that grows by a line a run, and batches of neighboring runs in Parquet.

::

    runs/journal.jsonl     finished runs of parts that are not complete yet, a line each
    runs/PART-HASH.parquet the runs of a complete part, sorted by cell and repetition

The first line of the journal, and the first row of a batch in the column ``experiment``, hold the experiment: a
directory whose manifest is lost is still readable. HASH is the SHA-256 of the file, and each run has a check of its
own: a row that was damaged or edited is found, left out and counted. A process that is killed at any moment loses
only the runs that it was making.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from dumbbell.results.runs.record import Run
from dumbbell.results.runs.run_list import AnyRun, Place, RunLog, Unpack
from dumbbell.results.runs.run_text import StoredRun, check_of

__all__ = ["RunFolder", "file_hash", "unreadable"]

JOURNAL = "journal.jsonl"
Replace = Callable[[Path, Callable[[Path], object]], None]


class RunFolder:
    """The folder of finished runs.

    Parameters
    ----------
    folder : Path
        The folder ``runs``.
    replace : callable
        Writes a file apart, then puts it into its place in one step: ``replace(path, write)``.
    """

    def __init__(self, folder: Path, replace: Replace) -> None:
        self.folder = folder
        self._replace = replace
        self._experiment = "{}"
        self._log = RunLog()
        self._lines: dict[Place, str] = {}
        """The journal's lines of runs that no batch holds."""
        self._spoiled: dict[int, list[Path]] = {}
        """Batches with damaged rows, by part; the part's next batch replaces them."""
        self._writing: TextIO | None = None
        """The journal, while runs are added to it."""

    # ------------------------------------------------------------ read

    def experiments(self) -> Iterator[dict[str, Any]]:
        """Yield the experiment that each file belongs to, as far as they can be read."""
        texts = []
        if self._journal.exists():
            with self._journal.open(encoding="utf-8", errors="replace") as lines:
                texts.append(lines.readline())
        for file in self._files():
            import polars as pl  # slow to import

            try:
                texts.append(pl.read_parquet(file, columns=["experiment"], n_rows=1).item())
            except unreadable():
                continue
        for text in texts:
            if isinstance(content := _read(text), dict):
                yield content

    def read(self, cells: int) -> RunLog:
        """Find every stored run; ``cells`` neighboring cells form a part.

        The journal is read first: another process may put runs into a batch now, and then remove them from the
        journal. Batches that appear meanwhile are read, too.
        """
        self._log = RunLog(cells, self._freeze)
        lines = self._journal_lines()
        known: set[Path] = set()
        while new := [file for file in self._files() if file not in known]:
            for file in new:
                self._read_batch(file)
            known.update(new)
        for line in lines:
            cell, _, rest = line.rstrip("\n").partition(" ")
            check, _, text = rest.partition(" ")
            self._take(int(cell) if cell.isascii() and cell.isdigit() else None, check, text)
        return self._log

    @property
    def _journal(self) -> Path:
        return self.folder / JOURNAL

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))

    def _read_batch(self, file: Path) -> None:
        import polars as pl  # slow to import

        try:
            if file.stem.partition("-")[2] == file_hash(file):
                self._log.add_packed(pl.read_parquet(file, columns=["cell", "repetition"]).rows(), partial(_runs, file))
                return
            rows = pl.read_parquet(file, columns=["cell", "check", "run"]).rows()
        except FileNotFoundError:
            return  # another process has replaced it
        except unreadable():
            rows = [(0, "", "")]
        for cell, check, text in rows:
            self._take(cell, check, text)
        part = file.stem.partition("-")[0]
        self._spoiled.setdefault(int(part) if part.isdigit() else -1, []).append(file)

    def _journal_lines(self) -> list[str]:
        try:
            with self._journal.open(encoding="utf-8", errors="replace") as lines:
                next(lines, None)
                # A line without an end: the process was killed while it wrote it.
                return [line for line in lines if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def _take(self, cell: object, check: object, text: object) -> None:
        """Take a stored run over if it is the run that was stored."""
        if isinstance(cell, int) and isinstance(text, str) and isinstance(check, str) and check == check_of(cell, text):
            try:
                run = Run(**json.loads(text))
            except (ValueError, TypeError, RecursionError):  # it was stored by another version
                self._log.damaged += 1
                return
            if (cell, run.repetition) not in self._log:  # else: the process was killed before it renewed the journal
                self._log.add(cell, run)
                self._lines[cell, run.repetition] = _line(cell, check, text)
        else:
            self._log.damaged += 1

    def hash(self) -> str:
        """Return a hash over the runs of all batches."""
        return _hash(" ".join(file.name for file in self._files()).encode())

    # ------------------------------------------------------------ write

    def begin(self, experiment: dict[str, Any]) -> None:
        """Begin to write runs of an experiment."""
        self._experiment = json.dumps(experiment, ensure_ascii=False, allow_nan=False)
        self.folder.mkdir(exist_ok=True)
        self._write_journal()

    def keep(self, cell: int, run: Run) -> None:
        """Write a finished run."""
        self._write([StoredRun.of(cell, run)])
        self._log.add(cell, run)

    def keep_stored(self, runs: Sequence[StoredRun]) -> None:
        """Write finished runs that are text already."""
        self._write(runs)
        for run in runs:
            self._log.add(run.cell, run)

    def _write(self, runs: Sequence[StoredRun]) -> None:
        lines = {(run.cell, run.repetition): _line(run.cell, run.check, run.text) for run in runs}
        if self._writing is None:
            self._writing = self._journal.open("a", encoding="utf-8")
        self._writing.write("".join(lines.values()))
        self._writing.flush()
        self._lines.update(lines)

    def close(self, part: int) -> None:
        """Write the runs of a part as a batch; no more are expected for now."""
        self._log.close(part)
        self._write_journal()

    def finish(self) -> None:
        """Write all runs as batches."""
        self._log.close_all()
        self.release()
        self._journal.unlink(missing_ok=True)
        for spoiled in [file for files in self._spoiled.values() for file in files]:
            spoiled.unlink(missing_ok=True)  # its whole rows are in other batches now
        self._spoiled.clear()

    def release(self) -> None:
        """Close the journal. A failed write was an error of `keep` already."""
        if self._writing is not None:
            with suppress(OSError):
                self._writing.close()
            self._writing = None

    def _freeze(self, runs: Sequence[tuple[int, AnyRun]]) -> Unpack:
        import polars as pl  # slow to import

        lines = [self._lines[cell, run.repetition].rstrip("\n").split(" ", 2) for cell, run in runs]
        columns = {
            "cell": [cell for cell, _ in runs],
            "repetition": [run.repetition for _, run in runs],
            "key": [run.key for _, run in runs],
            "check": [check for _, check, _ in lines],
            "run": [text for _, _, text in lines],
            "experiment": [self._experiment, *[None] * (len(runs) - 1)],
        }
        content = io.BytesIO()
        pl.DataFrame(columns).write_parquet(content)
        part = self._log.part(runs[0][0])
        file = self.folder / f"{part:06}-{_hash(content.getvalue())}.parquet"
        self._replace(file, lambda path: path.write_bytes(content.getvalue()))
        for spoiled in set(self._spoiled.pop(part, [])) - {file}:
            spoiled.unlink(missing_ok=True)
        for cell, run in runs:
            self._lines.pop((cell, run.repetition), None)
        return partial(_runs, file)

    def _write_journal(self) -> None:
        self.release()
        text = "".join([self._experiment + "\n", *self._lines.values()])
        self._replace(self._journal, lambda path: path.write_text(text, encoding="utf-8"))


def _runs(file: Path) -> list[Run]:
    """Read a batch that was checked when the directory was opened."""
    import polars as pl  # slow to import

    return [Run(**json.loads(text)) for text in pl.read_parquet(file, columns=["run"])["run"]]


def _line(cell: int, check: str, text: str) -> str:
    return f"{cell} {check} {text}\n"


def file_hash(file: Path) -> str:
    """Return the hash of a file's content."""
    return _hash(file.read_bytes())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _read(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def unreadable() -> tuple[type[BaseException], ...]:
    """Return the exceptions that reading a damaged Parquet file may raise."""
    import polars as pl  # slow to import

    return OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException
