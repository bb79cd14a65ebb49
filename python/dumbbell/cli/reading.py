"""Results directories as the commands read them: with a message where runs are damaged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.cli import output

if TYPE_CHECKING:
    from dumbbell.results import Results

__all__ = ["load"]


def load(directory: Path) -> Results:
    """Read results; damaged runs are left out, which a message says."""
    from dumbbell.common.words import counted
    from dumbbell.results import Results  # slow to import

    found = Results.load(directory)
    if found.damaged:
        output.note(
            f"{directory}: {counted(found.damaged, 'stored run')} left out as damaged: "
            f"`dumbbell results verify {directory} --repair` makes {'it' if found.damaged == 1 else 'them'} again"
        )
    return found
