"""Finished runs in results directories, counted."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from dumbbell.backends import Finished, Job
from dumbbell.backends.sim import Simulator

__all__ = ["count_made", "kept"]


def kept(place: Path) -> int:
    """Return the number of runs in the results directories below a place: lines of journals, rows of batches."""
    journals = [file.read_bytes().count(b"\n") - 1 for file in place.rglob("runs/journal.jsonl")]
    batches = [pl.read_parquet(file, columns=["key"]).height for file in place.rglob("runs/*.parquet")]
    return sum(journals) + sum(batches)


def count_made(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Return a list that every run of the simulator is added to from now on."""
    made: list[Job] = []
    one = Simulator._one

    def counted(job: Job) -> Finished:
        made.append(job)
        return one(job)

    monkeypatch.setattr(Simulator, "_one", staticmethod(counted))
    return made
