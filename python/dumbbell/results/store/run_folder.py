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
import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO

from dumbbell.common.link_free_folder import LinkFreeFolder, size_text
from dumbbell.common.numbers import whole
from dumbbell.exceptions import ResultsError
from dumbbell.results.runs.checked_run import is_place, read_run
from dumbbell.results.runs.record import Run
from dumbbell.results.runs.run_list import AnyRun, Place, RunLog, Unpack
from dumbbell.results.runs.run_text import StoredRun, check_of
from dumbbell.scenario import Scenario

__all__ = ["RunFolder", "hash_of", "unreadable"]

RUNS = "runs"
JOURNAL = f"{RUNS}/journal.jsonl"
LONGEST_LINE = 256_000_000
"""Bytes of the largest run that is read: one with half a million transfers."""
LARGEST_JOURNAL = 8_000_000_000
LARGEST_BATCH = 2_000_000_000
FLOWLESS = ("network.", "duration", "start_jitter", "seed")
"""Beginnings of swept paths that don't change which flows there are."""
MOST_ROWS = 1_000_000
"""Runs of the largest batch: the repetitions of a cell are in one."""


class RunFolder:
    """The folder of finished runs, ``runs`` in a results directory."""

    def __init__(self, folder: LinkFreeFolder) -> None:
        self._folder = folder
        self._experiment = "{}"
        self._log = RunLog()
        self._flows: dict[str, list[str]] = {}
        """The names of flows, by the values of a sweep that can change them."""
        self._lines: dict[Place, str] = {}
        """The journal's lines of runs that no batch holds."""
        self._spoiled: dict[int, list[str]] = {}
        """Batches with damaged rows, by part; the part's next batch replaces them."""
        self._writing: BinaryIO | None = None
        """The journal, while runs are added to it."""

    # ------------------------------------------------------------ read

    def experiments(self) -> Iterator[dict[str, Any]]:
        """Yield the experiment that each file belongs to, as far as they can be read."""
        texts: list[object] = []
        with suppress(FileNotFoundError), self._folder.open(JOURNAL, LARGEST_JOURNAL) as journal:
            texts.extend(islice(self._lines_of(journal), 1))
        for file in self._files():
            import polars as pl  # slow to import

            try:
                with self._folder.open(file, LARGEST_BATCH) as batch:
                    texts.append(pl.read_parquet(batch, columns=["experiment"], n_rows=1).item())
            except unreadable():
                continue
        for text in texts:
            if isinstance(content := _read(text), dict):
                yield content

    def read(self, scenario: Scenario, cells: int) -> RunLog:
        """Find every stored run of a scenario; ``cells`` neighboring cells form a part.

        The journal is read first: another process may put runs into a batch now, and then remove them from the
        journal. Batches that appear meanwhile are read, too.
        """
        self._scenario = scenario
        self._log = RunLog(cells, self._freeze)
        lines = self._journal_lines()
        known: set[str] = set()
        while new := [file for file in self._files() if file not in known]:
            for file in new:
                self._read_batch(file)
            known.update(new)
        for line in lines:
            cell, _, rest = line.rstrip("\n").partition(" ")
            check, _, text = rest.partition(" ")
            self._take(whole(cell), check, text)
        return self._log

    def _files(self) -> list[str]:
        return self._folder.entries(RUNS, ".parquet")

    def _read_batch(self, file: str) -> None:
        import polars as pl  # slow to import

        part, _, digest = PurePosixPath(file).stem.partition("-")
        try:
            content = io.BytesIO(self._folder.read(file, LARGEST_BATCH))
            rows = pl.scan_parquet(content).select(pl.len()).collect().item()
            if rows > MOST_ROWS:
                raise ResultsError(f"{self._folder.path / file}: {rows:,} runs: at most {MOST_ROWS:,} are possible")
            if digest == hash_of(content):
                places = pl.read_parquet(content, columns=["cell", "repetition"]).rows()
                if all(map(is_place, itertools.chain.from_iterable(places))) and places == sorted(set(places)):
                    self._log.add_packed(places, partial(self._runs, file))
                    return
            rows = pl.read_parquet(content, columns=["cell", "check", "run"]).rows()
        except FileNotFoundError:
            return  # another process has replaced it
        except unreadable():
            rows = [(0, "", "")]
        for cell, check, text in rows:
            self._take(cell, check, text)
        number = whole(part)
        self._spoiled.setdefault(-1 if number is None else number, []).append(file)

    def _journal_lines(self) -> list[str]:
        try:
            with self._folder.open(JOURNAL, LARGEST_JOURNAL) as journal:
                # A line without an end: the process was killed while it wrote it.
                return [line for line in islice(self._lines_of(journal), 1, None) if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def _lines_of(self, journal: BinaryIO) -> Iterator[str]:
        """Yield the lines of the journal, of bounded length."""
        while line := journal.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE:
                raise ResultsError(f"{self._folder.path / JOURNAL}: a line of more than {size_text(LONGEST_LINE)}")
            yield line.decode(errors="replace")

    def _take(self, cell: object, check: object, text: object) -> None:
        """Take a stored run over if it is the run that was stored."""
        try:
            number, run = self._checked(cell, check, text)
        except ValueError:
            self._log.damaged += 1
            return
        if (number, run.repetition) not in self._log:  # else: the process was killed before it renewed the journal
            self._log.add(number, run)
            self._lines[number, run.repetition] = f"{cell} {check} {text}\n"

    def hash(self) -> str:
        """Return a hash over the runs of all batches."""
        return hash_of(io.BytesIO(" ".join(PurePosixPath(file).name for file in self._files()).encode()))

    # ------------------------------------------------------------ write

    def begin(self, experiment: dict[str, Any]) -> None:
        """Begin to write runs of an experiment."""
        self._experiment = json.dumps(experiment, ensure_ascii=False, allow_nan=False)
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
        lines = {(run.cell, run.repetition): f"{run.cell} {run.check} {run.text}\n" for run in runs}
        if self._writing is None:
            self._writing = self._folder.append(JOURNAL)
        self._writing.write("".join(lines.values()).encode())
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
        self._folder.remove(JOURNAL)
        for spoiled in itertools.chain.from_iterable(self._spoiled.values()):
            self._folder.remove(spoiled)  # its whole rows are in other batches now
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
        file = f"{RUNS}/{part:06}-{hash_of(content)}.parquet"
        self._folder.write(file, lambda path: path.write_bytes(content.getvalue()))
        for spoiled in set(self._spoiled.pop(part, [])) - {file}:
            self._folder.remove(spoiled)
        for cell, run in runs:
            self._lines.pop((cell, run.repetition), None)
        return partial(self._runs, file)

    def _write_journal(self) -> None:
        self.release()
        self._folder.write_text(JOURNAL, "".join([self._experiment + "\n", *self._lines.values()]))

    def _runs(self, file: str) -> list[Run]:
        """Read a batch that was found when the directory was opened."""
        import polars as pl  # slow to import

        try:
            with self._folder.open(file, LARGEST_BATCH) as batch:
                found = pl.read_parquet(batch, columns=["cell", "check", "run"]).rows()
            return [self._checked(*row)[1] for row in found]
        except unreadable() as e:
            raise ResultsError(
                f"{self._folder.path / file}: can't be read: {str(e).splitlines()[0]}: remove the file, and "
                f"`dumbbell results verify {self._folder.path} --repair` makes its runs again"
            ) from None

    def _flows_of(self, cell: int) -> list[str]:
        """Return the names of a cell's flows. They follow from the values that its sweep gives to flows."""
        values = self._scenario.cells.values_of(cell)
        key = json.dumps({path: value for path, value in values.items() if not path.startswith(FLOWLESS)})
        if key not in self._flows:
            self._flows[key] = [flow.name for flow in self._scenario.cells[cell].scenario.single_flows]
        return self._flows[key]

    def _checked(self, cell: object, check: object, text: object) -> tuple[int, Run]:
        """Read a stored run, with its cell; ValueError unless it is what was stored, and of this cell."""
        if not is_place(cell) or not isinstance(text, str) or check != check_of(cell, text):
            raise ValueError("another content than was stored")
        run, cells = read_run(text), self._scenario.cells
        # JSON has no tuples, which a scenario of Python can have.
        if cell < len(cells) and run.cell != json.loads(json.dumps(cells.values_of(cell))):
            raise ValueError(f"a run of another cell than {cell}")
        if run.seed != self._scenario.repetition_seed(run.repetition):
            raise ValueError(f"another seed than that of repetition {run.repetition}")
        if cell < len(cells) and [row["name"] for row in run.flows] != self._flows_of(cell):
            raise ValueError(f"other flows than those of cell {cell}")
        return cell, run


def hash_of(file: IO[bytes]) -> str:
    """Return the hash of a file's content, and go back to its beginning."""
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()[:24]  # type: ignore[arg-type]
    file.seek(0)
    return digest


def _read(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def unreadable() -> tuple[type[BaseException], ...]:
    """Return the exceptions that reading a damaged Parquet file may raise."""
    import polars as pl  # slow to import

    return OSError, ValueError, pl.exceptions.PolarsError, pl.exceptions.PanicException
