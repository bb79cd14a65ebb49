"""The directory that keeps results.

::

    DIR/manifest.json            the experiment: scenario, version, seed, host, start and end
    DIR/files/NAME               copies of the files that the scenario reads, such as packet-delivery traces
    DIR/runs/KEY.json            one file per finished run, written at once and whole
    DIR/series/KEY/TABLE.parquet its series, where the scenario traces them
    DIR/captures/KEY/POINT.pcapng
                                 its captures, where the scenario makes some
    DIR/flows.parquet, queues.parquet, transfers.parquet
                                 all runs as tables, written when the last run is finished
    DIR/.partial/                files being written, and the lock of the process that writes them; gone at the end

KEY names a run by its whole plan, so a run is only ever taken over by the run that it is. A run's file appears by a
rename after everything else of it is on disk: a process that is killed at any moment loses only the runs that it was
making.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote, unquote

import polars as pl

from dumbbell import _core
from dumbbell.backends import Finished, Table
from dumbbell.exceptions import DumbbellError, ResultsError
from dumbbell.results.record import Run
from dumbbell.scenario import Scenario, files
from dumbbell.scenario.own_variants import OwnVariant, scope

try:
    import fcntl
except ImportError:  # not a Unix: two processes in one directory are not detected
    fcntl = None  # type: ignore[assignment]

__all__ = ["Store"]

FORMAT = 1
EXTENDABLE = ("description", "repetitions", "until")
"""Keys that may differ between calls that share a directory: repetitions are only ever added."""


class Store:
    """A results directory of one scenario."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._lock: TextIO | None = None

    # ------------------------------------------------------------ begin and end

    @contextmanager
    def open(self, scenario: Scenario, backend: str) -> Iterator[None]:
        """Begin or continue a scenario; ResultsError if the directory holds something else or is in use."""
        try:
            self._begin(scenario, backend)
            yield
        finally:
            if self._lock is not None:
                shutil.rmtree(self._partial, ignore_errors=True)
                self._lock.close()

    @property
    def _partial(self) -> Path:
        return self.path / ".partial"

    def _begin(self, scenario: Scenario, backend: str) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            manifest = self.path / "manifest.json"
            if manifest.exists():
                self._same(self.manifest(), scenario, backend)
            elif any(self.path.iterdir()):
                raise ResultsError(f"{self.path}: not empty, and not a results directory: choose another")
            self._partial.mkdir(exist_ok=True)
            self._lock = self._locked()
            for left in self._partial.glob("*.new"):
                left.unlink()
            (self.path / "runs").mkdir(exist_ok=True)
            self._keep_files(scenario)
            self._write_manifest(scenario, backend, finished=None)
        except OSError as e:
            raise ResultsError(f"{self.path}: can't be written: {e.strerror or e}") from None

    def _locked(self) -> TextIO:
        """Lock the directory for this process; the lock ends with the process, even if it is killed."""
        lock = (self._partial / "lock").open("w", encoding="utf-8")
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                raise ResultsError(f"{self.path}: another process is writing results into it") from None
        return lock

    def finish(self, scenario: Scenario, backend: str, frames: dict[str, pl.DataFrame]) -> None:
        """Write the tables and the end of the manifest."""
        for name, frame in frames.items():
            self._replace(self.path / f"{name}.parquet", frame.write_parquet)
        self._write_manifest(scenario, backend, finished=_now())

    def manifest(self) -> dict[str, Any]:
        """Read the manifest."""
        file = self.path / "manifest.json"
        if not file.exists():
            raise ResultsError(
                f"{self.path}: no results here: a directory that dumbbell run --out has made is needed"
            )
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as e:
            raise ResultsError(f"{self.path}: no readable manifest.json: {e}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ResultsError(f"{self.path}: manifest.json is not of format {FORMAT}")
        return content

    def scenario(self) -> Scenario:
        """Read the scenario that the directory holds."""
        manifest = self.manifest()
        try:
            stored = {text: self.path / "files" / name for text, name in manifest.get("files", {}).items()}
            named = {name: OwnVariant(name, content) for name, content in manifest.get("registered", {}).items()}
            with files.beside(files.Files(self.path, stored, asleep=True)), scope(named):
                return Scenario.from_dict(manifest["scenario"])
        except (DumbbellError, KeyError) as e:
            raise ResultsError(f"{self.path}: its scenario does not read: {e}") from None

    def _same(self, manifest: dict[str, Any], scenario: Scenario, backend: str) -> None:
        """Refuse to mix two scenarios, versions or back ends in one directory."""
        if manifest.get("version") != _core.version:
            theirs = manifest.get("version")
            raise ResultsError(
                f"{self.path}: holds results of dumbbell {theirs}, this is {_core.version}: choose another directory"
            )
        if manifest.get("backend") != backend:
            raise ResultsError(
                f"{self.path}: holds results of back end '{manifest.get('backend')}', not '{backend}': "
                "choose another directory"
            )
        held, now = _identity(self.scenario()), _identity(scenario)
        different = [key for key in now if held.get(key) != now[key]]
        if different:
            raise ResultsError(
                f"{self.path}: holds another scenario ('{held['name']}'; {', '.join(different)} differ"
                f"{'s' if len(different) == 1 else ''}): choose another directory"
            )

    def _keep_files(self, scenario: Scenario) -> None:
        """Copy the files that the scenario reads, so that the results can be moved."""
        for path, name in _stored_names(scenario).items():
            place = self.path / "files" / name
            if not place.exists():
                place.parent.mkdir(exist_ok=True)
                source = scenario.external_files[path]
                self._replace(place, partial(shutil.copyfile, source))

    def _write_manifest(self, scenario: Scenario, backend: str, *, finished: str | None) -> None:
        path = self.path / "manifest.json"
        started = _now()
        if path.exists() and finished is not None:
            started = self.manifest()["started"]
        content = {
            "format": FORMAT,
            "version": _core.version,
            "backend": backend,
            "name": scenario.name,
            "seed": scenario.seed,
            "repetitions": scenario.repetitions,
            "cells": len(scenario.cells),
            "runs": len(scenario.cells) * scenario.repetitions,
            "started": started,
            "finished": finished,
            "host": {
                "name": platform.node(),
                "system": platform.platform(),
                "machine": platform.machine(),
                "cpus": os.cpu_count(),
                "python": platform.python_version(),
            },
            "files": _stored_names(scenario),
            "registered": _registered(scenario),
            "scenario": scenario.to_dict(),
        }
        text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        self._replace(path, lambda p: p.write_text(text, encoding="utf-8"))

    # ------------------------------------------------------------ runs

    def load(self, key: str, index: int) -> Run | None:
        """Read a finished run; None if it doesn't exist or is incomplete (it is then made again)."""
        try:
            content = json.loads((self.path / "runs" / f"{key}.json").read_text(encoding="utf-8"))
            return Run(index=index, key=key, **content)
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, finished: Finished, key: str, index: int) -> Run:
        """Write a finished run, its series and captures first."""
        try:
            if finished.tables:
                self._keep_series(finished.tables, key)
            if finished.captures:
                self._keep_captures(finished.captures, key)
            run = Run.of(finished, index, key)
            content = {**run.document(), "transfers": run.transfers}
            text = json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
            self._replace(self.path / "runs" / f"{key}.json", lambda p: p.write_text(text, encoding="utf-8"))
        except OSError as e:
            raise ResultsError(f"{self.path}: can't be written: {e.strerror or e}") from None
        return run

    def _keep_series(self, tables: dict[str, Table], key: str) -> None:
        place = self.path / "series" / key
        shutil.rmtree(place, ignore_errors=True)  # a killed process may have left it
        place.mkdir(parents=True)
        for name, table in tables.items():
            self._replace(place / f"{quote(name, safe='')}.parquet", pl.DataFrame(table).write_parquet)

    def _keep_captures(self, captures: dict[str, Callable[[Path], None]], key: str) -> None:
        place = self.path / "captures" / key
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for name, write in captures.items():
            self._replace(place / f"{quote(name, safe='')}.pcapng", write)

    def captures(self, key: str) -> dict[str, Path]:
        """Find the captures that are kept of a run, by point."""
        found = (self.path / "captures" / key).glob("*.pcapng")
        return {unquote(p.stem): p for p in sorted(found)}

    def tables(self, key: str) -> list[str]:
        """Name the series tables that are kept of a run."""
        return sorted(unquote(p.stem) for p in (self.path / "series" / key).glob("*.parquet"))

    def table(self, key: str, name: str) -> pl.DataFrame:
        """Read a series table."""
        return pl.read_parquet(self.path / "series" / key / f"{quote(name, safe='')}.parquet")

    def _replace(self, path: Path, write: Callable[[Path], object]) -> None:
        """Write a file apart, then put it into its place in one step."""
        temporary = self._partial / f"{path.name}.new"
        write(temporary)
        temporary.replace(path)


def _identity(scenario: Scenario) -> dict[str, Any]:
    """Everything that decides the results, defaults written out."""
    content = scenario.model_dump(mode="json", by_alias=True) | {
        "files": _stored_names(scenario),
        "registered": _registered(scenario),
    }
    return {key: value for key, value in content.items() if key not in EXTENDABLE}


def _stored_names(scenario: Scenario) -> dict[str, str]:
    """Name the copies of the files that a scenario reads: by their content, with the suffix that they had."""
    every = scenario.external_files.items()
    return {text: files.digest(path) + path.suffix for text, path in sorted(every)}


def _registered(scenario: Scenario) -> dict[str, str]:
    """Return the variants that the program has registered, by name, each with the hash of its content."""
    variants = (flow.variant for cell in scenario.cells for flow in cell.scenario.flows)
    found = {v.own.name: v.own.content for v in variants if v is not None and v.own is not None and not v.own.key}
    return dict(sorted(found.items()))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
