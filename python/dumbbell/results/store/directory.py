"""The directory that keeps results.

::

    DIR/manifest.json            the experiment: scenario, version, build, seed, host, start and end
    DIR/files/NAME               copies of the files that the scenario reads, such as packet-delivery traces
    DIR/runs/                    the finished runs (`dumbbell.results.store.run_folder`)
    DIR/series/KEY/TABLE.parquet a run's series, where the scenario traces them
    DIR/captures/KEY/POINT.pcapng
                                 its captures, where the scenario makes some
    DIR/captures/KEY/NAME.sqlog, FLOW-N.qlog
                                 its qlog files, likewise
    DIR/flows.parquet, queues.parquet, transfers.parquet
                                 all runs as tables, written when the last run is finished
    DIR/.partial/                files being written, and the lock of the process that writes them; gone at the end

KEY names a run by its whole plan. A run is stored after everything else of it is on disk: a process that is killed at
any moment loses only the runs that it was making. Results of another scenario, version, build or back end are never
mixed with those that a directory holds.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dumbbell import _core
from dumbbell.backends import Finished
from dumbbell.common.documents import read_json
from dumbbell.common.failures import writing
from dumbbell.common.formats import newer
from dumbbell.common.link_free_folder import LinkFreeFolder
from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.results.runs.column import Frame
from dumbbell.results.runs.record import UnreadRun
from dumbbell.results.runs.run_list import PART, RunLog
from dumbbell.results.runs.run_text import StoredRun
from dumbbell.results.store import earlier_formats, manifests, stored_table
from dumbbell.results.store.build_hash import build_hash
from dumbbell.results.store.file_names import file_name, files_in, write_names
from dumbbell.results.store.run_files import MovedFiles, PackedFiles, RunFiles, folder_of_files
from dumbbell.results.store.run_folder import RunFolder, hash_of, unreadable
from dumbbell.scenario import Scenario, files, trusted
from dumbbell.scenario.own import disciplines as own_disciplines
from dumbbell.scenario.own import variants as own_variants
from dumbbell.scenario.own.code import OwnCode
from dumbbell.scenario.own.disciplines import OwnDiscipline
from dumbbell.scenario.own.variants import OwnVariant

if TYPE_CHECKING:
    import polars as pl

try:
    import fcntl
except ImportError:  # not a Unix: two processes in one directory are not detected
    fcntl = None  # type: ignore[assignment]

__all__ = ["Store"]

FORMAT = 3
MANIFEST = "manifest.json"
TEMPORARY = ".partial"
LOCK = f"{TEMPORARY}/lock"
LARGEST_FILE = 1_000_000_000_000
"""Bytes of the largest series or capture."""
EXTENDABLE = ("description", "repetitions", "until")
"""Keys that may differ between calls that share a directory: repetitions are only ever added."""


class Store:
    """A results directory of one scenario."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._folder = LinkFreeFolder(path, TEMPORARY)
        self._folder.check()
        self.runs = RunFolder(self._folder)
        self._lock: BinaryIO | None = None
        self._log: RunLog | None = None

    # ------------------------------------------------------------ begin and end

    @contextmanager
    def open(self, scenario: Scenario, backend: str) -> Iterator[None]:
        """Begin or continue a scenario; ResultsError if the directory holds something else or is in use."""
        try:
            self._begin(scenario, backend)
            yield
        finally:
            if self._lock is not None:
                self.runs.release()
                if fcntl is None:  # Windows can't remove a file while it is open
                    self._lock.close()
                with suppress(OSError):
                    self._folder.remove(TEMPORARY)
                self._lock.close()

    def _begin(self, scenario: Scenario, backend: str) -> None:
        with writing(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            if self.is_begun():
                self.check_same(scenario, backend)
            elif any(self.path.iterdir()):
                raise ResultsError(f"{self.path}: not empty, and not a results directory: choose another")
            self._lock = self._locked()
            for left in self._folder.entries(TEMPORARY):
                if left != LOCK:
                    self._folder.remove(left)
            self._keep_files(scenario)
            self._write_manifest(scenario, backend, finished=None)
            self._log = self.runs.read(scenario, self._cells_per_part(scenario))
            self.runs.begin(self._experiment(scenario, backend))

    def is_begun(self) -> bool:
        """Return True if the directory holds a manifest or runs."""
        return self._folder.exists(MANIFEST) or any(self._experiments())

    def _locked(self) -> BinaryIO:
        """Lock the directory for this process; the lock ends with the process, even if it is killed."""
        while True:
            self._folder.make(TEMPORARY)
            try:
                lock = self._folder.append(LOCK)
            except FileNotFoundError:  # the process that had the lock has just removed the folder
                continue
            if fcntl is None:
                return lock
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise ResultsError(f"{self.path}: another process is writing results into it") from None
            if self._folder.is_same(LOCK, lock):
                return lock
            lock.close()  # likewise: this lock has no name any more, so that it keeps nobody out

    def finish(
        self, scenario: Scenario, backend: str, frames: Iterable[tuple[str, Callable[[Path], object]]], runs: int
    ) -> None:
        """Write the tables, each by its function, and the end of the manifest. The tables have so many runs."""
        with writing(self.path):
            self.runs.finish()
            tables: dict[str, str | int] = {"runs": runs, "of": self.runs.hash()}
            for name, write in frames:
                self._folder.write(f"{name}.parquet", write)
                with self._folder.open(f"{name}.parquet", stored_table.LARGEST) as table:
                    tables[name] = hash_of(table)
            self._write_manifest(scenario, backend, finished=_now(), tables=tables)

    def manifest(self) -> dict[str, Any]:
        """Read the manifest. One that is lost, or can't be read, is put together again from the runs."""
        why = None
        try:
            return manifests.checked(read_json(self._folder.read(MANIFEST)), FORMAT)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as e:
            why = str(e)
        found = max(self._experiments(), key=lambda e: int(e["repetitions"]), default=None)
        if found is not None:
            return found
        of_others = (newer(content.get("format"), FORMAT) for content in self.runs.experiments())
        if why is None and (refused := next(filter(None, of_others), None)) is not None:
            why = f"format: {refused}"
        if why is not None:
            raise ResultsError(f"{self.path}: no readable manifest.json: {why}")
        raise ResultsError(f"{self.path}: no results here: a directory that dumbbell run --out has made is needed")

    def _experiments(self) -> Iterator[dict[str, Any]]:
        """Yield the experiments that the stored runs name."""
        for content in self.runs.experiments():
            try:
                if content.get("format") == FORMAT:
                    yield manifests.checked(content, FORMAT)
            except ValueError:
                continue

    def scenario(self) -> Scenario:
        """Read the scenario that the directory holds."""
        manifest = self.manifest()
        try:
            stored = {text: self.path / "files" / name for text, name in manifest.get("files", {}).items()}
            of_flows = {name: OwnVariant(name, c) for name, c in manifest.get("registered", {}).items()}
            links = manifest.get("registered_disciplines", {})
            of_links = {name: OwnDiscipline(name, c) for name, c in links.items()}
            with (
                files.beside(files.Files(self.path, stored, code="named")),
                own_variants.scope(of_flows),
                own_disciplines.scope(of_links),
                trusted(),
            ):
                return earlier_formats.scenario_of(manifest)
        except (DumbbellError, KeyError) as e:
            raise ResultsError(f"{self.path}: its scenario does not read: {'; '.join(str(e).splitlines())}") from None

    def read(self, scenario: Scenario) -> RunLog:
        """Find the finished runs of the scenario that the directory holds, or of a new one."""
        if self._log is not None:
            return self._log
        manifest = self.manifest()
        if manifest["format"] <= earlier_formats.BEFORE_BATCHES:
            return earlier_formats.read(self._folder, scenario)
        return self.runs.read(scenario, manifest["cells_per_part"])

    def frame(self, name: Frame, runs: int, wanted: Container[str] | None = None) -> pl.DataFrame | None:
        """Read a table that was written at the end; None unless it is whole and has the runs that are here.

        With ``wanted``, only the swept paths and these columns are read.
        """
        tables = self.manifest().get("tables") or {}
        if [tables.get("runs"), tables.get("of")] != [runs, self.runs.hash()]:
            return None
        return stored_table.read(self._folder, name, tables.get(name), wanted)

    def check_same(self, scenario: Scenario, backend: str) -> None:
        """Refuse to mix two scenarios, versions, builds or back ends in one directory."""
        manifest = self.manifest()
        if manifest.get("version") != _core.version:
            theirs = manifest.get("version")
            raise ResultsError(
                f"{self.path}: holds results of dumbbell {theirs}, this is {_core.version}: choose another directory"
            )
        if manifest.get("build") != build_hash():
            raise ResultsError(
                f"{self.path}: holds results of another build of dumbbell {_core.version} "
                f"({manifest.get('build', 'unknown')}; this is {build_hash()}): choose another directory"
            )
        if manifest.get("backend") != backend:
            raise ResultsError(
                f"{self.path}: holds results of back end '{manifest.get('backend')}', not '{backend}': "
                "choose another directory"
            )
        stored = {key: manifest.get(key, {}) for key in ("registered", "registered_disciplines")}
        kept = _identity(self.scenario(), manifest["files"], stored)
        now = _identity(scenario, _stored_names(scenario), _registered(scenario))
        different = [key for key in now if kept.get(key) != now[key]]
        if different:
            raise ResultsError(
                f"{self.path}: holds another scenario ('{kept['name']}'; {', '.join(different)} differ"
                f"{'s' if len(different) == 1 else ''}): choose another directory"
            )

    def _keep_files(self, scenario: Scenario) -> None:
        """Copy the files that the scenario reads, so that the results can be moved."""
        for path, name in _stored_names(scenario).items():
            place = f"files/{name}"
            if not self._folder.exists(place):
                self._folder.write(place, partial(shutil.copyfile, scenario.external_files[path]))

    def _experiment(self, scenario: Scenario, backend: str) -> dict[str, Any]:
        """Return everything of the manifest that the runs depend on."""
        return {
            "format": FORMAT,
            "version": _core.version,
            "build": build_hash(),
            "backend": backend,
            "name": scenario.name,
            "seed": scenario.seed,
            "repetitions": scenario.repetitions,
            "cells": len(scenario.cells),
            "cells_per_part": self._cells_per_part(scenario),
            "files": _stored_names(scenario),
            **_registered(scenario),
            "scenario": scenario.to_dict(),
        }

    def _cells_per_part(self, scenario: Scenario) -> int:
        """Return the number of neighboring cells whose runs are stored together; the same as long as they exist."""
        if self.is_begun():
            return int(self.manifest()["cells_per_part"])
        return max(PART // scenario.repetitions, 1)

    def _write_manifest(
        self, scenario: Scenario, backend: str, *, finished: str | None, tables: dict[str, str | int] | None = None
    ) -> None:
        started = _now()
        if self._folder.exists(MANIFEST) and finished is not None:
            started = self.manifest()["started"]
        content = {
            **self._experiment(scenario, backend),
            "runs": len(scenario.cells) * scenario.repetitions,
            "started": started,
            "finished": finished,
            "tables": tables,
            "host": {
                "name": platform.node(),
                "system": platform.platform(),
                "machine": platform.machine(),
                "cpus": os.cpu_count(),
                "python": platform.python_version(),
            },
        }
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        self._folder.write_text(MANIFEST, text)

    # ------------------------------------------------------------ runs

    def keep(self, finished: Finished, cell: int, key: str) -> None:
        """Write a finished run of a cell, its series and captures first."""
        with writing(self.path):
            self._keep_run_files(RunFiles.of(finished), key)
            self.runs.keep(cell, UnreadRun.of(finished, key).read())

    def keep_stored(self, runs: Sequence[StoredRun], files: Mapping[str, PackedFiles | MovedFiles]) -> None:
        """Write finished runs that are text already; first their series and captures, by key."""
        with writing(self.path):
            for key, made in files.items():
                self._keep_run_files(made.files(), key)
            self.runs.keep_stored(runs)

    def close(self, part: int) -> None:
        """Write the runs of a part as a batch; no more are expected for now."""
        with writing(self.path):
            self.runs.close(part)

    def folder_for_workers(self) -> AbstractContextManager[Path]:
        """Make a folder for files that other processes write: they move from there to their places."""
        return folder_of_files(self.path / TEMPORARY)

    def _keep_run_files(self, files: RunFiles, key: str) -> None:
        if files.series:
            place = self._emptied(f"series/{key}", files.series)
            for name, write in files.series.items():
                self._folder.write(f"{place}/{file_name(name)}.parquet", write)
        if files.captures or files.qlogs:
            place = self._emptied(f"captures/{key}", [*files.captures, *files.qlogs])
            for name, write in files.captures.items():
                suffix = "" if name.endswith(".qlog") else ".pcapng"
                self._folder.write(f"{place}/{file_name(name)}{suffix}", write)
            for name, write in files.qlogs.items():
                self._folder.write(f"{place}/{file_name(name)}.sqlog", write)

    def _emptied(self, place: str, names: Iterable[str]) -> str:
        """Make the folder of a run's files with these names; a killed process may have left some."""
        self._folder.remove(place)
        self._folder.make(place)
        write_names(self._folder, place, names)
        return place

    def copy_files(self, source: Store, key: str) -> None:
        """Copy the series and captures of a run from another directory."""
        with writing(self.path):
            for place in (f"series/{key}", f"captures/{key}"):
                for file in source._folder.entries(place, ""):
                    with source._folder.open(file, LARGEST_FILE) as content:
                        self._folder.write(file, partial(_copy, content))

    def captures(self, key: str) -> dict[str, Path]:
        """Find the captures that are kept of a run, by point."""
        return files_in(self._folder, f"captures/{key}", ".pcapng")

    def qlogs(self, key: str) -> dict[str, Path]:
        """Find the qlog files that are kept of a run, by name."""
        return files_in(self._folder, f"captures/{key}", ".sqlog")

    def tables(self, key: str) -> list[str]:
        """Name the series tables that are kept of a run."""
        return sorted(files_in(self._folder, f"series/{key}", ".parquet"))

    def table(self, key: str, name: str) -> pl.DataFrame:
        """Read a series table; ResultsError if it is damaged."""
        import polars as pl  # slow to import

        place = f"series/{key}/{file_name(name)}.parquet"
        try:
            with self._folder.open(place, LARGEST_FILE) as file:
                return pl.read_parquet(file)
        except unreadable() as e:
            raise ResultsError(f"{self.path / place}: a series that can't be read: {str(e).splitlines()[0]}") from None


def _copy(content: BinaryIO, place: Path) -> None:
    with place.open("wb") as copy:
        shutil.copyfileobj(content, copy)


def _identity(scenario: Scenario, names: dict[str, str], registered: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Everything that decides the results, defaults written out."""
    content = scenario.model_dump(mode="json", by_alias=True) | {"files": names, **registered}
    return {key: value for key, value in content.items() if key not in EXTENDABLE}


def _stored_names(scenario: Scenario) -> dict[str, str]:
    """Name the copies of the files that a scenario reads: by their content, with the suffix that they had."""
    _ = scenario.cells.properties  # every cell has named its files
    every = scenario.external_files.items()
    return {text: files.digest(path) + path.suffix for text, path in sorted(every)}


def _registered(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Return the variants and disciplines that the program has registered: by name, the hash of its content."""
    properties = scenario.cells.properties
    kinds: dict[str, Iterable[OwnCode]] = {
        "registered": properties.own.values(),
        "registered_disciplines": properties.disciplines.values(),
    }
    return {
        key: {own.name: own.content for own in sorted(found, key=lambda own: own.name) if not own.key}
        for key, found in kinds.items()
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
