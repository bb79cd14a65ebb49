"""The size of a large sweep, printed before its work begins; above a limit it needs a confirmation."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import click

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.results.running.estimate import Estimate
    from dumbbell.scenario import Scenario

__all__ = ["announce", "needs_consent", "sentence"]

ANNOUNCED = 1000
"""Runs from which the size is printed."""
MOST_RUNS = 100_000
MOST_S = 24 * 3600.0
MOST_BYTES = 100e9
"""Above one of these, a confirmation is needed: runs, seconds, bytes."""


def announce(scenario: Scenario, *, backend: str, jobs: int, keeps: bool, yes: bool) -> None:
    """Print the size of a large scenario, and ask at the terminal if it is very large; UsageError without a yes."""
    if len(scenario.cells) * scenario.repetitions < ANNOUNCED and not scenario.trace.tables:
        return
    from dumbbell.results.running.estimate import estimate

    found = estimate(scenario, jobs)
    ask = needs_consent(found, keeps=keeps) and not yes
    if found.runs < ANNOUNCED and not ask:
        return
    text = sentence(found, jobs, timed=backend == "sim", keeps=keeps, more=scenario.until is not None)
    output.note(text)
    if not ask:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        line = shlex.join(["dumbbell", *sys.argv[1:], "--yes"])
        raise click.UsageError(f"so much work needs a confirmation: {line}")
    click.confirm("Begin?", err=True, abort=True)


def needs_consent(found: Estimate, *, keeps: bool) -> bool:
    """Return True for work of a size that few people want unasked."""
    return found.runs > MOST_RUNS or found.seconds > MOST_S or (keeps and found.size > MOST_BYTES)


def sentence(found: Estimate, jobs: int, *, timed: bool, keeps: bool, more: bool) -> str:
    """Describe the work in a sentence."""
    from dumbbell.common.words import counted

    least = "at least " if more else ""
    runs, cells = ("run" if found.runs == 1 else "runs"), ("cell" if found.cells == 1 else "cells")
    parts = [f"{least}{found.runs:,} {runs} of {found.cells:,} {cells}"]
    if timed:
        of = f"trial runs of {counted(found.tried, 'cell')}" if found.tried else "the links' rates"
        about = "about" if found.tried else "at most"
        parts.append(f"{about} {_time(found.seconds)} on {counted(jobs, 'processor')} (estimated from {of})")
    if keeps:
        parts.append(f"about {_size(found.size)} on disk")
    return ", ".join(parts)


def _time(seconds: float) -> str:
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}" if seconds < 100 * length else f"{seconds / length:,.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


def _size(size: float) -> str:
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= length:
            return f"{size / length:.0f} {unit}"
    return "1 MB"
