"""A warning about weak results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.results.frames.run_frames import label
from dumbbell.results.frames.summary import short_names
from dumbbell.results.runs.record import Run
from dumbbell.scenario import Cell

__all__ = ["FlowsByGroup", "LintWarning", "cell_names"]


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


class FlowsByGroup:
    """Flows that a warning is about, with a run of each cell. The copies of a flow with a `count` are one group."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[dict[str, None], dict[int, Run]]] = {}
        self._groups: dict[int, dict[str, str]] = {}

    def add(self, cell: Cell, run: Run, name: str) -> None:
        """Add a flow of a cell."""
        if cell.number not in self._groups:
            self._groups = {cell.number: {f.name: f.group or f.name for f in cell.scenario.single_flows}}
        names, runs = self._found.setdefault(self._groups[cell.number].get(name, name), ({}, {}))
        names[name] = None
        runs[cell.number] = run

    def __iter__(self) -> Iterator[tuple[str, str, list[Run]]]:
        """Yield the words for the flows of each group, the pronoun for them, and the runs."""
        for group, (names, runs) in self._found.items():
            if len(names) == 1:
                yield f"flow '{next(iter(names))}'", "its", list(runs.values())
            else:
                yield f"{len(names)} copies of flow '{group}'", "their", list(runs.values())
