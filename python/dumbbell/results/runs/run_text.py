"""A finished run as text: the form in which it is stored, and in which worker processes return it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from dumbbell.results.runs.checked_run import read_run
from dumbbell.results.runs.record import Run

__all__ = ["StoredRun", "check_of", "text_of"]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A finished run of a cell as text.

    Attributes
    ----------
    cell, repetition : int
    key : str
    text : str
        `Run.stored` as JSON.
    check : str
        See `check_of`.
    """

    cell: int
    repetition: int
    key: str
    text: str
    check: str

    @classmethod
    def of(cls, cell: int, run: Run) -> StoredRun:
        """Write a run as text."""
        text = text_of(run)
        return cls(cell, run.repetition, run.key, text, check_of(cell, text))

    def read(self) -> Run:
        """Return the run."""
        return read_run(self.text)


def text_of(run: Run) -> str:
    """Return a run as JSON."""
    return json.dumps(run.stored(), ensure_ascii=False, allow_nan=False)


def check_of(cell: int, text: str) -> str:
    """Return the check of a stored run: over its cell and its content."""
    return hashlib.sha256(f"{cell} {text}".encode()).hexdigest()[:24]
