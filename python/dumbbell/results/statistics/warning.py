"""A warning about weak results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import short_names
from dumbbell.results.runs.record import Run

__all__ = ["LintWarning", "cell_names"]


@dataclass(frozen=True, slots=True)
class LintWarning:
    """A warning: its name, the sentence, and the cells that it is about (all of them if empty)."""

    name: str
    text: str
    cells: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The sentence, with up to three cells."""
        if not self.cells:
            return self.text
        more = f" and {len(self.cells) - 3} more" if len(self.cells) > 3 else ""
        return f"{self.text} ({'; '.join(self.cells[:3])}{more})"

    def document(self) -> dict[str, Any]:
        """Return the warning as plain values."""
        return {"name": self.name, "text": self.text, "cells": list(self.cells)}


def cell_names(runs: Sequence[Run]) -> tuple[str, ...]:
    """Return the cell of each run in words, each once; nothing without a sweep."""
    return tuple(dict.fromkeys(name for run in runs if (name := _name(run))))


def _name(run: Run) -> str:
    short = short_names(list(run.cell))
    return ", ".join(f"{short[path]} {label(value)}" for path, value in run.cell.items())
